#pragma once
// Compares what one rank holds with the one-device run: the loss, its blocks of the gradients of the first step, its
// blocks of the updated parameters. What is allowed: 1e-9 in float64, which decides whether the computation is the same; in
// the model's types 1e-5 for float32 and wider for 16-bit types, whose own step is 1e-3 (float16) and 8e-3 (bfloat16), and
// what float64 shows to be rounding: 8 times what the one-device run itself loses in these types, and some steps of the type
// at the largest gradient (a gradient that is truly zero is rounding alone, in any order another), or, in models with operators
// whose derivative jumps (relu, max, top-k), a hundredth of a gradient's norm: an operand that is rounded to the other side
// of a jump takes another way.
// AdamW divides a gradient by its own size, so a parameter may be off by what that makes of the gradient's rounding, and from the
// second step on of what the parameter is off by: where a gradient is truly zero it is a whole step soon.
#include "engine/launch/trial_job.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/optimizer.h"
#include "engine/runtime/reference_file.h"

namespace planscope {

class Comparison {
 public:
  Comparison(const Graph&, const ReferenceFile&, Precision);

  void loss(int step, double value);
  void gradients(const std::vector<ParameterBlock>&);
  void parameters(const std::vector<ParameterBlock>&, const OptimizerSettings&, int steps);  // after the gradients

  const TrialError& worst() const { return worst_; }
  int compared() const { return compared_; }

 private:
  // `free`: what each element may differ by in any case; may be undefined.
  void block(ReferenceKind, TensorId, const Region&, const at::Tensor&, const at::Tensor& free = {});
  at::Tensor amplified(const ParameterBlock&, const OptimizerSettings&, int steps) const;
  // Of values that may differ by `allowed`; `error` and `allowed` over the scale of the tensor's class.
  void note(double error, double allowed, const std::string& tensor, std::string_view what);

  const Graph& graph_;
  const ReferenceFile& reference_;
  Precision precision_;
  bool bends_;
  double allowed_;  // of the scale
  TrialError worst_;
  int compared_ = 0;
};

}  // namespace planscope
