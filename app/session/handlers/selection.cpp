// What is selected, the same for all views.
#include "app/session/core.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

Result<Done> select(Core& c, const Invocation& i) {
  const Document& d = *c.document();
  Selection s;
  if (i.has("none") && i.get("none") != "none") return error("'select' does not take '" + i.get("none") + "'");
  s.operators = i.get("operators"), s.tensor = i.get("tensor"), s.place = i.get("place");
  if (i.has("statement")) {
    s.statement = std::stoi(i.get("statement"));
    const std::size_t lines = lines_of(d.draft.text()).size();
    if (s.statement < 1 || static_cast<std::size_t>(s.statement) > lines)
      return error("there is no line " + i.get("statement"), "the plan has " + std::to_string(lines) + " lines");
  }
  const Result<plan::Plan> p = plan::parse_plan(d.draft.text(), d.name);
  const Selected meant = selected(s, d.model->graph, *p.value, c.cache);
  if (!meant.problem.empty()) {
    const std::string& what = i.has("tensor") ? s.tensor : i.has("place") ? s.place : s.operators;
    if (i.has("tensor")) return error(meant.problem);
    const std::string none = i.has("place") ? "there is no place '" : "there are no operators '";
    return error(none + what + "'", meant.problem);
  }
  c.state.selection = std::move(s);
  return Done{};
}

}  // namespace

void add_selection_handlers(Handlers& all) {
  all["select"] = select;
}

}  // namespace planscope::session
