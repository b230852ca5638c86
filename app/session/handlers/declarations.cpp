// Statements that are not about the selection: what the plan declares, what it requires, and old parameters. Each
// command makes one line of its typed arguments; a declaration takes the place of the one that declares the same.
#include "app/session/core.h"
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

// The one statement that has several lines.
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
