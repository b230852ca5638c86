#include "planner/simulate/unfreed.h"

#include <set>
#include <utility>

namespace planscope {

Unfreed unfreed(const Program& program, const DeviceClass& c, Instances& instances) {
  std::vector<char> ends(program.values.size(), 0);  // or stands all the time
  for (std::size_t v = 0; v < ends.size(); ++v)
    ends[v] = program.values[v].role == Role::home || program.values[v].role == Role::state;
  std::set<PieceId> with_backward;
  for (const Segment& s : program.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code == Code::backward) with_backward.insert(i.piece);
      if (i.code != Code::free) continue;
      for (const ProgramValueId v : i.in)
        if (v >= 0) ends[static_cast<std::size_t>(v)] = 1;
    }
  Unfreed out;
  std::set<std::pair<ProgramValueId, std::int64_t>> made;  // by several instructions, an issue and its wait for one
  for (const SlotRun& run : period(c)) {
    const Segment& s = program.segments[static_cast<std::size_t>(run.segment)];
    for (const Instruction& i : s.instructions) {
      const bool keeps = i.code == Code::replay || (i.code == Code::compute && i.keep);
      if (keeps && !with_backward.contains(i.piece)) out.pieces.push_back(i.piece);
      for (const ProgramValueId v : i.out) {
        if (v < 0 || ends[static_cast<std::size_t>(v)]) continue;
        if (made.emplace(v, instance_of(instances.of_value(s, v), run.index)).second) out.values.push_back(v);
      }
    }
  }
  return out;
}

}  // namespace planscope
