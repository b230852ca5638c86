#include "engine/runtime/grouped_product.h"

#include <vector>

namespace planscope {

namespace {

// `counts` has the rows of each group and then those of none.
at::Tensor multiply(const at::Tensor& rows, const at::Tensor& weight, const std::vector<std::int64_t>& counts) {
  const std::vector<at::Tensor> pieces = rows.split_with_sizes(counts, 0);
  std::vector<at::Tensor> results;
  if (weight.size(0) > 0) {
    const std::vector<at::Tensor> matrices = weight.unbind(0);
    for (std::size_t g = 0; g < matrices.size(); ++g) results.push_back(at::mm(pieces[g], matrices[g]));
  }
  results.push_back(at::zeros({counts.back(), weight.size(2)}, rows.options()));
  return at::cat(results);
}

std::vector<std::int64_t> to_vector(const at::Tensor& integers) {
  const at::Tensor held = integers.to(at::kCPU, at::kLong).contiguous();
  return {held.const_data_ptr<std::int64_t>(), held.const_data_ptr<std::int64_t>() + held.numel()};
}

}  // namespace

at::Tensor grouped_product(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& index) {
  const std::int64_t groups = weight.size(0);
  const at::Tensor known = index.ge(0).logical_and(index.lt(groups));
  const at::Tensor group = index.to(at::kLong).masked_fill(known.logical_not(), groups);
  const at::Tensor order = group.argsort(true, 0, false);
  const at::Tensor counts = at::bincount(group, {}, groups + 1);
  const at::Tensor sorted = multiply(self.index_select(0, order), weight, to_vector(counts));
  return sorted.index_select(0, order.argsort());
}

at::Tensor sorted_grouped_product(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& ends) {
  std::vector<std::int64_t> counts = to_vector(ends);
  counts.push_back(self.size(0));
  for (std::size_t g = counts.size(); g-- > 1;) counts[g] -= counts[g - 1];
  return multiply(self, weight, counts);
}

}  // namespace planscope
