#include "app/workbench/measured_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace planscope {

namespace {

Nanoseconds ns(double us) { return static_cast<Nanoseconds>(std::llround(us * 1000)); }

Diagnostic misfit(std::string why) {
  return error("what the run measured does not fit its plan", std::move(why), "run the plan again");
}

// The instructions of a device class in the order in which a rank numbers them.
struct Numbered {
  int slot = 0, instruction = 0;
};
std::vector<Numbered> numbered(const Program& program, const std::vector<SlotRun>& slots) {
  std::vector<Numbered> out;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const std::size_t count = program.segments[static_cast<std::size_t>(slots[s].segment)].instructions.size();
    for (std::size_t i = 0; i < count; ++i) out.push_back({static_cast<int>(s), static_cast<int>(i)});
  }
  return out;
}

// As the worker names what it has measured.
std::string kind_of(const Instruction& i) {
  return std::string(i.code == Code::issue || i.code == Code::local ? to_string(i.move.kind) : to_string(i.code));
}

struct Times {
  double start = 0, duration = 0;  // sums over ranks
  int ranks = 0;
};

class OneClass {
 public:
  OneClass(const Program& program, std::size_t c)
      : program_(program),
        slots_(period(program.classes[c])),
        numbered_(numbered(program, slots_)),
        times_(numbered_.size()) {}

  Result<Done> add(const std::vector<SpanRow>& spans, double zero) {
    for (const SpanRow& s : spans) {
      if (s.instruction < 0 || s.instruction >= static_cast<std::int64_t>(numbered_.size()))
        return misfit("rank " + std::to_string(s.rank) + " ran instruction " + std::to_string(s.instruction) + " of " +
                      std::to_string(numbered_.size()));
      const auto n = static_cast<std::size_t>(s.instruction);
      if (const std::string kind = kind_of(at(n)); kind != s.kind)
        return misfit("instruction " + std::to_string(s.instruction) + " of rank " + std::to_string(s.rank) + " is " +
                      kind + ", and it ran " + s.kind);
      times_[n].start += s.start_us - zero;
      times_[n].duration += s.dur_us;
      ++times_[n].ranks;
    }
    return Done{};
  }

  ClassTimeline timeline() const {
    ClassTimeline t;
    for (const SlotRun& s : slots_) t.slots.push_back({s.segment, row_major(s), 0, 0, s.ahead});
    std::vector<bool> begun(slots_.size());
    for (std::size_t n = 0; n < times_.size(); ++n) {
      if (times_[n].ranks == 0) continue;
      InstructionBlock b;
      b.slot = numbered_[n].slot, b.instruction = numbered_[n].instruction;
      b.start = ns(times_[n].start / times_[n].ranks);
      b.end = b.start + ns(times_[n].duration / times_[n].ranks);
      const Code code = at(n).code;
      const auto s = static_cast<std::size_t>(b.slot);
      if (!computes(code)) {
        b.stream = code == Code::send || code == Code::receive ? Stream::transfer : Stream::collective;
        (b.stream == Stream::transfer ? t.transfer : t.collective) += b.end - b.start;
        t.communication.push_back(b);
        continue;
      }
      if (!begun[s]) t.slots[s].start = b.start;
      begun[s] = true;
      t.slots[s].end = b.end;
      t.compute += b.end - b.start;
      t.instructions.push_back(b);
    }
    return t;
  }

 private:
  const Instruction& at(std::size_t n) const {
    const SlotRun& slot = slots_[static_cast<std::size_t>(numbered_[n].slot)];
    return program_.segments[static_cast<std::size_t>(slot.segment)]
        .instructions[static_cast<std::size_t>(numbered_[n].instruction)];
  }

  std::int64_t row_major(const SlotRun& s) const {
    const Segment& segment = program_.segments[static_cast<std::size_t>(s.segment)];
    std::int64_t out = 0;
    for (std::size_t k = 0; k < s.index.size(); ++k)
      out = out * program_.axes[static_cast<std::size_t>(segment.free_axes[k])].size + s.index[k];
    return out;
  }

  const Program& program_;
  std::vector<SlotRun> slots_;
  std::vector<Numbered> numbered_;
  std::vector<Times> times_;
};

}  // namespace

bool computes(Code c) { return c != Code::issue && c != Code::wait && c != Code::send && c != Code::receive; }

Result<Simulation> measured_step(const Program& program, const std::vector<SpanRow>& spans, double step_us) {
  std::vector<std::vector<SpanRow>> by_rank(static_cast<std::size_t>(program.device_count));
  for (const SpanRow& s : spans) {
    if (s.rank < 0 || s.rank >= program.device_count)
      return misfit("rank " + std::to_string(s.rank) + " has run, and the plan has " +
                    std::to_string(program.device_count) + " devices");
    by_rank[static_cast<std::size_t>(s.rank)].push_back(s);
  }
  double first = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    if (by_rank[r].empty()) return misfit("rank " + std::to_string(r) + " has measured nothing");
    std::sort(by_rank[r].begin(), by_rank[r].end(),
              [](const SpanRow& a, const SpanRow& b) { return a.start_us < b.start_us; });
    first = std::min(first, by_rank[r].front().start_us);
  }
  const bool overlapping = most_ahead(program) > 0;
  Simulation out;
  out.step_ns = ns(step_us);
  for (std::size_t c = 0; c < program.classes.size(); ++c) {
    OneClass one(program, c);
    const std::vector<int> ranks = devices(program, program.classes[c]);
    for (const int rank : ranks) {
      const std::vector<SpanRow>& mine = by_rank[static_cast<std::size_t>(rank)];
      if (const Result<Done> added = one.add(mine, overlapping ? first : mine.front().start_us); !added.ok())
        return added.diagnostics;
    }
    out.classes.push_back(one.timeline());
    out.classes.back().devices = static_cast<std::int64_t>(ranks.size());
  }
  return out;
}

}  // namespace planscope
