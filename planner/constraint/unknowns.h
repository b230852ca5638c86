#pragma once
// Open values as Z3 integers (words are numbered below zero), and what rows and declarations say about them: domains, the
// devices that a grid divides, conditions, each under its line. Values that only rows mention while lines wait for others
// (`?D[i]` of the parts of a cut whose sizes are open) are not among them: those lines may bring them.
//
//   Unknowns u(open_decisions, judge, solver);
//   solver.check(…) == Answer::yes;  u.values();                // one assignment
//   solver.add({line}, u.other_than(u.values()));               // not this one, under that line
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "planner/constraint/arithmetic.h"
#include "planner/constraint/assignments.h"
#include "planner/constraint/products.h"
#include "planner/constraint/tracked_solver.h"

namespace planscope::constraint {

class Unknowns {
 public:
  // Keeps references to all three.
  Unknowns(const plan::Decisions&, const plan::ModelInfo&, const Judge&, TrackedSolver&);

  // Where open values set sizes of the model: what has to divide at the sizes that these set; others than these sizes.
  void add_sizes(const plan::OpenValues&, const plan::ModelInfo& of_these_sizes);
  z3::expr other_sizes(const plan::OpenValues&) const;

  bool some_untried() const { return ranged_; }  // values below 0 or very large ones, of what nothing bounds
  plan::OpenValues values() const;               // after a check that said yes
  z3::expr other_than(const plan::OpenValues&) const;
  // The same of one of them; nothing: other values of it would be the same plan.
  std::optional<z3::expr> other_than(const std::string& name, const plan::OpenValue&) const;

 private:
  void number(const std::string& word);
  void add_domain(const plan::OpenVariable&);
  void add_places(const plan::OpenVariable&);
  bool is_place(const plan::OpenVariable&) const;
  void add_set(const std::vector<int>& lines, const z3::expr&, const std::vector<std::int64_t>& values,
               const std::optional<z3::expr>& otherwise = {});
  void add_grid(const plan::GridInfo&);
  plan::OpenValues sizing(const plan::OpenValues&) const;
  void add_divisibility(const plan::ModelInfo&, const z3::expr& otherwise);
  void add_product(const Product&, const z3::expr& otherwise);
  const std::string* open_name(int axis) const;
  std::int64_t grid_count(const plan::GridInfo&) const;
  void add_range(const plan::OpenVariable&);

  const plan::Decisions& decisions_;
  const Judge& judge_;
  TrackedSolver& solver_;
  Variables variables_;
  Words words_;
  bool ranged_ = false;
  std::set<std::string> means_something_;  // names: more than rows over numbers speak of them
  std::set<std::string> sizing_;           // names: they set sizes of the model
  std::set<plan::OpenValues> sized_;       // values of these whose sizes are known
  std::vector<std::string> spelled_;       // by number: that of spelled_[i] is -1 - i
};

}  // namespace planscope::constraint
