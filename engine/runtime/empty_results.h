#pragma once
// An operator whose results have no elements computes nothing, so it is not called: LibTorch refuses some of them (Fourier
// transforms). Its results are empty tensors of the right sizes and types; the gradient of every operand is zero. An
// operator that has a result with elements, as a sum over nothing, is no such operator.
#include <functional>

#include "engine/runtime/blocks.h"

namespace planscope {

// Whether all results are known to have no elements: their regions are empty, and no size depends on data.
bool has_empty_results(const Graph&, const Op&, const std::vector<Region>& outputs);

std::function<TensorList(const TensorList&)> empty_results(const Graph&, const Op&, const std::vector<Region>& outputs,
                                                           Precision);

}  // namespace planscope
