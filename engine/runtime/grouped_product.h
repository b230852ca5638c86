#pragma once
// Products of rows with the matrix of the group that each belongs to, as experts have them. Backward keeps the operands and
// nothing else.
#include <ATen/ATen.h>

namespace planscope {

// Row r is self[r] weight[index[r]]; zero where there is no such group. self [r, k], weight [e, k, n], index [r]
// -> [r, n]. The rows of each group are multiplied together.
at::Tensor grouped_product(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& index);

// The same for rows that are sorted by group: those of group g end before row ends[g].
at::Tensor sorted_grouped_product(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& ends);

}  // namespace planscope
