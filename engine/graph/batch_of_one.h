#pragma once
// Files exported at batch 1: the batch stands in them as a literal 1.
#include "engine/graph/model.h"

namespace planscope {

// Some input has a first dimension of 1.
bool batch_of_one(const Model&);

}  // namespace planscope
