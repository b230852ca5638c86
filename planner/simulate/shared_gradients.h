#pragma once
// Gradients that are one tensor. The backward of a sum hands the gradient that it is given on to its operands as it is, so
// several values of a Program have one memory: it is there until the last of them is freed. (A residual connection has two;
// where gradients of parameters come much later, under `grad_split`, both are there for long.)
//
//   const SharedGradients shared(program, first_backward);
//   shared.holder(v);     // the value whose memory v has: v itself, unless it is handed on
//   shared.values(h);     // how many values have the memory of h; 1: it alone
#include <functional>
#include <vector>

#include "engine/program/program.h"
#include "planner/simulate/working_set.h"

namespace planscope {

class SharedGradients {
 public:
  // `set_of`: of a backward, what it needs and hands on. `apart`: values that are freed by something else than one `free`.
  SharedGradients(const Program&, const std::function<const BackwardSet&(const Segment&, const Instruction&)>& set_of,
                  const std::vector<bool>& apart);

  ProgramValueId holder(ProgramValueId v) const { return holder_[static_cast<std::size_t>(v)]; }
  int values(ProgramValueId holder) const { return values_[static_cast<std::size_t>(holder)]; }

 private:
  std::vector<ProgramValueId> holder_;  // by value
  std::vector<int> values_;             // by value
};

}  // namespace planscope
