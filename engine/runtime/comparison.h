#pragma once
// Compares what one rank holds with the one-device run: the loss, its blocks of the gradients of the first step, its
// blocks of the updated parameters. What is allowed: 1e-9 in float64, which decides whether the computation is the same; in
// the model's types 1e-5 for float32 and wider for 16-bit types, whose own step is 1e-3 (float16) and 8e-3 (bfloat16), and
// what float64 shows to be rounding: 8 times what the one-device run itself loses in these types, and some steps of the type
// at the largest gradient (a gradient that is truly zero is rounding alone, in any order another).
#include "engine/launch/trial_job.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/reference_file.h"

namespace planscope {

class Comparison {
 public:
  Comparison(const Graph&, const ReferenceFile&, Precision);

  void loss(int step, double value);
  void gradients(const std::vector<ParameterBlock>&);
  void parameters(const std::vector<ParameterBlock>&);

  const TrialError& worst() const { return worst_; }
  int compared() const { return compared_; }

 private:
  void block(ReferenceKind, TensorId, const Region&, const at::Tensor&);
  // Of values that may differ by `allowed`; `error` and `allowed` over the scale of the tensor's class.
  void note(double error, double allowed, const std::string& tensor, std::string_view what);

  const Graph& graph_;
  const ReferenceFile& reference_;
  Precision precision_;
  double allowed_;  // of the scale
  TrialError worst_;
  int compared_ = 0;
};

}  // namespace planscope
