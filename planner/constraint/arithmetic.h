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

// Nothing: it holds something that is no integer over these variables.
std::optional<z3::expr> to_term(const plan::Condition&, const Variables&, z3::context&);

}  // namespace planscope::constraint
