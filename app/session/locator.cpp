#include "app/session/locator.h"

#include <map>
#include <set>

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

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

// The outermost numbered modules: `model.layers.3`, which the plan language writes `model.layers[3]`.
void add_layers(const Graph& g, std::vector<Target>& out) {
  std::set<std::string> known;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    std::string list;
    for (const std::string& part : split(g.node(o).module, '.')) {
      if (is_number(part) && !list.empty() && known.insert(list + "." + part).second)
        out.push_back({list + "." + part, "layer", print({"select", {{"operators", list + "[" + part + "]"}}})});
      if (is_number(part)) break;
      list += (list.empty() ? "" : ".") + part;
    }
  }
}

// Parameters of equal layers differ in nothing but numbers of their names.
void add_parameters(const Graph& g, std::vector<Target>& out) {
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::int64_t> equal;
  std::vector<std::pair<TensorId, const std::int64_t*>> first;
  for (const Parameter& p : g.parameters) {
    std::vector<std::string> parts = split(g.tensor_name(p.tensor), '.');
    for (std::string& part : parts)
      if (is_number(part)) part = "*";
    const auto [at, fresh] = equal.emplace(std::pair(join(parts, "."), g.sizes(p.tensor)), 0);
    at->second += p.stands_for;
    if (fresh) first.emplace_back(p.tensor, &at->second);
  }
  for (const auto& [tensor, count] : first) {
    const std::string name = g.tensor_name(tensor), times = *count > 1 ? " × " + with_commas(*count) : "";
    out.push_back({name, "parameter" + times, print({"select", {{"tensor", name}}})});
  }
}

void add_inputs(const Graph& g, std::vector<Target>& out) {
  for (const ValueId v : g.model->inputs) {
    const std::string& name = g.tensor_name(v);
    if (!name.empty()) out.push_back({name, "input", print({"select", {{"tensor", name}}})});
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
  add_layers(d->model->graph, out);
  add_operators(*d, out);
  add_parameters(d->model->graph, out);
  add_inputs(d->model->graph, out);
  for (const Version& v : *d->versions)
    out.push_back({"version " + std::to_string(v.id), v.change.empty() ? "kept" : v.change, "version " + std::to_string(v.id)});
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == "plan") out.push_back({e.name, "plan " + std::to_string(e.id), print({"open", {{"plan", std::to_string(e.id)}}})});
  return out;
}

}  // namespace planscope::session
