#include "planner/simulate/shared_gradients.h"

#include <numeric>

namespace planscope {

SharedGradients::SharedGradients(const Program& program,
                                 const std::function<const BackwardSet&(const Segment&, const Instruction&)>& set_of,
                                 const std::vector<bool>& apart)
    : holder_(program.values.size()), values_(program.values.size(), 1) {
  std::iota(holder_.begin(), holder_.end(), 0);
  std::vector<int> frees(program.values.size(), 0);
  for (const Segment& s : program.segments)
    for (const Instruction& i : s.instructions)
      if (i.code == Code::free)
        for (const ProgramValueId v : i.in)
          if (v >= 0) ++frees[static_cast<std::size_t>(v)];
  const auto ends_alone = [&](ProgramValueId v) {
    const auto k = static_cast<std::size_t>(v);
    return program.values[k].role == Role::gradient && frees[k] == 1 && !apart[k];
  };
  for (const Segment& s : program.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code != Code::backward) continue;
      for (const BackwardSet::HandedOn& h : set_of(s, i).handed_on) {
        const ProgramValueId from =
            h.given ? i.in[static_cast<std::size_t>(h.from)] : i.out[static_cast<std::size_t>(h.from)];
        const ProgramValueId to = i.out[static_cast<std::size_t>(h.leaf)];
        if (from < 0 || to < 0 || !ends_alone(from) || !ends_alone(to)) continue;
        const ProgramValue &a = program.values[static_cast<std::size_t>(from)],
                           &b = program.values[static_cast<std::size_t>(to)];
        if (a.indexed != b.indexed || a.place != b.place) continue;
        const ProgramValueId all = holder_[static_cast<std::size_t>(from)];
        holder_[static_cast<std::size_t>(to)] = all;
        ++values_[static_cast<std::size_t>(all)];
      }
    }
}

}  // namespace planscope
