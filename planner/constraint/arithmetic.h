#pragma once
// Conditions of the plan language as Z3 terms. Division and remainder round down, as the language's do; a condition with
// a divisor of zero does not hold.
#include <z3++.h>

#include <map>
#include <optional>
#include <string>

#include "engine/plan/expression.h"

namespace planscope::constraint {

using Variables = std::map<std::string, z3::expr>;  // by name, without the question mark
using Words = std::map<std::string, std::int64_t>;  // factors and grids as numbers below zero

// Nothing: it holds something that is no integer or word over these variables.
std::optional<z3::expr> to_term(const plan::Condition&, const Variables&, const Words&, z3::context&);

}  // namespace planscope::constraint
