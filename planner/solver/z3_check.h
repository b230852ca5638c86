#pragma once
// A check by Z3 that ends when the deadline does: by Z3's own time-out, by an interrupt when somebody asks to stop, by the
// count of its steps where work is limited (of which the deadline has less then).
#include <z3++.h>

#include "planner/solver/deadline.h"

namespace planscope {

z3::check_result check_until(z3::solver&, const z3::expr_vector& assumptions, const Deadline&);

}  // namespace planscope
