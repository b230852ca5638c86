#pragma once
// Tests rules by executing them: every distinct operator signature of a Graph is run whole and in shards, forward and
// gradient, in float64 on random operands, and the results are compared.
//
// For every part of a factor that is not frozen: two even shards, three uneven ones, nested and turned
// ones; and pairs of parts at once (data x tensor, also by key and plain), as audit_splits.h says:
//   outputs      with the factor are put together, without it summed (`sum`), combined by log-sum-exp (`merge`) or averaged
//                with their weights (`softmax`)
//   gradients    of operands with the factor are put together, without it summed; an operand that is `added` is read as
//                a partial value (block 0 has it, the others zero) and its gradient is whole on every shard
// For every linear set: the operands of the set as sums of two addends (and `added` ones as partial) give two results
// whose sum is the whole result. For what backward reads (Op::saves): all else is overwritten before it runs. For keys that
// a causal mask limits (Factor::until): blocks of queries with the keys up to them alone, and the model's own mask is
// computed from drawn inputs.
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
