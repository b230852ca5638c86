#pragma once
// Sizes that divide together: axes that cut one part of a factor split it into as many blocks as the product of their sizes,
// which has to divide the size of the factor (PLAN_LANGUAGE.md, `trans`).
//
//   // axis mb=?m, devices 64 as data=?d tensor=?t, trans * batch by mb, data, a batch of 64:
//   products(open_decisions, model)      // {{3}, {mb, data}, 1, 64}: ?m * ?d divides 64
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::constraint {

struct Product {
  std::vector<int> lines;     // the statements that cut, ascending
  std::vector<int> axes;      // of open sizes, into Decisions::axes, ascending
  std::int64_t constant = 1;  // product of the sizes that are known
  std::int64_t size = 0;      // what it divides
  bool operator==(const Product&) const = default;
  auto operator<=>(const Product&) const = default;
};

// Each once, in no certain order; as far as it can be said before values are known.
std::vector<Product> products(const plan::Decisions&, const plan::ModelInfo&);

// Nothing that waits for a value splits, and every place has all axes: the names of those that places may fix. Nothing: it is
// not so.
std::optional<std::set<std::string>> fixed_later(const plan::Decisions&);

}  // namespace planscope::constraint
