#include "engine/runtime/attention.h"

#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <stdexcept>

#include "engine/runtime/fused_attention.h"

namespace planscope {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// -inf, the log of an empty sum, as something that can be subtracted from -inf.
at::Tensor finite(const at::Tensor& log_sums) { return log_sums.masked_fill(log_sums.isinf(), 0); }

std::int64_t groups(const AttentionOperands& a) {
  const std::int64_t heads = a.key.size(-3);
  return heads > 0 ? a.query.size(-3) / heads : 1;
}

at::Tensor repeated(const at::Tensor& tensor, std::int64_t groups) {
  return groups == 1 ? tensor : tensor.repeat_interleave(groups, -3);
}

at::Tensor added_up(const at::Tensor& tensor, std::int64_t groups) {
  return groups == 1 ? tensor : tensor.unflatten(-3, {tensor.size(-3) / groups, groups}).sum(-3);
}

at::Tensor scores(const AttentionOperands& a) {
  at::Tensor s = at::matmul(a.query, repeated(a.key, groups(a)).transpose(-2, -1)) * a.scale;
  if (s.scalar_type() == at::kHalf || s.scalar_type() == at::kBFloat16) s = s.to(at::kFloat);
  if (!a.mask.defined()) return s;
  return a.mask.scalar_type() == at::kBool ? s.masked_fill(a.mask.logical_not(), kHidden) : s + a.mask;
}

// A block of keys of which no query sees any.
bool is_hidden(const at::Tensor& mask) {
  return mask.defined() && mask.scalar_type() == at::kBool && !mask.any().item<bool>();
}

class BlockAttention : public torch::autograd::Function<BlockAttention> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, const at::Tensor& query,
                                                const at::Tensor& key, const at::Tensor& value,
                                                const std::optional<at::Tensor>& mask, double scale,
                                                const std::shared_ptr<TensorList>& whole) {
    const AttentionOperands a{query, key, value, mask.value_or(at::Tensor()), scale};
    context->save_for_backward({query, key, value, a.mask});
    context->saved_data["scale"] = scale;
    context->saved_data["whole"] = c10::IValue::make_capsule(c10::make_intrusive<Held>(whole));
    if (is_hidden(a.mask)) {
      std::vector<std::int64_t> rows = query.sizes().vec();
      rows.pop_back();
      const bool narrow = query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
      const at::Tensor none = at::full(rows, kHidden, query.options().dtype(narrow ? at::kFloat : query.scalar_type()));
      rows.push_back(value.size(-1));
      context->mark_non_differentiable({none});
      return {at::zeros(rows, value.options()), none};
    }
    const at::Tensor s = scores(a), log_sums = s.logsumexp({-1});
    const at::Tensor weights = s.sub(finite(log_sums).unsqueeze(-1)).exp();
    const at::Tensor results = at::matmul(weights.to(value.scalar_type()), repeated(value, groups(a)));
    context->mark_non_differentiable({log_sums});
    return {results, log_sums};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const AttentionOperands a{saved[0], saved[1], saved[2], saved[3], context->saved_data["scale"].toDouble()};
    const auto held = context->saved_data["whole"].toCapsule();
    const TensorList& whole = *static_cast<const Held&>(*held).whole;
    if (whole.size() != 2) throw std::logic_error("the backward of a block of keys before the blocks are joined");
    if (is_hidden(a.mask))
      return {at::zeros_like(a.query),
              at::zeros_like(a.key),
              at::zeros_like(a.value),
              at::Tensor(),
              at::Tensor(),
              at::Tensor()};
    const std::int64_t n = groups(a);
    const at::Tensor given = gradients[0];
    const at::Tensor weights = scores(a).sub(finite(whole[1]).unsqueeze(-1)).exp();
    const at::Tensor towards = at::matmul(given, repeated(a.value, n).transpose(-2, -1));
    const at::Tensor shared = (given * whole[0]).sum(-1, true);
    const at::Tensor change = weights * (towards - shared).to(weights.scalar_type());  // of the scores
    const at::Tensor scaled = (change * a.scale).to(a.query.scalar_type());
    const at::Tensor of_values = added_up(at::matmul(weights.to(given.scalar_type()).transpose(-2, -1), given), n);
    const at::Tensor of_query = at::matmul(scaled, repeated(a.key, n));
    const at::Tensor of_keys = added_up(at::matmul(scaled.transpose(-2, -1), a.query), n);
    at::Tensor of_mask;
    if (a.mask.defined() && a.mask.requires_grad())
      of_mask = at::sum_to(change, a.mask.sizes()).to(a.mask.scalar_type());
    return {of_query, of_keys, of_values, of_mask, at::Tensor(), at::Tensor()};
  }

 private:
  struct Held : torch::CustomClassHolder {
    explicit Held(std::shared_ptr<TensorList> list) : whole(std::move(list)) {}
    std::shared_ptr<TensorList> whole;
  };
};

}  // namespace

at::Tensor causal_mask(const at::Tensor& mask, const at::Tensor& rows, const at::Tensor& columns) {
  const at::Tensor seen = rows.unsqueeze(-1).ge(columns);
  if (!mask.defined()) return seen;
  return mask.scalar_type() == at::kBool ? mask.logical_and(seen) : mask.masked_fill(seen.logical_not(), kHidden);
}

at::Tensor whole_attention(const AttentionOperands& operands, bool causal) {
  AttentionOperands a = operands;
  const bool empty = a.query.numel() == 0 || a.key.numel() == 0;
  if (causal && (a.mask.defined() || empty)) {
    const auto options = a.query.options().dtype(at::kLong).requires_grad(false);
    a.mask = causal_mask(a.mask, at::arange(a.query.size(-2), options), at::arange(a.key.size(-2), options));
    causal = false;
  }
  if (!empty) {
    if (const auto result = fused_attention(a.query, a.key, a.value, a.mask, causal, a.scale)) return *result;
  }
  const std::int64_t n = groups(a);
  a.key = repeated(a.key, n);
  a.value = repeated(a.value, n);
  if (empty) return at::matmul(scores(a).softmax(-1).to(a.value.scalar_type()), a.value);
  return at::scaled_dot_product_attention(a.query, a.key, a.value,
                                          a.mask.defined() ? std::optional<at::Tensor>(a.mask) : std::nullopt, 0.0,
                                          causal, a.scale);
}

TensorList block_attention(const AttentionOperands& a, const std::shared_ptr<TensorList>& whole) {
  return BlockAttention::apply(a.query, a.key, a.value,
                               a.mask.defined() ? std::optional<at::Tensor>(a.mask) : std::nullopt, a.scale, whole);
}

void join_block(at::Tensor& results, at::Tensor& log_sums, const at::Tensor& block_results,
                const at::Tensor& block_log_sums) {
  const at::Tensor joined = at::logaddexp(log_sums, block_log_sums);
  const auto share = [&](const at::Tensor& part) {
    return part.sub(finite(joined)).exp().unsqueeze(-1).to(results.scalar_type());
  };
  results.mul_(share(log_sums)).add_(block_results * share(block_log_sums));
  log_sums.copy_(joined);
}

}  // namespace planscope
