#pragma once
// Plan to text, one statement a line, in one fixed form. parse(print(x)) == x for every x that the parser can make;
// comments, blank lines and lines that did not parse are kept.
#include <string>

#include "engine/plan/plan.h"

namespace planscope::plan {

std::string print(const Plan&);
std::string print(const Statement&);       // a template: several lines; without the last newline, with its comment
std::string print_code(const Statement&);  // without its comment: what diagnostics call the statement

std::string print(const Expression&);
std::string print(const Condition&);
std::string print(const Group&);
std::string print(const Units&);
std::string print(const Path&);
std::string print(const Place&);
std::string print(const Choice&);

}  // namespace planscope::plan
