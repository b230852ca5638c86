#include "app/session/locator.h"

#include "app/session/commands.h"
#include "app/session/graph/fold.h"
#include "app/session/panels/panels.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// Operators as the graph folds them, each with the first tensor that it gives. Modules are targets of their own.
void add_operators(const Document& d, std::vector<Target>& out) {
  const Graph& g = d.model->graph;
  const FoldedModel& folded = d.graph.model->get();
  for (const Group& group : folded.groups) {
    if (group.ops.empty() || group.selector.empty()) continue;
    const std::string times = group.count > 1 ? " × " + with_commas(group.count) : "";
    out.push_back({group.id, group.kind + times, print({"select", {{"operators", group.selector}}})});
    for (const Operand& o : g.ops[static_cast<std::size_t>(group.ops.front())].outputs) {
      const std::string name = g.tensor_name(o.tensor);
      out.push_back({name, "tensor" + times, print({"select", {{"tensor", name}}})});
    }
  }
}

}  // namespace

std::vector<Target> targets(const State& s) {
  std::vector<Target> out;
  for (const Document& d : s.documents)
    out.push_back({d.model->model->name + " · " + d.name, "document on " + d.cluster, "document " + std::to_string(d.id)});
  const Document* d = s.document();
  if (!d) return out;
  int line = 0;
  for (const std::string& text : split(d->draft.text(), '\n'))
    if (++line; text.find_first_not_of(" \t") != std::string::npos)
      out.push_back({text, "line " + std::to_string(line), select_line(d->seen, d->draft.text(), line)});
  for (const TableRow& row : modules_panel(s).rows) out.push_back({row.id, "module", row.command});
  add_operators(*d, out);
  for (const Version& v : *d->versions)
    out.push_back({"version " + std::to_string(v.id), v.change.empty() ? "kept" : v.change, "version " + std::to_string(v.id)});
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == "plan") out.push_back({e.name, "plan " + std::to_string(e.id), print({"open", {{"plan", std::to_string(e.id)}}})});
  return out;
}

}  // namespace planscope::session
