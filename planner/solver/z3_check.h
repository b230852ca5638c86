#pragma once
// A check by Z3 that ends when the deadline does: by Z3's own time-out, and by an interrupt when somebody asks to stop.
#include <z3++.h>

#include "planner/solver/deadline.h"

namespace planscope {

z3::check_result check_until(z3::solver&, const z3::expr_vector& assumptions, const Deadline&);

}  // namespace planscope
