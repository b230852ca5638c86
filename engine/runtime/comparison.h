#pragma once
// Compares what one rank holds with the one-device run: the loss, its blocks of the gradients of the first step, its
// blocks of the updated parameters. What is allowed: 1e-9 in float64; in the model's types 1e-5 for float32 and wider
// for 16-bit types, whose own step is 1e-3 (float16) and 8e-3 (bfloat16).
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
  void note(double error, const std::string& tensor, std::string_view what);

  const Graph& graph_;
  const ReferenceFile& reference_;
  Precision precision_;
  TrialError worst_;
  int compared_ = 0;
};

}  // namespace planscope
