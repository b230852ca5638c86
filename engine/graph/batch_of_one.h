#pragma once
// Files exported at batch 1: the batch stands in them as a literal 1.
#include <vector>

#include "engine/graph/model.h"

namespace planscope {

// Some input has a first dimension of 1.
bool batch_of_one(const Model&);

// By value: whether it is computed of inputs.
std::vector<bool> of_inputs(const Model&);

}  // namespace planscope
