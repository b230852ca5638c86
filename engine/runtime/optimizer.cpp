#include "engine/runtime/optimizer.h"

#include <cmath>

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

void OptimizerState::step(const OptimizerSettings& settings, const at::Tensor& parameter, const at::Tensor& gradient) {
  const at::NoGradGuard guard;
  const at::ScalarType type = parameter.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor g = gradient.to(type);
  if (!first_.defined()) first_ = at::zeros_like(g);
  ++steps_;
  if (settings.kind == OptimizerKind::sgd) {
    first_.mul_(settings.momentum).add_(g);
    parameter.sub_(first_.mul(settings.rate).to(parameter.scalar_type()));
    return;
  }
  if (!second_.defined()) second_ = at::zeros_like(g);
  first_.mul_(settings.beta1).add_(g, 1 - settings.beta1);
  second_.mul_(settings.beta2).addcmul_(g, g, 1 - settings.beta2);
  const at::Tensor mean = first_.div(1 - std::pow(settings.beta1, steps_));
  const at::Tensor scale = second_.div(1 - std::pow(settings.beta2, steps_)).sqrt_().add_(settings.epsilon);
  const at::Tensor change = mean.div_(scale).add_(parameter.to(type), settings.decay).mul_(settings.rate);
  parameter.sub_(change.to(parameter.scalar_type()));
}

}  // namespace planscope
