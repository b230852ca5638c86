#pragma once
// The strategies of an operator: what it does on each axis of the grid, and what follows for its operands.
//
// On an axis an operator is whole (repeated on all devices), splits one of its factors from one of its parts on, or lets
// partial operands of a linear set pass; where it is whole, the partial gradient of its result may pass backward. Several
// axes may split one factor. Passing is not for a statement to ask for: materialize lets pass whatever can
// (engine/program/build/bindings.cpp), and whether it can depends on the neighbours (may_write, may_read).
//
// Legal are the factors that a statement can name: not frozen, no softmax (`keys` are for free axes), with a name by which
// the part is found; the axes on a factor divide its parts, or leave blocks that differ by one (`sizes balanced`).
//
// Cost: forward and backward work at the local shapes (planner/cost), and what parameters read by this operator alone need:
// reduction of their gradients and the update, once for `micro_batches` of it. Where ZeRO has axes, that is a choice of its
// own (parameter_cost) and not in here.
#include <string>
#include <vector>

#include "engine/plan/bind.h"
#include "planner/search/splits/space.h"

namespace planscope::splits {

struct Option {
  enum class Kind : std::uint8_t { whole, passes_back, split, pass } kind = Kind::whole;
  int factor = -1, part = 0;  // split
  int set = -1;               // pass: of Op::linear
  std::string word;           // split: the name of the factor, or of the part
  bool balanced = false;      // blocks differ by one
  bool operator==(const Option&) const = default;
};

struct Strategy {
  std::vector<Option> options;           // by axis
  std::vector<Interface> reads;          // by input
  std::vector<LayoutId> writes, needed;  // by output: as written, and in which layout its gradient is taken
  double cost = 0;                       // microseconds
  double forward = 0;                    // of it, the forward pass: what computing it again takes
  std::int64_t bytes = 0;                // of its own parameters with gradient and optimizer state
  std::vector<std::int64_t> results;  // bytes by output; a view: 0; one that is to be reduced: the least that is left
  std::int64_t aside = 0;             // bytes that backward needs beside operands and results
};

struct Weights {
  std::int64_t micro_batches = 1;          // of a step: what is done once a step counts that much less
  std::int64_t optimizer_state_bytes = 8;  // by element of a trained parameter
  std::vector<int> zero = {};              // axes over which ZeRO may split what belongs to parameters
};

std::vector<Strategy> strategies_of(Space&, OpId, const plan::OperatorInfo&, const Weights&);

// An operand that no strategy costs anything for: inputs, constants, and what no parameter reaches.
bool is_anywhere(const Graph&, TensorId);

// Whether the gradient of a result passes backward through an operator that an axis leaves whole, if it is partial over it.
bool can_pass_back(const Graph&, const Op&);
bool is_partial_on(const Layout&, int axis);  // a sum over it, and not split
bool alike_on(const Layout&, const Layout&, int axis);

// Whether a producer whose result is read so can have this strategy, and a reader of what is written so its own: a partial
// value passes exactly where it can.
bool may_write(const Space&, OpId, const Strategy&, int output, const std::vector<Interface>& readers);
bool may_read(const Space&, OpId, const Strategy&, int input, LayoutId written);

}  // namespace planscope::splits
