#pragma once
// batch_norm taken apart: a mean and a mean of squares over the batch and the plane, in two passes, are partial sums where
// these are split, so that every plan has the statistics of the whole batch. With statistics that are given it is one
// multiplication and one addition for each element.
//
//   m = mean(x), c = x - m, v = mean(c²), y = c · (weight · rsqrt(v + eps)) + bias
#include "engine/graph/functional/storage.h"

namespace planscope {

struct BatchNorm {
  ValueId result = -1;  // -1: the operator stays
  // Statistics of the batch as they were used, [1, channels, 1, …], and running ones as they are afterwards, [channels];
  // -1: none.
  ValueId mean = -1, rsqrt = -1, running_mean = -1, running_var = -1;
};

// Operands that are not there are -1. `training`: by the statistics of the batch.
struct BatchNormOperands {
  ValueId input = -1, weight = -1, bias = -1, mean = -1, variance = -1;
  bool training = true;
  double momentum = 0.1, eps = 1e-5;
};

// Nodes are named like `like`; dimension 1 is the channels.
BatchNorm emit_batch_norm(Builder&, const Node& like, const BatchNormOperands&);

// Of a node `aten::batch_norm`.
BatchNormOperands batch_norm_operands(const Node&);

}  // namespace planscope
