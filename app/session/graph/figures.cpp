#include "app/session/graph/figures.h"

#include <algorithm>
#include <future>
#include <map>

#include "app/workbench/cost_shares.h"
#include "app/workbench/operator_facts.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

PlanFigures plan_figures(const Evaluation& e, const Cluster& cluster) {
  const Graph& g = *e.made.graph;
  const plan::ModelInfo info = model_info(g);
  const OperatorFacts facts(e.made, info);
  const plan::Decisions& d = e.made.decisions;
  // Each takes as long as what follows here.
  std::future<CostShares> costs = std::async(std::launch::async, [&] { return cost_shares_where_run(e, cluster); });
  std::future<std::vector<Communication>> messages =
      std::async(std::launch::async, [&] { return communications(e, cluster); });
  PlanFigures out;
  out.of.resize(g.ops.size());
  std::map<SplitText, int> splits;
  std::map<std::string, int> places;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    OperatorFigures& f = out.of[at(o)];
    for (const plan::AxisInfo& axis : d.axes)
      for (const Binding* b : facts.bindings(o, axis.name)) {
        SplitText text{b->factor < 0 ? "" : facts.factor_name(plan::Phase::forward, o, b->factor), b->digit.size, axis.name};
        const auto [known, fresh] = splits.try_emplace(text, static_cast<int>(out.splits.size()));
        if (fresh) out.splits.push_back(std::move(text));
        if (std::find(f.splits.begin(), f.splits.end(), known->second) == f.splits.end()) f.splits.push_back(known->second);
        if (f.statement == 0 && b->statement >= 0) f.statement = e.made.program.statements[at(b->statement)].line;
      }
    if (std::string place = facts.place(o); !place.empty()) {
      const auto [known, fresh] = places.try_emplace(place, static_cast<int>(out.places.size()));
      if (fresh) out.places.push_back(std::move(place));
      f.place = known->second;
    }
    f.storage = storage_named(facts.storage(d.operator_storage[at(o)]));
  }
  const CostShares shares = costs.get();
  for (std::size_t o = 0; o < shares.operators.size(); ++o) {
    out.of[o].time_us = shares.operators[o].compute_us;
    out.of[o].kept_bytes = shares.operators[o].bytes;
  }
  for (std::size_t k = 0; k < shares.parameters.size(); ++k) {
    const std::vector<OpId>& readers = g.tensors[at(g.parameters[k].tensor)].readers;
    if (readers.empty()) continue;
    out.of[at(readers.front())].time_us += shares.parameters[k].compute_us;
    out.of[at(readers.front())].kept_bytes += shares.parameters[k].bytes;
  }
  out.parameters = parameter_figures(e, facts, shares);
  out.communications = messages.get();
  return out;
}

}  // namespace planscope::session
