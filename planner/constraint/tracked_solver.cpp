#include "planner/constraint/tracked_solver.h"

#include <algorithm>

#include "planner/solver/z3_check.h"

namespace planscope::constraint {
TrackedSolver::TrackedSolver(const Deadline& deadline) : deadline_(deadline), solver_(context_) {
  z3::params p(context_);
  p.set("random_seed", 0u);
  solver_.set(p);
}

z3::expr TrackedSolver::literal(int line) {
  const auto found = literals_.find(line);
  if (found != literals_.end()) return found->second;
  return literals_.emplace(line, context_.bool_const(("line " + std::to_string(line)).c_str())).first->second;
}

void TrackedSolver::add(const std::vector<int>& lines, const z3::expr& fact) {
  z3::expr guard = context_.bool_val(true);
  for (int line : lines) guard = guard && literal(line);
  solver_.add(lines.empty() ? fact : z3::implies(guard, fact));
}

Answer TrackedSolver::check() {
  z3::expr_vector assumptions(context_);
  for (const auto& [line, literal] : literals_) assumptions.push_back(literal);
  const z3::check_result answer = check_until(solver_, assumptions, deadline_);
  if (answer == z3::sat) {
    model_.emplace(solver_.get_model());
    return Answer::yes;
  }
  if (answer == z3::unknown) return Answer::unknown;
  core_.clear();
  const z3::expr_vector core = solver_.unsat_core();
  for (unsigned i = 0; i < core.size(); ++i)
    for (const auto& [line, literal] : literals_)
      if (z3::eq(literal, core[static_cast<int>(i)])) core_.push_back(line);
  std::sort(core_.begin(), core_.end());
  return Answer::no;
}

std::int64_t TrackedSolver::value(const z3::expr& integer) const {
  return model_->eval(integer, true).get_numeral_int64();
}

bool TrackedSolver::holds(const z3::expr& boolean) const { return model_->eval(boolean, true).is_true(); }

}  // namespace planscope::constraint
