#include "engine/runtime/grouped_product.h"

#include <torch/csrc/autograd/custom_function.h>

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

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// The rows of each group, in their order; those of none are in none.
std::vector<at::Tensor> rows_by_group(const at::Tensor& index, std::int64_t groups) {
  const at::Tensor known = index.ge(0).logical_and(index.lt(groups));
  const at::Tensor group = index.to(at::kLong).masked_fill(known.logical_not(), groups);
  const std::vector<std::int64_t> counts = to_vector(at::bincount(group, {}, groups + 1));
  std::vector<at::Tensor> rows = group.argsort(true, 0, false).split_with_sizes(counts, 0);
  rows.pop_back();
  return rows;
}

// Group by group, so that no sorted copy of all rows is made or kept.
struct GroupedProduct : Function<GroupedProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, const at::Tensor& weight,
                            const at::Tensor& index) {
    at::Tensor result = at::zeros({self.size(0), weight.size(2)}, self.options());
    const std::vector<at::Tensor> rows = rows_by_group(index, weight.size(0));
    for (std::size_t g = 0; g < rows.size(); ++g)
      if (rows[g].numel() > 0)
        result.index_copy_(0, rows[g], at::mm(self.index_select(0, rows[g]), weight[static_cast<std::int64_t>(g)]));
    context->save_for_backward({self, weight, index});
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &self = saved[0], &weight = saved[1];
    at::Tensor of_self, of_weight;
    if (context->needs_input_grad(0)) of_self = at::zeros(self.sizes(), self.options());
    if (context->needs_input_grad(1)) of_weight = at::zeros(weight.sizes(), weight.options());
    const std::vector<at::Tensor> rows = rows_by_group(saved[2], weight.size(0));
    for (std::size_t g = 0; g < rows.size(); ++g) {
      if (rows[g].numel() == 0) continue;
      const auto number = static_cast<std::int64_t>(g);
      const at::Tensor gradient = gradients[0].index_select(0, rows[g]);
      if (of_self.defined()) of_self.index_copy_(0, rows[g], at::mm(gradient, weight[number].t()));
      if (!of_weight.defined()) continue;
      at::Tensor matrix = of_weight[number];
      at::mm_out(matrix, self.index_select(0, rows[g]).t(), gradient);
    }
    return {of_self, of_weight, at::Tensor()};
  }
};

}  // namespace

at::Tensor grouped_product(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& index) {
  return GroupedProduct::apply(self, weight, index);
}

at::Tensor sorted_grouped_product(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& ends) {
  std::vector<std::int64_t> counts = to_vector(ends);
  counts.push_back(self.size(0));
  for (std::size_t g = counts.size(); g-- > 1;) counts[g] -= counts[g - 1];
  return multiply(self, weight, counts);
}

}  // namespace planscope
