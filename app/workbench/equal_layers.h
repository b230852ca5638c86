#pragma once
// Operators that are equal up to the layer: module paths that differ in their numbers alone, the same kind of operator,
// factors of equal names and sizes. What a person means by "the up-projections" although there are 32 of them.
//
//   equal_layers(info)[a] == equal_layers(info)[b]
//   selection_of(info, {12, 44, 76, 108})    `transformer.h[*].mlp.c_fc`, which a statement of a plan can name
#include <string>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope {

std::vector<int> equal_layers(const plan::ModelInfo&);            // by operator, numbered by the first of each
std::vector<int> equal_layer_parameters(const plan::ModelInfo&);  // the same of parameters, by names and factors

// A selection of the plan language that names these operators and no others; of parameters, that of operators that read
// them, for `update(…)` and its like (then others may read them too).
std::string selection_of(const plan::ModelInfo&, const std::vector<int>& operators);
std::string readers_of(const plan::ModelInfo&, const std::vector<int>& parameters);

}  // namespace planscope
