#pragma once
// A choice of splits as lines of a plan, as few as will do: what follows by itself from the others is left out.
//
//   trans model.layers[0:32].self_attn.{k_proj,q_proj,v_proj} out by tensor
//
// Equal lines of equal layers are one. Which lines can be left out is tried: those of operators without parameters first,
// in halves; after each the whole plan is bound again (bound_axes) and has to give every operator what was chosen.
#include <map>
#include <string>
#include <vector>

#include "planner/search/splits/network.h"

namespace planscope::splits {

struct Written {
  std::vector<std::string> lines;
  bool exact = false;     // a plan with these lines binds every operator as chosen
  std::string different;  // not exact: the first operator that binds otherwise
};

// `head`: the lines before them (devices, sizes). `info` and `alike` at the sizes of the graph.
Result<Written> write(const Space&, const Network&, const layouts::Choice&, const plan::ModelInfo&,
                      const std::vector<int>& alike, const std::string& head);

// The other way: the strategy of every operator's node that a plan gives it, by statement or because it follows.
using Choices = std::map<int, int>;  // node -> strategy
Result<Choices> choices_of(const Space&, const Network&, const plan::ModelInfo&, const std::vector<int>& alike,
                           const std::string& plan);

}  // namespace planscope::splits
