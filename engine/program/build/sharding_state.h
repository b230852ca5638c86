#pragma once
// How a tensor is held on one axis: split at parts of its dimensions, partial, or whole. What operators read and write under
// a binding, and what becomes of it. Internal to engine/program.
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/program/build/work.h"

namespace planscope::build {

struct Location {
  int dim = 0, part = 0;  // kByKey: split by `key`
  TensorId key = -1;
  bool operator==(const Location&) const = default;
};

struct Held {
  std::vector<std::pair<LogicalDigit, Location>> splits;
  std::vector<std::pair<LogicalDigit, PartialKind>> partials;
  bool whole() const { return splits.empty() && partials.empty(); }
  bool operator==(const Held&) const = default;
};

// In which an operand is read, or an output written (`input` -1), under a binding.
Held state(const Op&, const Operand&, int input, const AxisBinding&);
// Of the gradient that an operator gives for an operand.
Held contribution(const Op&, int input, const AxisBinding&);

bool has_prefix(const Held&);
// Every index has the block of its own number, and no other: what an operator can be asked to make.
bool in_own_blocks(const Held&);
Held with_own(Held);    // each index with the block of its own number alone
Held dual(const Held&);  // of the gradient of what is held so
// Partial over all digits of an axis of so many, each by itself, is partial over the axis.
Held joined(Held, std::int64_t size);

}  // namespace planscope::build
