#include "app/session/value_help.h"

#include <optional>

#include "app/session/choices.h"
#include "app/session/lines.h"
#include "app/session/row_parts.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

// With lines as they are numbered now; as it is, where they are not known any more.
Invocation now(const State& s, const Invocation& begun) {
  const Result<Invocation> out = s.document() ? lines_now(s.document()->seen, begun) : begun;
  return out.ok() ? *out.value : begun;
}

// The line of the plan that the value is a part of, up to where it begins; nothing: it is none.
std::optional<std::string> plan_before(const State& s, const Invocation& begun, const std::string& argument) {
  const std::string& id = begun.id;
  if (argument == "statement" && id != "select") return "";
  if (id == "template" && argument == "use") return "use ";
  if (id == "select" && argument == "operators") return "trans ";
  if (id == "order") return "order ";
  if (id == "require" || id == "forbid") return id + " ";
  if (id == "let" && argument == "value") return "let " + begun.get("name") + " = ";
  if (id == "grid" && argument == "place") return "grid " + begun.get("name") + " = ";
  if (id != "change" || argument != "value") return std::nullopt;
  const std::optional<RowPart> part = row_part(begun.get("part"));
  const std::vector<std::string> lines = lines_of(s.document()->draft.text());
  const std::size_t line = number_of(begun.get("line")).value_or(0);
  if (!part || line < 1 || line > lines.size()) return std::nullopt;
  const Result<plan::Statement> statement = plan::parse_statement(lines[line - 1]);
  return statement.ok() ? std::optional(before_part(parts_of(*statement), *part)) : std::nullopt;
}

bool is_selector(const Invocation& begun, const std::string& argument) {
  return (begun.id == "select" && argument == "operators") ||
         (begun.id == "change" && argument == "value" && begun.get("part") == "operators");
}

// The operators that the value names: the whole of it, or those of the statement that it is a part of.
std::string selector_of(const State& s, const Invocation& begun, const std::string& argument,
                        const std::string& value) {
  if (is_selector(begun, argument)) return value;
  const std::optional<std::string> before = plan_before(s, begun, argument);
  if (!before) return "";
  const Result<plan::Statement> statement = plan::parse_statement(*before + value);
  return statement.ok() ? parts_of(*statement).operators : "";
}

}  // namespace

namespace {

Completion found(const State& s, const Invocation& begun, const std::string& argument, const std::string& value,
                 std::size_t cursor) {
  Completion out;
  for (const Choice& c : choices(s, begun.id, argument))
    if (c.value == value)
      out.whole = true;
    else if (c.value.starts_with(value.substr(0, cursor)))
      out.items.push_back({c.value, c.about});
  if (!out.items.empty() || !s.document()) return out;
  const std::optional<std::string> before = plan_before(s, begun, argument);
  if (!before) return out;
  // Behind the plan as it stands, so that its axes and names are known.
  const std::string front = s.document()->draft.text() + "\n" + *before;
  out = complete(*s.document(), front + value, front.size() + cursor);
  if (out.from < front.size()) return {};
  out.from -= front.size();
  return out;
}

}  // namespace

Completion complete_value(const State& s, const Invocation& begun, const std::string& argument,
                          const std::string& value, std::size_t cursor) {
  Completion out = found(s, now(s, begun), argument, value, cursor);
  out.text = value;
  out.cursor = cursor;
  return out;
}

std::string value_note(const State& s, const Invocation& begun, const std::string& argument, const std::string& value) {
  const Document* d = s.document();
  const std::string words = d && !value.empty() ? selector_of(s, now(s, begun), argument, value) : "";
  if (words.empty() || !d->valid) return "";
  const Result<plan::Plan> p = plan::parse_plan(d->draft.text(), d->name);
  const Selected means = selected(Selection{words, "", "", 0}, *d->valid->sized, *p.value);
  if (!means.problem.empty()) return "✗ " + means.problem;
  const bool rows = means.of_parameters();
  const std::size_t count = rows ? means.parameters.size() : means.operators.size();
  return with_commas(static_cast<std::int64_t>(count)) + (rows ? " parameters" : " operators");
}

std::string last_argument(const Invocation& begun) {
  const CommandInfo* info = find_command(begun.id);
  for (const ArgumentInfo& a : info ? info->arguments : std::vector<ArgumentInfo>{})
    if (a.positional && !begun.has(a.name)) return a.name;
  return "";
}

std::string value_now(const State& s, const Invocation& begun, const std::string& argument) {
  if (begun.has(argument)) return begun.get(argument);
  const Document* d = s.document();
  if (d && argument == "seen") return std::to_string(d->seen.newest());
  if (!d || begun.id != "replace" || argument != "statement") return "";
  const std::vector<std::string> lines = lines_of(d->draft.text());
  const std::size_t line = number_of(now(s, begun).get("line")).value_or(0);
  return line >= 1 && line <= lines.size() ? lines[line - 1] : "";
}

}  // namespace planscope::session
