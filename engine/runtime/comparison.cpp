#include "engine/runtime/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

namespace planscope {

namespace {

double allowed(const Graph& graph, Precision precision) {
  if (precision == Precision::float64) return 1e-9;
  double most = 1e-5;
  for (const Value& value : graph.model->values) {
    if (value.dtype == DType::bf16) most = std::max(most, 5e-2);
    if (value.dtype == DType::f16) most = std::max(most, 1e-2);
  }
  return most;
}

constexpr double kBends = 1e-2;  // of a gradient's norm
constexpr double kOrders = 8;  // so many times what one order of sums rounds away, another may

// The step of the narrowest of the model's floating types, where it is to be counted at all.
double step_of_types(const Graph& graph) {
  double most = std::numeric_limits<float>::epsilon() * kOrders;
  for (const Value& value : graph.model->values) {
    if (value.dtype == DType::bf16) most = std::max(most, 1.0 / 128);
    if (value.dtype == DType::f16) most = std::max(most, 1.0 / 1024);
  }
  return most;
}

// Operators whose derivative jumps, or which choose: what is rounded to the other side of a jump takes another way.
bool bends(const Graph& graph) {
  static const std::set<std::string_view> jumping = {
      "relu", "relu6", "leaky_relu", "prelu", "rrelu", "threshold", "hardtanh", "hardswish", "hardsigmoid", "hardshrink",
      "softshrink", "abs", "sign", "sgn", "round", "floor", "ceil", "trunc", "frac", "fmod", "remainder", "clamp", "clamp_min", "clamp_max",
      "maximum", "minimum", "fmax", "fmin", "max", "min", "amax", "amin", "argmax", "argmin", "sort", "argsort", "topk", "kthvalue",
      "median", "gt", "ge", "lt", "le", "eq", "ne", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices",
      "max_pool3d_with_indices", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "l1_loss",
      "margin_ranking_loss", "hinge_embedding_loss", "multi_margin_loss", "multilabel_margin_loss", "triplet_margin_loss"};
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
    const Node& node = graph.model->nodes[static_cast<std::size_t>(op.node)];
    std::string_view name = node.target;
    name.remove_prefix(std::min(name.size(), name.rfind(':') + 1));
    return !node.bodies.empty() || jumping.contains(name.substr(0, name.find('.')));
  });
}

}  // namespace

Comparison::Comparison(const Graph& graph, const ReferenceFile& reference, Precision precision)
    : graph_(graph), reference_(reference), precision_(precision), bends_(precision == Precision::model && bends(graph)) {
  worst_.pass = precision == Precision::float64 ? "float64" : "model";
  worst_.allowed = allowed_ = allowed(graph, precision);
}

void Comparison::note(double error, double allowed, const std::string& tensor, std::string_view what) {
  ++compared_;
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  if (compared_ > 1 && error / allowed <= worst_.error / worst_.allowed) return;
  worst_.error = error;
  worst_.allowed = allowed;
  worst_.tensor = tensor;
  worst_.what = what;
}

void Comparison::loss(int step, double value) {
  const std::vector<double>& expected = reference_.losses(precision_);
  if (static_cast<std::size_t>(step) >= expected.size()) return;
  const double right = expected[static_cast<std::size_t>(step)];
  const std::string& name = graph_.tensor_name(graph_.model->loss);
  if (!std::isfinite(right)) {
    if (worst_.not_finite.empty()) worst_.not_finite = name.empty() ? "loss" : name;
    const bool same = !std::isfinite(value);
    return note(same ? 0 : std::numeric_limits<double>::infinity(), allowed_, name, "loss");
  }
  const double scale = std::max(std::abs(right), 1e-30);
  const double rounding = kOrders * reference_.loss_noise(precision_, static_cast<std::size_t>(step));
  note(std::abs(value - right) / scale, std::max(allowed_, rounding / scale), name, "loss");
}

void Comparison::block(ReferenceKind kind, TensorId tensor, const Region& region, const at::Tensor& held,
                       const at::Tensor& free) {
  const ReferenceFile::Entry* entry = reference_.find(precision_, kind, tensor);
  double error = std::numeric_limits<double>::infinity();  // a gradient where the one-device run has none
  double most = allowed_;
  if (entry != nullptr && elements(region) == 0)
    error = 0;
  else if (entry != nullptr) {
    const at::Tensor expected = cut(entry->whole, whole_region(graph_, tensor), region);
    const at::Tensor finite = expected.isfinite();
    if (worst_.not_finite.empty() && !finite.all().item<bool>()) worst_.not_finite = graph_.tensor_name(tensor);
    // Where both overflow, nothing can be compared.
    const at::Tensor same = held.isfinite().logical_or(finite).logical_not();
    at::Tensor difference = held.sub(expected).abs().masked_fill(same, 0);
    const double norm = difference.norm().item<double>();
    if (free.defined()) difference = difference.sub(free.nan_to_num(0, 0, 0)).clamp_min(0);
    error = difference.max().item<double>() / entry->scale;
    if (precision_ == Precision::model) {
      if (bends_ && norm <= kBends * expected.abs().norm().item<double>()) most = std::max(most, error);
      const double step = step_of_types(graph_) * reference_.largest(precision_, kind);
      most = std::max({most, kOrders * entry->noise / entry->scale, step / entry->scale});
    }
  }
  note(error, std::isfinite(most) ? most : allowed_, graph_.tensor_name(tensor), to_string(kind));
}

void Comparison::gradients(const std::vector<ParameterBlock>& blocks) {
  for (const ParameterBlock& b : blocks) {
    const bool expected = reference_.find(precision_, ReferenceKind::gradient, b.tensor) != nullptr;
    if (b.first_gradient.defined())
      block(ReferenceKind::gradient, b.tensor, b.region, b.first_gradient);
    else if (expected)
      note(std::numeric_limits<double>::infinity(), allowed_, graph_.tensor_name(b.tensor), "gradient");
  }
}

at::Tensor Comparison::amplified(const ParameterBlock& b, const OptimizerSettings& optimizer, int steps) const {
  const ReferenceFile::Entry* entry = reference_.find(precision_, ReferenceKind::gradient, b.tensor);
  if (optimizer.kind != OptimizerKind::adamw || entry == nullptr || !b.first_gradient.defined() || elements(b.region) == 0)
    return {};
  const at::Tensor gradient = cut(entry->whole, whole_region(graph_, b.tensor), b.region);
  at::Tensor rounding = b.first_gradient.sub(gradient).abs().max();
  if (precision_ == Precision::float64)  // what is zero in the first step may be rounded in the next
    rounding = rounding.clamp_min(std::numeric_limits<double>::epsilon() * reference_.largest(precision_, ReferenceKind::gradient));
  at::Tensor off = at::zeros_like(gradient.abs());
  for (int step = 0; step < steps; ++step)  // what a parameter is off by, the next gradient is off by too
    off = off.add(off.add(rounding).div(gradient.abs().add(optimizer.epsilon)).clamp_max(1), optimizer.rate);
  return off.mul(kOrders);
}

void Comparison::parameters(const std::vector<ParameterBlock>& blocks, const OptimizerSettings& optimizer, int steps) {
  for (const ParameterBlock& b : blocks) {
    if (reference_.find(precision_, ReferenceKind::parameter, b.tensor) == nullptr) continue;
    block(ReferenceKind::parameter, b.tensor, b.region, b.value, amplified(b, optimizer, steps));
  }
}

}  // namespace planscope
