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

Reuse::Reuse(const Program& program)
    : program_(program), readers_(program.values.size(), 0), ends_(program.values.size(), false) {
  for (const Segment& s : program.segments)
    for (const Instruction& i : s.instructions)
      for (const ProgramValueId v : i.in) {
        if (v < 0) continue;
        if (i.code == Code::free)
          ends_[static_cast<std::size_t>(v)] = true;
        else
          ++readers_[static_cast<std::size_t>(v)];
      }
}

bool Reuse::takes_operands(const Segment& segment, std::size_t instruction) const {
  const Instruction& i = segment.instructions[instruction];
  const bool reduction = i.move.kind == MoveKind::all_reduce || i.move.kind == MoveKind::reduce_scatter;
  if (i.code != Code::issue || !reduction || i.move.reduce != PartialKind::sum) return false;
  return std::all_of(i.in.begin(), i.in.end(), [&](ProgramValueId operand) {
    const auto v = static_cast<std::size_t>(operand);
    const ProgramValue& value = program_.values[v];
    if (value.role != Role::gradient) return false;
    const bool alone =
        readers_[v] == 1 && ends_[v] && (i.last ? value.indexed.empty() : value.indexed == segment.free_axes);
    return alone || is_last_reader(segment, instruction, operand);
  });
}

}  // namespace planscope
