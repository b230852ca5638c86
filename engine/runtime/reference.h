#pragma once
// The one-device run: every operator of the Graph whole, in program order, under plain autograd, with the same first
// numbers as a trial. No Program takes part, so that nothing is shared with what is to be checked but the operators.
//
// It needs the memory of the whole model: its parameters, their gradients and optimizer state, and one forward pass.
#include <functional>
#include <map>

#include "engine/runtime/operator_shard.h"
#include "engine/runtime/optimizer.h"
#include "engine/runtime/tensor_source.h"

namespace planscope {

struct ReferenceRun {
  std::vector<double> losses;                 // of each step
  std::map<TensorId, at::Tensor> gradients;   // of the first step; those that no gradient reaches are left out
  std::map<TensorId, at::Tensor> parameters;  // after the last step; the trained ones
};

// `progress` is called before every operator with its number and name.
ReferenceRun run_reference(const Graph&, TensorSource&, const ShardOptions&, const OptimizerSettings&, int steps,
                           const std::function<void(std::int64_t number, const std::string& what)>& progress = {});

}  // namespace planscope
