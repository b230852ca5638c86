#pragma once
// What a piece needs while it runs and what autograd keeps of it between its forward and its backward.
//
// A slot may have the storage of another (its *root*, storage_roots.h). Kept is every root that some operator's
// backward reads and that no value of the Program holds: neither a leaf nor an output of the piece. Those two kinds are
// listed apart, because their own lifetimes cover them (or not: see steps.h).
//
// What operators keep beside their operands and results (operator_memory.h), and what they copy (storage_roots.h), counts as
// kept too.
//
// Forward, an intermediate result lives until its last reader; backward, the gradient of a slot lives from its first
// contribution to the end of its producer, and what was kept goes as its operators are done. A further contribution is a
// tensor of its own until it has been added: in place, unless another has the tensor that is there, or it is a view. A sum
// hands its gradient on to its operands as it is, one along dimensions a view that has each element as often as it has summed,
// unless that is the gradient of a leaf; a view has none beside that of what it views.
#include <cstdint>
#include <vector>

#include "planner/cost/operator_cost.h"

namespace planscope {

// The worst moment of a backward, on top of what is alive when it begins. What it leaves are the gradients of leaves.
struct BackwardSet {
  std::int64_t bytes = 0;      // without `gradients`; less what has gone by then, so it may be negative
  std::int64_t gradients = 0;  // of parameters, made by then
  std::int64_t left = 0;       // gradients inside the piece that wait for the second backward
  // The gradient of a leaf that is the tensor of another: of one that the backward is given (by position in
  // Piece::outputs), or of an earlier leaf.
  struct HandedOn {
    int leaf = 0, from = 0;
    bool given = false;
  };
  std::vector<HandedOn> handed_on;
};

struct WorkingSet {
  std::int64_t kept = 0;           // bytes held between compute(keep) and backward
  std::int64_t aside = 0;          // of these, what operators keep beside their operands and results
  std::int64_t forward_keep = 0;   // on top of results and kept, at the worst moment
  std::int64_t forward_drop = 0;   // the same without keeping anything
  BackwardSet whole;               // one backward for all gradients
  BackwardSet inputs, parameters;  // two: first of what is no parameter, then of the parameters
  std::vector<int> saved_leaves;   // leaves that backward reads: positions among the leaves, ascending
  std::vector<int> saved_outputs;  // positions in Piece::outputs, ascending
};

// `ending`: slots of leaves and results that nothing but autograd holds when backward begins (parameters that were gathered for
// it, results that were sent): they go as what else it keeps, but are no part of `kept`.
WorkingSet working_set(const Graph&, const Piece&, const std::vector<Bytes>& slots,
                       const std::vector<int>& ending = {});

}  // namespace planscope
