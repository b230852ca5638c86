#pragma once
// Templates: named lists of statements with parameters. `use NAME(args)` stands for them.
//
// Expansion replaces every `use` by the template's statements. A parameter becomes its argument: a plain name or a value
// directly, a selection through a `let` in front. Names that a template defines or leaves bare (its variables) are
// renamed where the plan has a let of that name, so nothing of the plan but the arguments, the axes and the grids is
// seen inside, and nothing of a template outside. A `where` behind `use` is added to every statement.
// Templates of the plan come before those that are built in; a template may use others, not itself.
//
//   use 1f1b(S)   =>   # use 1f1b(S)
//                      order f(S[i])[m+n-1-i] < b(S[i])[m] < f(S[i])[m+n-i] where n = |S|
//
// Errors: unknown template (did you mean), wrong number of arguments, a template that uses itself.
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/plan/plan.h"

namespace planscope::plan {

struct BuiltInTemplate {
  std::string name;
  std::vector<std::string> parameters;
  std::string about;  // the first sentence of the comment above it
  std::string text;   // its whole file: what it is, where it comes from, when to use it, what it costs
};
const std::vector<BuiltInTemplate>& built_in_templates();  // by name

// The plan with every `use` expanded, each behind a comment that shows it. Expanded statements have the line of the
// `use`. Parameters of the plan's own templates are checked when they are used.
Result<Plan> expand(const Plan&);

// As `expand`, for bind: without the comments, empty lines and template definitions.
Result<Plan> expand_statements(const Plan&);

}  // namespace planscope::plan
