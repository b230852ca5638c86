#include "engine/runtime/fused_attention.h"

#include <ATen/SDPBackend.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

namespace planscope {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor for_each_query_head(const at::Tensor& tensor, std::int64_t heads) {
  return tensor.size(1) == heads ? tensor : tensor.repeat_interleave(heads / tensor.size(1), 1);
}

// The sum over the query heads that share a head.
at::Tensor shared(const at::Tensor& gradient, std::int64_t heads) {
  if (gradient.size(1) == heads) return gradient;
  return gradient.unflatten(1, {heads, gradient.size(1) / heads}).sum(2);
}

std::optional<at::Tensor> added_mask(const std::optional<at::Tensor>& mask, const at::Tensor& query) {
  if (!mask || mask->scalar_type() != at::kBool) return mask;
  return at::zeros(mask->sizes(), query.options().requires_grad(false))
      .masked_fill_(mask->logical_not(), -std::numeric_limits<double>::infinity());
}

struct FusedAttention : Function<FusedAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value, const std::optional<at::Tensor>& mask, bool causal, double scale) {
    const std::int64_t heads = query.size(1);
    const auto [out, rows] = at::_scaled_dot_product_flash_attention_for_cpu(query, for_each_query_head(key, heads),
                                                                             for_each_query_head(value, heads), 0.0,
                                                                             causal, added_mask(mask, query), scale);
    variable_list saved = {query, key, value, out, rows};
    if (mask) saved.push_back(*mask);
    context->save_for_backward(std::move(saved));
    context->saved_data["causal"] = causal;
    context->saved_data["scale"] = scale;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &query = saved[0], &key = saved[1], &value = saved[2];
    const std::optional<at::Tensor> mask = saved.size() > 5 ? std::optional<at::Tensor>(saved[5]) : std::nullopt;
    const std::int64_t heads = query.size(1);
    const auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        gradients[0], query, for_each_query_head(key, heads), for_each_query_head(value, heads), saved[3], saved[4],
        0.0, context->saved_data["causal"].toBool(), added_mask(mask, query), context->saved_data["scale"].toDouble());
    return {q, shared(k, key.size(1)), shared(v, value.size(1)), {}, {}, {}};
  }
};

}  // namespace

std::optional<at::Tensor> fused_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                          const at::Tensor& mask, bool causal, double scale) {
  if (query.dim() != 4 || !query.device().is_cpu()) return std::nullopt;
  std::optional<at::Tensor> given;
  if (mask.defined()) given = mask.dim() == 3 ? mask.unsqueeze(0) : mask;  // the kernel takes none of three dimensions
  // Whether it is taken depends on sizes and types alone: an expanded view asks as well as a repeated tensor.
  const auto seen = [&](const at::Tensor& t) {
    return t.narrow(1, 0, 1).expand({t.size(0), query.size(1), t.size(2), t.size(3)});
  };
  const std::int64_t choice = at::_fused_sdp_choice(query, seen(key), seen(value), given, 0.0, causal, scale);
  if (choice != static_cast<std::int64_t>(at::SDPBackend::flash_attention)) return std::nullopt;
  return FusedAttention::apply(query, key, value, given, causal, scale);
}

}  // namespace planscope
