#pragma once
// A choice of splits as lines of a plan, as few as will do: what follows by itself from the others is left out.
//
//   trans model.layers[0:32].self_attn.{k_proj,q_proj,v_proj} out by tensor
//
// Equal lines of equal layers are one. Which lines can be left out is tried: those of operators without parameters first,
// in halves; after each the whole plan is bound again (bound_axes) and has to give every operator what was chosen.
#include <functional>
#include <string>
#include <vector>

#include "planner/search/splits/network.h"

namespace planscope::splits {

struct Written {
  std::vector<std::string> lines;
  bool exact = false;     // a plan with these lines binds every operator as chosen
  std::string different;  // not exact: the first operator that binds otherwise
};

// `head`: the lines before them (devices, sizes). `info` at the sizes of the graph. Few lines are looked for until
// it is abandoned, which is an error.
Result<Written> write(const Space&, const Network&, const layouts::Choice&, const plan::ModelInfo&,
                      const std::string& head, const std::function<bool()>& abandoned);

// What waits for backward, and what is split of parameters: `trans model.layers[0:12] recompute`,
// `trans update(*), grad(*) dim0 by data`.
std::vector<std::string> stored_lines(const Space&, const Network&, const Storage&, const layouts::Choice&,
                                      const plan::ModelInfo&, const Weights&);

// The other way: what a plan leaves every node to choose from. `stated`: only what it states, fixed, open or forbidden; else
// everything that it means, what follows too.
//
// Errors: those of the plan; an operator, a layer or a parameter that does what is no strategy here.
Result<layouts::Locks> locks_of(const Space&, const Network&, const Storage&, const plan::ModelInfo&, const Weights&,
                                const std::string& plan, bool stated);

}  // namespace planscope::splits
