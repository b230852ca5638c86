#include "planner/search/schedule/order_encoded.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace planscope::schedule {

Ordered ordered(z3::solver& solver, const std::string& name, std::int64_t low, std::int64_t high) {
  Ordered out{low, {}};
  for (std::int64_t v = low + 1; v <= high; ++v) {
    out.atleast.push_back(solver.ctx().bool_const((name + ">=" + std::to_string(v)).c_str()));
    if (v > low + 1) solver.add(z3::implies(out.atleast.back(), out.atleast[out.atleast.size() - 2]));
  }
  return out;
}

z3::expr at_least(z3::context& context, const Ordered& x, std::int64_t v) {
  if (v <= x.low) return context.bool_val(true);
  if (v > x.high()) return context.bool_val(false);
  return x.atleast[static_cast<std::size_t>(v - x.low - 1)];
}

std::int64_t value(const z3::model& m, const Ordered& x) {
  std::int64_t v = x.low;
  for (const z3::expr& l : x.atleast) v += m.eval(l, true).is_true() ? 1 : 0;
  return v;
}

void Sum::add(const z3::expr& literal, std::int64_t factor) {
  if (factor == 0 || literal.is_false()) return;
  if (literal.is_true()) {
    constant_ += factor;
    return;
  }
  literals_.push_back(literal);
  factors_.push_back(factor);
}

void Sum::add(const Ordered& number, std::int64_t factor) {
  constant_ += factor * number.low;
  for (const z3::expr& l : number.atleast) add(l, factor);
}

// Z3 wants factors above 0 that fit an int: what is negative counts where its literal is false, and factors are divided by what
// divides them all.
z3::expr Sum::at_most(z3::context& context, std::int64_t most) const {
  std::int64_t room = most - constant_, divisor = 0, total = 0;
  for (std::int64_t f : factors_) {
    if (f < 0) room -= f;
    total += std::abs(f);
    divisor = std::gcd(divisor, std::abs(f));
  }
  if (room < 0) return context.bool_val(false);
  if (total <= room) return context.bool_val(true);
  z3::expr_vector literals(context);
  std::vector<int> factors;
  for (std::size_t i = 0; i < literals_.size(); ++i) {
    literals.push_back(factors_[i] > 0 ? literals_[i] : !literals_[i]);
    factors.push_back(static_cast<int>(std::abs(factors_[i]) / divisor));
  }
  return z3::pble(literals, factors.data(), static_cast<int>(room / divisor));
}

}  // namespace planscope::schedule
