#pragma once
// The argument values that a rule was written for. A rule *states* an argument by reading it (RuleContext), by saying that
// it holds for any value of it (RuleContext::any), or in the clause `arguments` of its line (rule_text.h). Every other
// argument has to have the default value of the operator's schema; else the rule does not hold, and the operator is whole.
//
//   aten::embedding : weight v d, indices i.. -> i.. d ; … ; arguments padding_idx
//   embedding(w, i, padding_idx=3)               the rule holds
//   embedding(w, i, scale_grad_by_freq=true)     unstated_value: "scale_grad_by_freq=true"
//
// Arguments that change no number are left out: layout, device, memory format, generator, and whether memory is shared.
#include <optional>
#include <set>
#include <string>

#include "engine/graph/model.h"

namespace planscope {

using StatedArguments = std::set<std::string, std::less<>>;

// The first argument, with its value, that the rule does not state and that is not at its default. Nothing where there is
// none, and for operators that no schema describes.
std::optional<std::string> unstated_value(const Node&, const StatedArguments&);

// Whether the operator's schema has such an argument; true where no schema is known.
bool has_argument(const std::string& target, std::string_view argument);

}  // namespace planscope
