// Lines of the plan as rows of a grid: switched on and off, locked, moved, written once more.
#include <algorithm>

#include "app/session/core.h"
#include "app/session/lines.h"
#include "app/session/row_parts.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

Result<Done> change_line(Core& c, const Invocation& i,
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
  return change_line(c, i, [&](const std::string& line) -> Result<std::string> {
    if (is_statement(line)) return switched_off(line);
    if (std::optional<std::string> on = switched_on(line)) return std::move(*on);
    return error("line " + i.get("line") + " is no statement that can be switched on or off");
  });
}

Result<Done> lock(Core& c, const Invocation& i) {
  const bool off = i.get("off") == "off";
  if (i.has("off") && !off)
    return error("'lock' does not take '" + i.get("off") + "'", "it takes a line, and perhaps off");
  return change_line(c, i, [&](const std::string& line) -> Result<std::string> {
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

Result<Done> change(Core& c, const Invocation& i) {
  const std::optional<RowPart> part = row_part(i.get("part"));
  if (!part) return error("a line has no '" + printable(i.get("part")) + "'", "it has operators, argument and where");
  return change_line(c, i, [&](const std::string& line) { return with_part(line, *part, i.get("value")); });
}

Result<Done> move(Core& c, const Invocation& i) { return move_line(*c.document(), i.get("line"), i.get("to")); }

// The column `Text` of rows that were copied from the grid, without those that a template stands for.
std::optional<std::vector<std::string>> copied_rows(const std::vector<std::string>& lines) {
  const std::vector<std::string> head = split(lines.front(), '\t');
  const auto text = std::find(head.begin(), head.end(), "Text"), by = std::find(head.begin(), head.end(), "By");
  if (text == head.end() || by == head.end()) return std::nullopt;
  std::vector<std::string> out;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const std::vector<std::string> cells = split(lines[k], '\t');
    const auto at = [&](auto column) {
      const auto n = static_cast<std::size_t>(column - head.begin());
      return n < cells.size() ? cells[n] : std::string();
    };
    if (at(by) != "template" && !at(text).empty()) out.push_back(at(text));
  }
  return out;
}

Result<Done> paste(Core& c, const Invocation& i) {
  Document& d = *c.document();
  std::vector<std::string> pasted = lines_of(i.get("text"));
  for (std::string& line : pasted)
    if (!line.empty() && line.back() == '\r') line.pop_back();
  if (pasted.empty()) return error("there is nothing to paste");
  if (auto rows = copied_rows(pasted)) pasted = std::move(*rows);
  const Result<plan::Plan> read = plan::parse_plan(text_of(pasted), "");
  for (const Diagnostic& m : read.diagnostics)
    if (m.severity == Severity::error) {
      Diagnostic wrong = error("line " + std::to_string(m.line) + " of what is pasted is no statement", m.what, m.hint);
      wrong.subject = m.subject;
      return wrong;
    }
  std::vector<std::string> lines = lines_of(d.draft.text());
  std::size_t at = lines.size();
  if (i.has("before")) {
    const Result<std::size_t> line = line_at(lines, i.get("before"));
    if (!line.ok()) return line.diagnostics;
    at = *line;
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), pasted.begin(), pasted.end());
  return write_draft(d, text_of(lines));
}

Result<Done> duplicate(Core& c, const Invocation& i) {
  std::vector<std::string> lines = lines_of(c.document()->draft.text());
  const Result<std::size_t> at = line_at(lines, i.get("line"));
  if (!at.ok()) return at.diagnostics;
  const auto [first, end] = statement_around(lines, *at);
  if (end - first > 1) return error("a template is there once", "two cannot have one name", "define NAME lines=…");
  const std::string line = lines[*at];
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(*at) + 1, line);
  return write_draft(*c.document(), text_of(lines));
}

}  // namespace

Result<std::size_t> line_at(const std::vector<std::string>& lines, const std::string& number) {
  const std::size_t line = std::stoul(number);
  if (line >= 1 && line <= lines.size()) return line - 1;
  return error("there is no line " + number, "the plan has " + std::to_string(lines.size()) + " lines");
}

Result<Done> move_line(Document& d, const std::string& number, const std::string& target) {
  std::vector<std::string> lines = lines_of(d.draft.text());
  const Result<std::size_t> from = line_at(lines, number), to = line_at(lines, target);
  if (!from.ok()) return from.diagnostics;
  if (!to.ok()) return to.diagnostics;
  // A template goes as one, from its head, and nothing goes into one but what stands in it.
  const std::pair<std::size_t, std::size_t> around = statement_around(lines, *from);
  const bool whole = around.first == *from;
  const std::size_t first = *from, end = whole ? around.second : first + 1;
  std::size_t behind = *to;
  if (whole && behind > first && behind < end) behind = end;  // the next statement behind it
  if (behind == lines.size()) return Done{};
  std::pair<std::size_t, std::size_t> there = statement_around(lines, behind);
  if (!whole && there == around) there = {behind, behind + 1};
  const auto at = [&](std::size_t n) { return lines.begin() + static_cast<std::ptrdiff_t>(n); };
  if (there.first > first)
    std::rotate(at(first), at(end), at(there.second));
  else if (there.first < first)
    std::rotate(at(there.first), at(first), at(end));
  return write_draft(d, text_of(lines));
}

void add_row_handlers(Handlers& all) {
  all["toggle"] = toggle;
  all["lock"] = lock;
  all["move"] = move;
  all["duplicate"] = duplicate;
  all["change"] = change;
  all["paste"] = paste;
}

}  // namespace planscope::session
