#pragma once
// log(sum(exp(x))) over one dimension, with its gradient, in the memory that the gradient itself takes: forward makes a
// few rows' exponentials at a time, backward exp(x - result) in place. (LibTorch's own makes one tensor as large as x
// forward and two backward; x is the logits, often a step's largest tensor.)
//
// Rows of -infinity alone, and empty ones, give -infinity.
#include "engine/runtime/tensor_types.h"

namespace planscope {

at::Tensor row_log_sum_exp(const at::Tensor& x, std::int64_t dim);

}  // namespace planscope
