#pragma once
// Whole numbers and linear sums over booleans for Z3's finite-domain solver.
#include <z3++.h>

#include <cstdint>
#include <string>
#include <vector>

namespace planscope::schedule {

// A number within [low, high()], in order encoding: atleast[i] is "more than low + i".
struct Ordered {
  std::int64_t low = 0;
  std::vector<z3::expr> atleast;
  std::int64_t high() const { return low + static_cast<std::int64_t>(atleast.size()); }
};

Ordered ordered(z3::solver&, const std::string& name, std::int64_t low, std::int64_t high);
z3::expr at_least(z3::context&, const Ordered&, std::int64_t);  // the number is at least that
std::int64_t value(const z3::model&, const Ordered&);

class Sum {
 public:
  void add(const z3::expr& literal, std::int64_t factor);
  void add(const Ordered&, std::int64_t factor);
  void add(std::int64_t constant) { constant_ += constant; }
  z3::expr at_most(z3::context&, std::int64_t most) const;

 private:
  std::int64_t constant_ = 0;
  std::vector<z3::expr> literals_;
  std::vector<std::int64_t> factors_;
};

}  // namespace planscope::schedule
