// Where values end: after the last instruction that names them, if it stands in a segment with the value's own free axes
// (or in the last run of one, if the value has none); where loops inside read it last, ahead of what comes behind these
// loops in the same task, or of what makes its contents again, or with the step, if nothing does. A value that is read in several segments ends in the last of them;
// what the schedule must respect for that is in Work::p by the free's position (make_schedule orders readers before it).
#include <algorithm>

#include "engine/program/bucket.h"
#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

struct LastUse {
  SegmentId segment = -1;
  int instruction = -1;
};

constexpr int kAhead = -1;  // of a segment's instructions

bool reads_of(const Segment& to, const Segment& from) {
  const auto made = [&](ProgramValueId v) {
    return v >= 0 && std::any_of(from.instructions.begin(), from.instructions.end(), [v](const Instruction& i) {
             return std::find(i.out.begin(), i.out.end(), v) != i.out.end();
           });
  };
  return std::any_of(to.instructions.begin(), to.instructions.end(),
                     [&](const Instruction& i) { return std::any_of(i.in.begin(), i.in.end(), made); });
}

// The first segment behind `s` in the same tasks that runs once for every index of a value; -1: none. Where that is once, it
// reads what the loops have made: then they are inside of one task.
SegmentId behind_loops(const Program& p, SegmentId s, const AxisSet& indexed) {
  const Segment& from = p.segments[static_cast<std::size_t>(s)];
  if (!std::includes(from.free_axes.begin(), from.free_axes.end(), indexed.begin(), indexed.end())) return -1;
  for (SegmentId t = s + 1; t < static_cast<SegmentId>(p.segments.size()); ++t) {
    const Segment& to = p.segments[static_cast<std::size_t>(t)];
    if (to.place != from.place || to.phase != from.phase || to.name != from.name || to.free_axes != indexed) continue;
    return indexed.empty() && !reads_of(to, from) ? -1 : t;
  }
  return -1;
}

}  // namespace

bool insert_frees(Work& w) {
  Program& p = w.p;
  std::vector<LastUse> last(p.values.size());
  std::vector<bool> ends(p.values.size(), true);
  for (std::size_t v = 0; v < p.values.size(); ++v)
    if (p.values[v].role == Role::home || p.values[v].role == Role::state || static_cast<ProgramValueId>(v) == p.loss)
      ends[v] = false;
  std::vector<const Instruction*> runs(p.pieces.size(), nullptr);  // of the forward pass
  std::map<ProgramValueId, ProgramValueId> refilled;               // value -> what holds its contents again
  std::map<ProgramValueId, LastUse> made_again;                    // value -> ahead of what makes its contents again first
  std::map<ProgramValueId, std::span<const ProgramValueId>>
      under_way;  // result of an issue -> operands, read until the wait
  for (SegmentId s = 0; s < static_cast<SegmentId>(p.segments.size()); ++s) {
    const auto& list = p.segments[static_cast<std::size_t>(s)].instructions;
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      const Instruction& instruction = list[static_cast<std::size_t>(i)];
      if (instruction.code == Code::issue)
        for (std::size_t k = 0; k < instruction.out.size(); ++k)
          under_way[instruction.out[k]] = operands_of(instruction, k);
      if (instruction.code == Code::wait)
        for (const ProgramValueId out : instruction.out)
          if (const auto it = under_way.find(out); it != under_way.end())
            for (const ProgramValueId v : it->second) last[static_cast<std::size_t>(v)] = {s, i};
      if (instruction.code == Code::compute) runs[static_cast<std::size_t>(instruction.piece)] = &instruction;
      for (const ProgramValueId v : instruction.out)
        if (v >= 0 && p.values[static_cast<std::size_t>(v)].refills >= 0) {
          refilled[p.values[static_cast<std::size_t>(v)].refills] = v;
          made_again.try_emplace(p.values[static_cast<std::size_t>(v)].refills, LastUse{s, i - 1});
        }
      if (instruction.code == Code::backward && runs[static_cast<std::size_t>(instruction.piece)])
        for (const ProgramValueId v : runs[static_cast<std::size_t>(instruction.piece)]->in)
          if (const auto it = refilled.find(v); it != refilled.end())
            last[static_cast<std::size_t>(it->second)] = {s, i};
      const auto use = [&](ProgramValueId v) {
        if (v >= 0) last[static_cast<std::size_t>(v)] = {s, i};
      };
      for (const ProgramValueId v : instruction.in) use(v);
      for (const ProgramValueId v : instruction.out) use(v);
    }
  }
  std::vector<std::vector<std::pair<int, ProgramValueId>>> frees(p.segments.size());
  std::map<std::pair<SegmentId, AxisSet>, SegmentId> behind;
  for (std::size_t v = 0; v < p.values.size(); ++v) {
    if (!ends[v] || last[v].segment < 0) continue;
    const Segment& s = p.segments[static_cast<std::size_t>(last[v].segment)];
    const bool once = s.instructions[static_cast<std::size_t>(last[v].instruction)].last;
    if (s.place != p.values[v].place) continue;
    if ((once ? AxisSet{} : s.free_axes) != p.values[v].indexed) {
      const auto [known, fresh] = behind.try_emplace({last[v].segment, p.values[v].indexed}, -1);
      if (fresh) known->second = behind_loops(p, last[v].segment, p.values[v].indexed);
      last[v] = {known->second, kAhead};
      if (const auto again = made_again.find(static_cast<ProgramValueId>(v)); last[v].segment < 0 && again != made_again.end())
        last[v] = again->second;
      if (last[v].segment < 0) continue;
    }
    frees[static_cast<std::size_t>(last[v].segment)].emplace_back(last[v].instruction, static_cast<ProgramValueId>(v));
  }
  for (std::size_t s = 0; s < p.segments.size(); ++s) {
    if (frees[s].empty()) continue;
    std::sort(frees[s].begin(), frees[s].end());
    std::vector<Instruction> out;
    std::size_t next = 0;
    auto& list = p.segments[s].instructions;
    for (int i = kAhead; i < static_cast<int>(list.size()); ++i) {
      if (i != kAhead) out.push_back(std::move(list[static_cast<std::size_t>(i)]));
      Instruction f;
      f.code = Code::free;
      f.last = i != kAhead && out.back().last;
      while (next < frees[s].size() && frees[s][next].first == i) f.in.push_back(frees[s][next++].second);
      if (!f.in.empty()) out.push_back(std::move(f));
    }
    list = std::move(out);
  }
  return true;
}

}  // namespace planscope::build
