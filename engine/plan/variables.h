#pragma once
// Finite sets of integer variables given by conditions: `S[i]` holds for every i that S has, `f(S[i])[m+2]` for every m
// for which the task exists. Values are found by interval arithmetic and bisection, so any expression will do; a set
// without end, or a huge one, is recognized and refused.
//
//   // all (d, k) with 0 <= d < 4 and 0 <= k/2 < 3
//   Problem p{{"d", "k"}, conditions, {{{d, 4}, {k_over_2, 3}}}, 1};
//   enumerate(p, [](const std::vector<std::int64_t>& value) { … return true; });
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/expression.h"

namespace planscope::plan {

// 0 <= index < size
struct Bounded {
  Expression index;
  std::int64_t size = 0;
};

struct Problem {
  std::vector<std::string> variables;
  std::vector<Condition> conditions;           // all hold
  std::vector<std::vector<Bounded>> families;  // at least `least` of these have all their bounds kept
  std::size_t least = 0;
  std::size_t limit = 100'000;  // values to give; boxes to look at are limited in proportion
};

enum class Enumeration { done, unbounded, too_many, stopped };

// Values in ascending order, first variable major. `visit` returns false to stop.
Enumeration enumerate(const Problem&, const std::function<bool(const std::vector<std::int64_t>&)>& visit);

// Names in an expression that are variables: all names outside |…| and calls.
void collect_variables(const Expression&, std::vector<std::string>& into);  // sorted, without repeats
void collect_variables(const Condition&, std::vector<std::string>& into);

// The value of an expression whose names are the variables; an error if there are other leaves.
Number value_of(const Expression&, const std::vector<std::string>& variables, const std::vector<std::int64_t>& values);

// Constant parts replaced by their value; what has none (division by zero, overflow) stays.
Expression folded(const Expression&);
Condition folded(const Condition&);

}  // namespace planscope::plan
