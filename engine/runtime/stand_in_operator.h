#pragma once
// What runs in the place of an operator that LibTorch does not have (engine/graph/foreign.h): a smooth function of all
// elements of all operands, with results of the sizes and types that the file gives. The operator is whole under every
// plan, so a trial compares plan and one-device run all the same; the numbers are not those of the model.
#include <functional>

#include "engine/graph/graph.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

std::function<TensorList(const TensorList&)> stand_in_operator(const Graph&, const Op&, Precision);

}  // namespace planscope
