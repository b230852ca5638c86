// Statements that are not about the selection: what the plan declares, what it requires, and old parameters. Each
// command makes one line of its typed arguments; a declaration takes the place of the one that declares the same.
#include <algorithm>

#include "app/session/core.h"
#include "app/session/lines.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

std::string with_axes(const Invocation& i) { return i.get("as").empty() ? "" : " as " + i.get("as"); }

Result<Done> devices(Core& c, const Invocation& i) {
  return put_by_hand(c, "devices " + i.get("count") + with_axes(i));
}

Result<Done> grid(Core& c, const Invocation& i) {
  return put_by_hand(c, "grid " + i.get("name") + " = " + i.get("place") + with_axes(i));
}

Result<Done> sizes(Core& c, const Invocation& i) { return put_by_hand(c, "model " + i.get("sizes")); }

Result<Done> axis(Core& c, const Invocation& i) {
  return put_by_hand(c, "axis " + i.get("name") + "=" + i.get("size"));
}

Result<Done> let(Core& c, const Invocation& i) {
  return put_by_hand(c, "let " + i.get("name") + " = " + i.get("value"));
}

Result<Done> require(Core& c, const Invocation& i) { return put_by_hand(c, "require " + i.get("condition")); }

Result<Done> forbid(Core& c, const Invocation& i) { return put_by_hand(c, "forbid " + i.get("primitive")); }

// Of the selected operators, or of `fetch(…)` that is selected itself.
Result<Done> lag(Core& c, const Invocation& i) {
  const Selected& s = *c.state.selected;
  if (s.words.empty()) return error("the selection holds no operators", s.problem, "select operators");
  const std::string fetch = s.words.starts_with("fetch(") ? s.words : "fetch(" + s.words + ")";
  return put_by_hand(c, "relax " + fetch + " lag " + i.get("updates"));
}

// The lines of a template of that name in a text, from 0, the last one excluded.
std::optional<std::pair<std::size_t, std::size_t>> definition_of(const std::string& name, const std::string& text) {
  const Result<plan::Plan> p = plan::parse_plan(text, "");
  const std::vector<std::string> lines = lines_of(text);
  for (const plan::Statement& s : p->statements) {
    const auto* t = std::get_if<plan::TemplateStatement>(&s.body);
    if (!t || t->name != name) continue;
    const std::size_t begin = static_cast<std::size_t>(s.line) - 1;
    return statement_around(lines, begin);
  }
  return std::nullopt;
}

// The one statement that has several lines; it takes the place of the template that had its name.
Result<Done> define(Core& c, const Invocation& i) {
  Document& d = *c.document();
  std::string added = "template " + i.get("name") + "\n";
  for (const std::string& line : split(i.get("lines"), '\n')) added += line + "\n";
  added += "end\n";
  const std::string& text = d.draft.text();
  const Result<plan::Plan> one = plan::parse_plan(added, "");
  if (!one.ok()) {
    Diagnostic wrong = one.diagnostics.front();
    wrong.file.clear(), wrong.line = 0;
    return wrong;
  }
  std::vector<std::string> lines = lines_of(text);
  const std::string& name = std::get<plan::TemplateStatement>(one->statements.front().body).name;
  if (const std::optional<std::pair<std::size_t, std::size_t>> old = definition_of(name, text)) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(old->first), lines.begin() + static_cast<std::ptrdiff_t>(old->second));
    std::vector<std::string> now = lines_of(added);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(old->first), now.begin(), now.end());
    return write_draft(d, text_of(lines));
  }
  return write_draft(d, text + (text.empty() || text.back() == '\n' ? "" : "\n") + added);
}

}  // namespace

void add_declaration_handlers(Handlers& all) {
  all["devices"] = devices;
  all["grid"] = grid;
  all["sizes"] = sizes;
  all["axis"] = axis;
  all["let"] = let;
  all["require"] = require;
  all["forbid"] = forbid;
  all["lag"] = lag;
  all["define"] = define;
}

}  // namespace planscope::session
