#pragma once
// Whether a Program can be read without stepping out of any list: every index, size and count is in bounds, references
// fit what they refer to (a slot's tensor is that of the operand that it is given to), lists that are kept sorted are.
// It says nothing about whether the Program computes the model: that is planner/verify.
//
// Gives the first few problems, empty if there is none. Linear in the Program.
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/program/program.h"

namespace planscope {

std::vector<Diagnostic> check_structure(const Program&, const Graph&);

}  // namespace planscope
