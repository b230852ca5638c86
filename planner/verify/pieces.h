#pragma once
// Operators of a piece: what their bindings demand of every slot, forward; and the gradients of the leaves, backward.
#include <map>
#include <vector>

#include "planner/verify/ledger.h"

namespace planscope::verification {

// Checks every operator of every piece once: bindings are legal, each operand is exactly the slice that they demand, and
// the slots of results state what comes out.
void check_pieces(const Graph&, const Program&, Ledger&);

// Which (operator, operand) pairs give a contribution to the gradient of a tensor. Numbered over the whole graph; the
// seed of the loss is one more.
class Contributions {
 public:
  explicit Contributions(const Graph&);
  int id(OpId op, int input) const { return first_[static_cast<std::size_t>(op)] + input; }
  int seed() const { return seed_; }
  const std::vector<int>& of(TensorId t) const { return all_[static_cast<std::size_t>(t)]; }  // sorted
  std::string name(const Graph&, int id) const;

 private:
  std::vector<int> first_;
  std::vector<std::vector<int>> all_;
  int seed_ = 0;
};

// A gradient on its way: the digits over which it is a partial sum, and what it sums (sorted; empty: there is none).
struct GradientState {
  std::vector<Partial> partials;
  std::vector<int> sums;
};

// Adds `from` to `into`. False if the two are not partial over the same digits or share a contribution.
enum class Merge { good, layouts_differ, twice };
Merge merge(GradientState& into, const GradientState& from);

// Runs a piece backward: `given` has one state per output of the piece; the result one per leaf. `failed` is true if
// something was wrong (it has been told).
struct LeafGradients {
  std::vector<GradientState> leaves;
  bool failed = false;
};
LeafGradients run_backward(const Graph&, const Program&, const Contributions&, PieceId,
                           const std::vector<GradientState>& given, const Site&, Ledger&);

}  // namespace planscope::verification
