#pragma once
// Tests what a rule says about the backward pass and about masks (rule_audit.h).
#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/audit_operator.h"

namespace planscope {

// Op::saves: after the forward pass every operand and result that backward is not said to read is overwritten; the gradients
// of the operands that have one in the model must come out all the same.
void compare_saves(const AuditedOperator&, const std::function<void(const std::string& what, double error)>& differs);

// Factor::until of an attention whose mask the model computes: computes the mask from drawn inputs (none hidden, all hidden,
// some hidden) and looks whether it hides every key behind its query. What does not: the mask's name. Nothing where there is
// no such mask, or where it is too large to compute here.
std::vector<std::string> masks_not_causal(const Graph&, OpId);

}  // namespace planscope
