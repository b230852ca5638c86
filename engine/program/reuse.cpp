#include "engine/program/reuse.h"

#include <algorithm>

namespace planscope {

bool is_last_reader(const Segment& segment, std::size_t instruction, ProgramValueId value) {
  for (std::size_t i = instruction + 1; i < segment.instructions.size(); ++i) {
    const Instruction& later = segment.instructions[i];
    if (std::find(later.in.begin(), later.in.end(), value) != later.in.end()) return later.code == Code::free;
  }
  return false;
}

bool reduces_in_place(const Program& program, const Segment& segment, std::size_t instruction) {
  const Instruction& i = segment.instructions[instruction];
  if (i.code != Code::issue || i.move.kind != MoveKind::all_reduce || i.move.reduce != PartialKind::sum) return false;
  const ProgramValueId operand = i.in[0];
  return program.values[static_cast<std::size_t>(operand)].role == Role::gradient &&
         is_last_reader(segment, instruction, operand);
}

}  // namespace planscope
