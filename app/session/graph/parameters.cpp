#include "app/session/graph/parameters.h"

#include <algorithm>
#include <unordered_map>

#include "app/workbench/tensor_tiles.h"
#include "planner/cost/operator_cost.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const Axis& root(const Program& p, AxisId a) {
  while (p.axes[at(a)].of >= 0) a = p.axes[at(a)].of;
  return p.axes[at(a)];
}

template <class T>
void add_once(std::vector<T>& all, T one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

void add_home(const Graph& g, const Program& p, ProgramValueId v, ParameterFigures& f) {
  const ProgramValue& value = p.values[at(v)];
  f.home_bytes = std::max(f.home_bytes, value_bytes(g, p, v).count * (1 + value.lag));
  add_once(f.places, describe(p, p.places[at(value.place)]));
  const Layout& layout = p.layouts[at(value.layout)];
  if (layout.splits.empty()) return;
  const std::vector<std::string> dimensions = dimension_names(g, value.tensor);
  for (const Split& s : layout.splits)
    for (const Digit& d : s.digits) add_once(f.splits, {dimensions[at(s.dim)], d.size, root(p, d.axis).name});
}

}  // namespace

std::vector<ParameterFigures> parameter_figures(const Evaluation& e, const OperatorFacts& facts,
                                                const CostShares& shares) {
  const Graph& g = *e.made.graph;
  const Program& p = e.made.program;
  std::vector<ParameterFigures> out(g.parameters.size());
  std::unordered_map<TensorId, std::size_t> known;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Parameter& parameter = g.parameters[k];
    const std::vector<OpId>& readers = g.tensors[at(parameter.tensor)].readers;
    ParameterFigures& f = out[k];
    if (!readers.empty()) f.reader = readers.front();
    f.trained = parameter.trained;
    f.bytes = g.bytes(parameter.tensor);
    f.update_us = shares.parameters[k].update_us;
    if (const std::vector<int>& storage = e.made.decisions.update_storage; k < storage.size())
      f.state = storage_named(facts.storage(storage[k]));
    known.emplace(parameter.tensor, k);
  }
  for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p.values.size()); ++v) {
    if (p.values[at(v)].role != Role::home) continue;
    if (const auto k = known.find(p.values[at(v)].tensor); k != known.end()) add_home(g, p, v, out[k->second]);
  }
  return out;
}

}  // namespace planscope::session
