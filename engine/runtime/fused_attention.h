#pragma once
// Scaled dot product attention by LibTorch's fused kernel, which keeps the operands, the result and one number a row.
// Fewer key than query heads are repeated for each query head, and a bool mask is made a number, when they are needed:
// not kept from forward to backward, as LibTorch's own does.
//
// query: b h i d; key, value: b h' j d with h' a divisor of h; mask (undefined: none): broadcasts to b h i j, without a
// gradient; `causal` without a mask. Gives nothing where the fused kernel does not take the operands.
#include <optional>

#include "engine/runtime/tensor_types.h"

namespace planscope {

std::optional<at::Tensor> fused_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                          const at::Tensor& mask, bool causal, double scale);

}  // namespace planscope
