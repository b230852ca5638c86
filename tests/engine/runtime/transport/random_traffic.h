#pragma once
// Random communication that every rank derives from one number: kinds, groups, shapes and types of operations, many
// under way at once, waited for in an order of each rank's own. Every result is compared, bit by bit, with what a plain
// computation over the values of all members gives.
#include <ATen/ATen.h>

#include "engine/runtime/transport.h"

class Checks {
 public:
  void same(const at::Tensor& got, const at::Tensor& expected, const std::string& what);  // bit by bit
  int count() const { return count_; }
  int wrong() const { return wrong_; }

 private:
  int count_ = 0;
  int wrong_ = 0;
};

void check_random(planscope::Transport&, std::uint64_t seed, Checks&);
