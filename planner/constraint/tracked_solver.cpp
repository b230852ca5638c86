#include "planner/constraint/tracked_solver.h"

#include <algorithm>

#include "planner/solver/z3_check.h"

namespace planscope::constraint {

TrackedSolver::TrackedSolver() : solver_(context_) { prepare(solver_); }

z3::expr TrackedSolver::literal(int line) {
  const auto found = literals_.find(line);
  if (found != literals_.end()) return found->second;
  return literals_.emplace(line, context_.bool_const(("line " + std::to_string(line)).c_str())).first->second;
}

void TrackedSolver::add(const std::vector<int>& lines, const z3::expr& fact) {
  z3::expr_vector guard(context_);
  for (int line : lines) guard.push_back(literal(line));
  solver_.add(lines.empty() ? fact : z3::implies(z3::mk_and(guard), fact));
}

Answer TrackedSolver::check(const Deadline& deadline, const std::function<bool(int line)>& counts) {
  z3::expr_vector assumptions(context_);
  std::map<unsigned, int> line_of;  // by the literal's id
  for (const auto& [line, literal] : literals_) {
    if (!counts(line)) continue;
    assumptions.push_back(literal);
    line_of[literal.id()] = line;
  }
  const z3::check_result answer = check_until(solver_, assumptions, deadline);
  if (answer == z3::sat) {
    model_.emplace(solver_.get_model());
    return Answer::yes;
  }
  if (answer == z3::unknown) return Answer::unknown;
  core_.clear();
  const z3::expr_vector core = solver_.unsat_core();
  for (unsigned i = 0; i < core.size(); ++i) core_.push_back(line_of.at(core[static_cast<int>(i)].id()));
  std::sort(core_.begin(), core_.end());
  return Answer::no;
}

std::int64_t TrackedSolver::value(const z3::expr& integer) const {
  return model_->eval(integer, true).get_numeral_int64();
}

}  // namespace planscope::constraint
