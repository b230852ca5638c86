#pragma once
// What parameters cost and need, by how operators read them and how far ZeRO splits what belongs to them.
//
//   parameter_cost(space, t, reads, weights, 1)      // gradients reduced to parts, each device updates its own
#include "planner/search/splits/strategies.h"

namespace planscope::splits {

// The inputs of an operator that are parameters which it alone reads, each tensor once.
std::vector<int> own_parameters(const Graph&, OpId);
// How it reads them, in that order: all its reads of each.
std::vector<std::vector<Interface>> parameter_reads(const Graph&, OpId, const Strategy&);

// What a parameter costs and needs, read so: fetching, the reduction of its gradient, the update.
//
// `zero`: 0 … 3 of Weights::zero, as `trans update(X)`, `grad(X)`, `fetch(X) dim0 by …` mean it. 1: the gradient is
// reduced to parts, each device updates its own, the parts are gathered once a step. 2: gradients are reduced with every
// micro-batch and added up in parts. 3: parameters are gathered for forward, and once more for a backward that reads them.
struct ParameterCost {
  double cost = 0;
  std::int64_t bytes = 0;
};
ParameterCost parameter_cost(Space&, TensorId, const std::vector<Interface>&, const Weights&, int zero = 0);
// Whether ZeRO would split anything of a parameter that is read so.
bool has_zero(Space&, TensorId, const std::vector<Interface>&, const Weights&);

}  // namespace planscope::splits
