#pragma once
// A Z3 solver in which facts hold under lines of the user: each line is one assumption, so that a contradiction comes
// with the lines that it needs. Facts under several lines hold where all of them do; facts under none always. A check
// may leave lines out: what was learned under them counts for nothing in it.
//
//   TrackedSolver s;
//   z3::expr t = s.integer("t");
//   s.add({6}, t <= 2);
//   s.add({7}, t != 1 && t != 2);
//   s.check(deadline) == Answer::no; s.core() == {6, 7}                      // after s.add({}, t >= 1)
//   s.check(deadline, [](int line) { return line != 7; }) == Answer::yes
//
// Z3's own core is not minimal; row_sets.h makes it so. Solver with assumptions, never Optimize: bounds come from outside.
#include <z3++.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/constraint/row_sets.h"
#include "planner/solver/deadline.h"

namespace planscope::constraint {

class TrackedSolver {
 public:
  TrackedSolver();
  TrackedSolver(const TrackedSolver&) = delete;
  TrackedSolver& operator=(const TrackedSolver&) = delete;

  z3::context& context() { return context_; }
  z3::expr integer(const std::string& name) { return context_.int_const(name.c_str()); }
  z3::expr boolean(const std::string& name) { return context_.bool_const(name.c_str()); }

  void add(const std::vector<int>& lines, const z3::expr& fact);
  Answer check(const Deadline&, const std::function<bool(int line)>& counts = [](int) { return true; });
  std::int64_t value(const z3::expr& integer) const;  // after yes
  std::vector<int> core() const { return core_; }     // after no: lines, ascending

 private:
  z3::expr literal(int line);

  z3::context context_;
  z3::solver solver_;
  std::map<int, z3::expr> literals_;
  std::optional<z3::model> model_;
  std::vector<int> core_;
};

}  // namespace planscope::constraint
