#pragma once
// Tests rules by executing them: every distinct operator signature of a Graph is run whole and in shards, forward and
// gradient, in float64 on random operands, and the results are compared.
//
// For every factor that is not frozen, every part of it and 2 and 3 shards (even and uneven: sizes are small and differ
// from class to class, so that a factor tied to the wrong dimension shows):
//   outputs      with the factor are concatenated, without it summed (`sum`) or combined by log-sum-exp (`merge`)
//   gradients    of operands with the factor are concatenated, without it summed; an operand that is `added` is read as
//                a partial value (block 0 has it, the others zero) and its gradient is whole on every shard
// For every linear set: the operands of the set as sums of two addends (and `added` ones as partial) give two results
// whose sum is the whole result.
//
// Sizes are reduced: classes get small sizes; those of frozen factors keep theirs where the arguments speak of them.
// What is not tested, and why, is listed in `skipped`; an operator that cannot be run is in `failed`.
#include <functional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

struct AuditFinding {
  std::string op;  // name of the first operator with this signature
  std::string target;
  std::string factor;  // `out part 1 by 3`, `linear {0, 1}`; empty: the operator as a whole
  std::string what;    // `output 0`, `gradient of weight`, or why it was skipped
  double error = 0;    // relative to the largest value of the whole result; 0 where nothing was compared
};

struct AuditReport {
  int signatures = 0;
  int tested = 0;  // comparisons of sharded with whole runs: (factor part, number of shards) and linear sets
  std::vector<AuditFinding> failed, skipped;
};

AuditReport audit_rules(const Graph&);

}  // namespace planscope
