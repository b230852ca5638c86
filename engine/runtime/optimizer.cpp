#include "engine/runtime/optimizer.h"

#include <stdexcept>

namespace planscope {

std::string_view to_string(OptimizerKind kind) { return kind == OptimizerKind::sgd ? "sgd" : "adamw"; }

std::optional<OptimizerKind> optimizer_kind(std::string_view name) {
  if (name == "sgd") return OptimizerKind::sgd;
  if (name == "adamw") return OptimizerKind::adamw;
  return std::nullopt;
}

OptimizerSettings default_settings(OptimizerKind kind) {
  OptimizerSettings settings;
  settings.kind = kind;
  if (kind == OptimizerKind::adamw) settings.rate = 1e-3;
  return settings;
}

namespace {

// Complex numbers are updated as pairs of reals, as in PyTorch.
at::Tensor as_reals(const at::Tensor& t) { return t.is_complex() ? at::view_as_real(t) : t; }

at::ScalarType state_type(const at::Tensor& parameter) {
  return c10::toRealValueType(parameter.scalar_type()) == at::kDouble ? at::kDouble : at::kFloat;
}

}  // namespace

OptimizerState::OptimizerState(const OptimizerSettings& settings, const at::Tensor& parameter)
    : first_(at::zeros(as_reals(parameter).sizes(), parameter.options().dtype(state_type(parameter)))) {
  if (settings.kind != OptimizerKind::adamw) return;
  second_ = at::zeros_like(first_);
  steps_ = at::zeros({}, at::kFloat);
}

void OptimizerState::step(const OptimizerSettings& settings, const at::Tensor& parameter, const at::Tensor& gradient) {
  if (away_) throw std::logic_error("an update without the state of its optimizer, which is in host memory");
  const at::NoGradGuard guard;
  const at::ScalarType type = first_.scalar_type();
  // The same tensors where they are like this already: the fused steps take elements as they lie.
  const at::Tensor reals = as_reals(parameter);
  const at::Tensor p = reals.to(type).contiguous(), g = as_reals(gradient).to(type).contiguous();
  if (settings.kind == OptimizerKind::sgd) {
    at::_fused_sgd_({p}, {g}, {first_}, 0, settings.momentum, settings.rate, 0, false, false, !begun_);
  } else {
    steps_.add_(1);
    at::_fused_adamw_({p}, {g}, {first_}, {second_}, {}, {steps_}, settings.rate, settings.beta1, settings.beta2,
                      settings.decay, settings.epsilon, false, false);
  }
  begun_ = true;
  if (!p.is_same(reals)) reals.copy_(p);
}

void OptimizerState::put_away() {
  away_ = true;
  for (const at::Tensor& t : {first_, second_})
    if (t.defined()) copies_.emplace_back(t.storage());
}

void OptimizerState::bring_back() {
  away_ = false;
  for (HostCopy& copy : copies_) copy.bring_back();
  copies_.clear();
}

}  // namespace planscope
