#pragma once
// Copies of statements with some expressions or names replaced: values for open arguments, arguments for parameters.
#include <functional>
#include <optional>
#include <string>

#include "engine/plan/plan.h"

namespace planscope::plan {

// What a name stands for where it is written.
enum class NameUse : std::uint8_t {
  root,     // the first component of a path
  word,     // a factor or an axis behind `trans`, `by`; with its `?` if it has one
  axis,     // `pipe=…`, `[mb=…]`
  place,    // `assign … to all`
  call,     // the name of a function
  defined,  // by let, axis, grid
};

struct Rewrite {
  // Asked for every expression, outermost first; an answer replaces it and is not looked into.
  std::function<std::optional<Expression>(const Expression&)> expression;
  std::function<std::string(const std::string&, NameUse)> name;  // may be empty: names stay
};

Expression rewrite(const Expression&, const Rewrite&);
Condition rewrite(const Condition&, const Rewrite&);
Group rewrite(const Group&, const Rewrite&);
Units rewrite(const Units&, const Rewrite&);
Place rewrite(const Place&, const Rewrite&);
Statement rewrite(const Statement&, const Rewrite&);  // the body of a template stays as it is

// Replaces names that are variables or parameters.
Expression substitute(const Expression&, const std::map<std::string, Expression>&);
Condition substitute(const Condition&, const std::map<std::string, Expression>&);
Group substitute(const Group&, const std::map<std::string, Expression>&);

}  // namespace planscope::plan
