#pragma once
// The one-device run: every operator of the Graph whole, in program order, under plain autograd, with the same first
// numbers as a trial. No Program takes part, so that nothing is shared with what is to be checked but the operators.
//
// Operators may read parameters as they were some updates ago (delayed gradients): step s then computes at the parameters
// after max(s - lag, 0) updates, forward and backward, and its gradient is applied to the newest ones.
//
// It needs the memory of the whole model: its parameters, their gradients and optimizer state, one forward pass, and of
// parameters that are read old the versions between.
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

using Lags = std::vector<std::pair<OpId, std::int64_t>>;  // what is not here reads the newest

// `progress` is called before every operator with its number and name, `seen` after it.
ReferenceRun run_reference(const Graph&, TensorSource&, const ShardOptions&, const OptimizerSettings&, int steps,
                           const Lags& = {},
                           const std::function<void(std::int64_t number, const std::string& what)>& progress = {},
                           const std::function<void(OpId, const TensorList& outputs)>& seen = {});

}  // namespace planscope
