#pragma once
// Text to Plan. A line that does not parse gives one diagnostic and stays in the plan as UnparsedStatement; the others
// are parsed, so that a plan comes with all its errors at once. Only the form is checked here: whether names mean
// anything is bind's to say.
//
//   Result<Plan> p = parse_plan("trans * batch by data\n", "a.plan");
//
// Errors: `a.plan:1: tran * batch by data: unknown statement 'tran'. Did you mean 'trans'?`
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/plan/plan.h"

namespace planscope::plan {

Result<Plan> parse_plan(std::string_view text, std::string file = {});

// One line; `auto`, `where` and a comment may be there. Not for templates, which take several.
Result<Statement> parse_statement(std::string_view line);
Result<Expression> parse_expression(std::string_view text);

// The words of the language that stand in one place, each with what it says, for those who write plans.
struct Word {
  std::string_view text, about;
};
std::vector<Word> statement_words();  // that begin a line; with the `end` of a template
std::vector<Word> algorithm_words();  // of `trans SELECTION …`, where there is no factor

// Expressions, selections and statements nest at most this deep.
constexpr int max_nesting = 50;
constexpr int max_operations = 500;  // + - * / % in one line

}  // namespace planscope::plan
