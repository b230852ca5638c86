#include "engine/runtime/comparison.h"

#include <cmath>
#include <limits>

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

}  // namespace

Comparison::Comparison(const Graph& graph, const ReferenceFile& reference, Precision precision)
    : graph_(graph), reference_(reference), precision_(precision) {
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
  const double scale = std::max(std::abs(right), 1e-30);
  double rounding = 0;
  const std::vector<double>& exact = reference_.losses(Precision::float64);
  if (precision_ == Precision::model && static_cast<std::size_t>(step) < exact.size())
    rounding = kOrders * std::abs(right - exact[static_cast<std::size_t>(step)]);
  if (!std::isfinite(rounding)) rounding = 0;
  note(std::abs(value - right) / scale, std::max(allowed_, rounding / scale), graph_.tensor_name(graph_.model->loss),
       "loss");
}

void Comparison::block(ReferenceKind kind, TensorId tensor, const Region& region, const at::Tensor& held) {
  const ReferenceFile::Entry* entry = reference_.find(precision_, kind, tensor);
  double error = std::numeric_limits<double>::infinity();  // a gradient where the one-device run has none
  double most = allowed_;
  if (entry != nullptr && elements(region) == 0)
    error = 0;
  else if (entry != nullptr) {
    const at::Tensor expected = cut(entry->whole, whole_region(graph_, tensor), region);
    error = held.sub(expected).abs().max().item<double>() / entry->scale;
    if (precision_ == Precision::model) {
      const double step = step_of_types(graph_) * reference_.largest(precision_, kind);
      most = std::max({most, kOrders * entry->noise / entry->scale, step / entry->scale});
    }
  }
  note(error, most, graph_.tensor_name(tensor), to_string(kind));
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

void Comparison::parameters(const std::vector<ParameterBlock>& blocks) {
  for (const ParameterBlock& b : blocks) {
    if (reference_.find(precision_, ReferenceKind::parameter, b.tensor) == nullptr) continue;
    block(ReferenceKind::parameter, b.tensor, b.region, b.value);
  }
}

}  // namespace planscope
