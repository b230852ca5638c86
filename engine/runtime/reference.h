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
  // What rounding makes of each loss, where it was measured (loss_rounding); of so many first steps.
  std::vector<double> rounding;
};

using Lags = std::vector<std::pair<OpId, std::int64_t>>;  // what is not here reads the newest

// `progress` is called before every operator with its number and name, `seen` after it.
ReferenceRun run_reference(const Graph&, TensorSource&, const ShardOptions&, const OptimizerSettings&, int steps,
                           const Lags& = {},
                           const std::function<void(std::int64_t number, const std::string& what)>& progress = {},
                           const std::function<void(OpId, const TensorList& outputs)>& seen = {});

// Whether some element of a first gradient, in float64, is nothing but what rounding leaves of zero.
bool has_rounding(const ReferenceRun&);

// The largest difference up to each step between the losses of `run` and those of the same run with every parameter off by
// its last eight binary digits at the start: what the order of a sum may make of a loss. It matters where the optimizer
// divides a gradient by its own size: where all gradients are truly zero AdamW makes whole steps of rounding.
std::vector<double> loss_rounding(const Graph&, TensorSource&, const ShardOptions&, const OptimizerSettings&,
                                  const ReferenceRun& run, const Lags& = {},
                                  const std::function<void(std::int64_t number, const std::string& what)>& progress = {});

}  // namespace planscope
