// What is selected, the same for all views.
#include <algorithm>

#include "app/session/core.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

// Why a statement that selects the same would not be right behind the plan; the plan's own errors do not count.
std::optional<Diagnostic> no_selection(const Document& d, const std::string& statements, const std::string& what) {
  const std::string& text = d.draft.text();
  const std::string before = text + (text.empty() || text.back() == '\n' ? "" : "\n");
  const int line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const Result<plan::Plan> p = plan::parse_plan(before + statements + "\n", "");
  std::vector<Diagnostic> all = p.diagnostics;
  if (p.ok()) all = decide(d.model->graph, *p.value).diagnostics;
  for (const Diagnostic& wrong : all)
    if (wrong.severity == Severity::error && wrong.line > line) return error(what, wrong.what, wrong.hint);
  return std::nullopt;
}

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
  if (i.has("tensor")) {
    const Graph& g = d.model->graph;
    bool known = false;
    for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()) && !known; ++t) known = g.tensor_name(t) == s.tensor;
    if (!known) return error("there is no tensor '" + s.tensor + "'");
  }
  if (i.has("operators"))
    if (auto wrong = no_selection(d, "trans " + s.operators + " recompute", "there are no operators '" + s.operators + "'"))
      return *wrong;
  if (i.has("place"))
    if (auto wrong = no_selection(d, "assign * to " + s.place, "there is no place '" + s.place + "'"))
      return *wrong;
  c.state.selection = std::move(s);
  return Done{};
}

}  // namespace

void add_selection_handlers(Handlers& all) {
  all["select"] = select;
}

}  // namespace planscope::session
