#pragma once
// Where the memory of a value may become that of another. Whoever runs or predicts a Program asks the same question and
// so counts the same bytes.
//
//   issue all_reduce g -> s; wait s; free g      Reuse(p).takes_operands(segment, 0): s takes the memory of g
//   issue reduce_scatter g -> s; wait s; free g  so does the message; on its way, g is gone
#include "engine/program/program.h"

namespace planscope {

// No later instruction of the segment reads the value, and a `free` ends it there. The wait of what was issued from it
// is part of the issue.
bool is_last_reader(const Segment&, std::size_t instruction, ProgramValueId);

class Reuse {
 public:
  explicit Reuse(const Program&);

  // An all_reduce or reduce_scatter of gradients that nothing else reads: in its segment, or, where the wait stands in
  // another one, at all. (A value of the forward pass may be what autograd has saved.)
  bool takes_operands(const Segment&, std::size_t instruction) const;

 private:
  const Program& program_;
  std::vector<int> readers_;  // by value: instructions that read it, apart from `free`
  std::vector<bool> ends_;    // by value: one frees it
};

}  // namespace planscope
