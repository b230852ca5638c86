#pragma once
// One step of an optimizer on one block of a parameter. Every rule is element by element, so that a block needs nothing
// of the others, and runs as one pass over it. State is kept in float32 at least.
//
//   sgd     v = momentum v + g;  p -= rate v
//   adamw   m = b1 m + (1-b1) g;  s = b2 s + (1-b2) g²;  p -= rate (m̂ / (√ŝ + epsilon) + decay p)      (Loshchilov,
//   Hutter 2019)
#include <optional>
#include <string>
#include <string_view>

#include "engine/runtime/autograd.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

enum class OptimizerKind : std::uint8_t { sgd, adamw };
std::string_view to_string(OptimizerKind);
std::optional<OptimizerKind> optimizer_kind(std::string_view);

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::sgd;
  double rate = 1e-2;                                               // adamw: 1e-3
  double momentum = 0.9;                                            // sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0.01;  // adamw
};
OptimizerSettings default_settings(OptimizerKind);

class OptimizerState {
 public:
  OptimizerState(const OptimizerSettings&, const at::Tensor& parameter);

  // Changes `parameter` in place.
  void step(const OptimizerSettings&, const at::Tensor& parameter, const at::Tensor& gradient);

  // The state waits in host memory; a step needs it back.
  void put_away();
  void bring_back();

 private:
  bool begun_ = false;
  at::Tensor first_, second_, steps_;
  bool away_ = false;
  std::vector<HostCopy> copies_;
};

}  // namespace planscope
