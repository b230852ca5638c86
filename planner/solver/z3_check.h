#pragma once
// A check by Z3 that ends when the deadline does: by Z3's own time-out, by an interrupt when somebody asks to stop, by the
// count of its steps where work is limited (of which the deadline has less then).
#include <z3++.h>

#include "planner/solver/deadline.h"

namespace planscope {

// Once, before the first check: what is the same for all of them. (Z3 goes through some hundred parameters whenever a solver is
// given any, which takes longer than many a check.)
void prepare(z3::solver&);

z3::check_result check_until(z3::solver&, const z3::expr_vector& assumptions, const Deadline&);

}  // namespace planscope
