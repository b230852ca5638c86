// Lines of the plan as rows of a grid: switched on and off, locked, moved, written once more.
#include "app/session/core.h"
#include "app/session/lines.h"

namespace planscope::session {

namespace {

// The line of that number, from 1.
Result<std::size_t> line_at(const std::vector<std::string>& lines, const std::string& number) {
  const std::size_t line = std::stoul(number);
  if (line >= 1 && line <= lines.size()) return line - 1;
  return error("there is no line " + number, "the plan has " + std::to_string(lines.size()) + " lines");
}

Result<Done> change(Core& c, const Invocation& i,
    const std::function<Result<std::string>(const std::string&)>& change) {
  std::vector<std::string> lines = lines_of(c.document()->draft.text());
  const Result<std::size_t> line = line_at(lines, i.get("line"));
  if (!line.ok()) return line.diagnostics;
  Result<std::string> now = change(lines[*line]);
  if (!now.ok()) return now.diagnostics;
  lines[*line] = std::move(*now);
  return write_draft(*c.document(), text_of(lines));
}

Result<Done> toggle(Core& c, const Invocation& i) {
  return change(c, i, [&](const std::string& line) -> Result<std::string> {
    if (is_statement(line)) return switched_off(line);
    if (std::optional<std::string> on = switched_on(line)) return std::move(*on);
    return error("line " + i.get("line") + " is no statement that can be switched on or off");
  });
}

Result<Done> lock(Core& c, const Invocation& i) {
  const bool off = i.get("off") == "off";
  if (i.has("off") && !off) return error("'lock' does not take '" + i.get("off") + "'",
      "it takes a line, and perhaps off");
  return change(c, i, [&](const std::string& line) -> Result<std::string> {
    if (!is_statement(line)) return error("line " + i.get("line") + " is no statement");
    if (off && is_automatic(line)) return error("line " + i.get("line") + " is not locked");
    if (!off && !is_automatic(line))
      return error("line " + i.get("line") + " is locked already",
          "the planner changes only lines that begin with 'auto'");
    const std::string now = off ? automatic(line) : locked(line);
    if (!is_statement(now)) return error("line " + i.get("line") + " cannot be the planner's");
    return now;
  });
}

Result<Done> move(Core& c, const Invocation& i) {
  std::vector<std::string> lines = lines_of(c.document()->draft.text());
  const Result<std::size_t> from = line_at(lines, i.get("line")), to = line_at(lines, i.get("to"));
  if (!from.ok()) return from.diagnostics;
  if (!to.ok()) return to.diagnostics;
  const std::string line = lines[*from];
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(*from));
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(*to), line);
  return write_draft(*c.document(), text_of(lines));
}

Result<Done> duplicate(Core& c, const Invocation& i) {
  std::vector<std::string> lines = lines_of(c.document()->draft.text());
  const Result<std::size_t> at = line_at(lines, i.get("line"));
  if (!at.ok()) return at.diagnostics;
  const std::string line = lines[*at];
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(*at) + 1, line);
  return write_draft(*c.document(), text_of(lines));
}

}  // namespace

void add_row_handlers(Handlers& all) {
  all["toggle"] = toggle;
  all["lock"] = lock;
  all["move"] = move;
  all["duplicate"] = duplicate;
}

}  // namespace planscope::session
