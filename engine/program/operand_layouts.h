#pragma once
// From the bindings of an operator to the layouts of its operands, and from a plan to those bindings: what materialize()
// works with (materialize.h), for planners that choose bindings without making Programs.
//
//   stated_bindings    the bindings that statements make: one factor for each axis
//   operand_layout     how an operand is read, or a result is written, under bindings
//   contribution_layout how the gradient that the operator gives for an operand lies; `passed`: digits over which a partial
//                      gradient passes backward
//   bound_axes         what every operator of a plan binds, by statement or because it follows
//
//   linear  x[b, s, k] w[n, k] -> y[b, s, n] with `out` over tensor:  w [n/tensor, k], y [b, s, n/tensor], the gradient of x
//   is partial over tensor.
//
// Axes of devices alone: what runs in turn (free axes) is not here but for bound_axes.
#include <utility>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/plan/bind.h"
#include "engine/program/program.h"

namespace planscope {

// A factor over an axis of devices, from one of its parts on (plan::Split::part).
struct StatedSplit {
  AxisId axis = -1;
  int factor = -1, part = 0;
  bool operator==(const StatedSplit&) const = default;
};

// Major to minor, as listed. The splits are legal ones (engine/plan/checks.cpp says which).
std::vector<Binding> stated_bindings(const Graph&, const Program&, OpId, const std::vector<StatedSplit>&);

Layout operand_layout(const Op&, const Operand&, bool output, const std::vector<Binding>&);
Layout contribution_layout(const Op&, int input, const std::vector<Binding>&, const Layout& read,
                           const std::vector<Digit>& passed_gradient);
Layout dual(const Layout&);  // of a gradient: split as the value, not partial

// What an operator binds on one axis.
struct BoundAxis {
  std::vector<std::pair<int, int>> parts;  // (factor, part); empty and no pass: not bound
  int pass = -1;                           // linear set whose partial operands pass through
  bool backward_pass = false;              // a partial gradient passes backward
  bool operator==(const BoundAxis&) const = default;
};

// [operator][axis], axes as in the decisions. Operators that no parameter reaches bind nothing here.
Result<std::vector<std::vector<BoundAxis>>> bound_axes(const Graph&, const plan::Decisions&, const Cluster&);

}  // namespace planscope
