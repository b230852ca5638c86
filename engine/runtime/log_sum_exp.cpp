#include "engine/runtime/log_sum_exp.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace planscope {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

constexpr std::int64_t elements_at_a_time = 1 << 14;  // their exponentials stay in the caches

struct LogSumExp : Function<LogSumExp> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, std::int64_t dim) {
    const at::Tensor rows = x.movedim(dim, -1);
    at::Tensor result = at::empty(rows.sizes().slice(0, static_cast<std::size_t>(rows.dim() - 1)), x.options());
    const at::Tensor flat = rows.reshape({result.numel(), rows.size(-1)}), out = result.view({-1});
    const std::int64_t count = std::max<std::int64_t>(1, elements_at_a_time / std::max<std::int64_t>(1, flat.size(1)));
    for (std::int64_t i = 0; i < flat.size(0); i += count) {
      const std::int64_t n = std::min(count, flat.size(0) - i);
      at::Tensor part = out.narrow(0, i, n);
      at::logsumexp_out(part, flat.narrow(0, i, n), at::IntArrayRef{1}, false);
    }
    context->save_for_backward({x, result});
    context->saved_data["dim"] = dim;
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::int64_t dim = context->saved_data["dim"].toInt();
    const at::Tensor change = saved[0].sub(saved[1].unsqueeze(dim)).exp_().mul_(gradients[0].unsqueeze(dim));
    return {change, at::Tensor()};
  }
};

}  // namespace

at::Tensor row_log_sum_exp(const at::Tensor& x, std::int64_t dim) { return LogSumExp::apply(x, dim); }

}  // namespace planscope
