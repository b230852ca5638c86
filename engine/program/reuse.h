#pragma once
// Where the memory of a value may become that of another. Whoever runs or predicts a Program asks the same question and
// so counts the same bytes.
//
//   issue all_reduce g -> s; wait s; free g      reduces_in_place(p, segment, 0): s takes the memory of g
#include "engine/program/program.h"

namespace planscope {

// No later instruction of the segment reads the value, and a `free` ends it there. The wait of what was issued from it
// is part of the issue.
bool is_last_reader(const Segment&, std::size_t instruction, ProgramValueId);

// An all_reduce of a gradient that nothing else reads. (A value of the forward pass may be what autograd has saved.)
bool reduces_in_place(const Program&, const Segment&, std::size_t instruction);

}  // namespace planscope
