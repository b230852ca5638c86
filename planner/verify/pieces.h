#pragma once
// Operators of a piece: what their bindings demand of every slot, forward; and the gradients of the leaves, backward.
#include <map>
#include <vector>

#include "planner/verify/ledger.h"

namespace planscope::verification {

// Checks every operator of every piece once: bindings are legal, each operand is exactly the slice that they demand, and
// the slots of results state what comes out.
void check_pieces(const Graph&, const Program&, Ledger&);

// Parts of free axes to which something is restricted (Axis::of); empty: it is there at all indices.
using Restriction = std::vector<AxisId>;
Restriction restriction(const Program&, const std::vector<Binding>&);
// Whether the members have every index that `within` has once. `outside`: one of them has none of these at all.
struct Tiling {
  bool exact = false, outside = false, twice = false;
};
Tiling tiling(const Program&, const std::vector<Restriction>& members, const Restriction& within);

// Which (operator, operand) pairs give a contribution to the gradient of a tensor; a pair that runs restricted to parts
// of free axes gives one for each of these. Numbered over the whole graph; the seed of the loss is one more.
class Contributions {
 public:
  Contributions(const Graph&, const Program&);
  int id(OpId op, int input, const Restriction&) const;
  int seed() const { return seed_; }
  const std::vector<int>& of(TensorId t) const { return all_[static_cast<std::size_t>(t)]; }  // sorted, unrestricted
  // What is wrong with a sum as the gradient of a tensor at the indices of a restriction; empty: it is the whole of it.
  std::string problem(const std::vector<int>& sum, TensorId, const Restriction&) const;

 private:
  std::string name(int id) const;
  int unrestricted(int id) const {
    return id <= seed_ ? id : restricted_[static_cast<std::size_t>(id - seed_ - 1)].first;
  }
  const Restriction& restriction_of(int id) const;
  void note_summed(const PieceOp&, int input);
  Restriction limits(int contribution, const Restriction& within) const;

  const Graph& g_;
  const Program& p_;
  std::vector<int> first_;
  std::vector<std::vector<int>> all_;
  int seed_ = 0;
  std::vector<std::pair<int, Restriction>> restricted_;  // ids from seed + 1 on
  std::map<std::pair<int, Restriction>, int> ids_;
  std::map<int, std::vector<AxisId>> summed_;  // whole axes that a pair is bound to by what its operand does not have
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
