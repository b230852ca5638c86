#pragma once
// The ways in which the audit cuts an operator, and what it does with the shards (rule_audit.h).
//
// A division binds one or two parts of factors to digits, as a Program's layouts do: an even digit of 2, a digit of 3 with
// sizes of its own, two nested digits of which the inner one is turned. Every shard is run on the
// regions that the layouts name (program.h: region()); of a keyed factor, on the rows whose key lies in its block.
#include <string>
#include <vector>

#include "engine/program/program.h"
#include "engine/runtime/audit_operator.h"

namespace planscope {

struct Cut {
  PartRef part;
  std::vector<Digit> digits;
};

struct Division {
  std::string name;  // `batch part 0 by 2 and out part 0 by 3 uneven`
  std::vector<Cut> cuts;
  std::vector<std::int64_t> axes;  // their sizes; an axis that turns a digit has one index, 1
};

// Every part of every factor that is not frozen by itself, and pairs of them.
std::vector<Division> divisions(const AuditedOperator&);

// Calls differs(what, error) for outputs and gradients that the shards do not make as the whole operator does.
using Differs = std::function<void(const std::string& what, double error)>;
void compare_shards(const AuditedOperator&, const Division&, const Differs&);

// Blocks of the factor that limits this one (Factor::until), each with no more of this one than it can need.
void compare_prefixes(const AuditedOperator&, int factor, std::int64_t shards, const Differs&);

// Operands of a linear set as sums of two addends: the results must add up.
void compare_addends(const AuditedOperator&, const std::vector<int>& set, const Differs&);

}  // namespace planscope
