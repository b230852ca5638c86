#include "app/workbench/communication_times.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace planscope {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

bool of_links(Stream s) { return s == Stream::collective || s == Stream::network || s == Stream::transfer; }

// A stretch between two instructions of the compute stream in which it stands still (one Gap of the simulation, or
// several of different causes), with the values that it waits for.
struct Standstill {
  Window time;
  std::vector<ProgramValueId> values;
};

class Times {
 public:
  Times(const Program& p, const Cluster& c, const Simulation& s, std::optional<Window> only)
      : p_(p),
        s_(s),
        background_(c.background),
        only_(only.value_or(Window{std::numeric_limits<Nanoseconds>::min(), std::numeric_limits<Nanoseconds>::max()})) {
    for (SegmentId of = 0; of < static_cast<SegmentId>(p.segments.size()); ++of)
      for (int k = 0; k < static_cast<int>(at(p.segments, of).instructions.size()); ++k) {
        const Instruction& i = at(at(p.segments, of).instructions, k);
        if (i.code == Code::issue || i.code == Code::receive)
          for (const ProgramValueId v : i.out) makers_[v] = {of, k};
      }
  }

  CommunicationTimes run() {
    for (const ClassTimeline& t : s_.classes)
      for (const InstructionBlock& b : t.communication)
        if (of_links(b.stream) && b.instruction < 0) out_.detailed = false;
    std::vector<std::vector<Standstill>> gaps;
    for (const ClassTimeline& t : s_.classes) gaps.push_back(out_.detailed ? standstills_of(t) : std::vector<Standstill>{});
    for (std::size_t c = 0; c < gaps.size(); ++c) {
      const ClassTimeline& t = s_.classes[c];
      std::map<std::pair<SegmentId, int>, std::vector<const InstructionBlock*>> blocks;  // of an `issue`, in order
      for (const InstructionBlock& b : t.communication)
        if (b.stream == Stream::collective || b.stream == Stream::network)
          blocks[{at(t.slots, b.slot).segment, b.instruction}].push_back(&b);
      for (const Standstill& gap : gaps[c]) {
        std::map<Stream, Nanoseconds> until;
        for (const ProgramValueId v : gap.values) {
          const auto [segment, k] = makers_.at(v);
          const Instruction& maker = at(at(p_.segments, segment).instructions, k);
          if (maker.code == Code::receive) arrivals_[maker.transfer].push_back(gap.time);
          const std::vector<const InstructionBlock*>& runs = blocks[{segment, k}];  // the last one that has begun
          const auto behind = std::partition_point(runs.begin(), runs.end(),
              [&](const auto* b) { return b->start < gap.time.to; });
          if (behind == runs.begin()) continue;
          const InstructionBlock& b = **(behind - 1);
          until[b.stream] = std::max(until[b.stream], std::min(gap.time.to, b.end));
        }
        for (const auto& [stream, end] : until)
          if (end > gap.time.from) waiting_[{static_cast<int>(c), stream}].push_back({gap.time.from, end});
      }
    }
    for (std::size_t c = 0; c < s_.classes.size(); ++c)
      for (const InstructionBlock& b : s_.classes[c].communication)
        if (of_links(b.stream) && b.end > b.start) add(static_cast<int>(c), b);
    return std::move(out_);
  }

 private:
  std::vector<Standstill> standstills_of(const ClassTimeline& t) const {
    std::vector<Standstill> out;
    Nanoseconds before = 0;
    int slot = 0, instruction = -1;  // of the last block
    for (const InstructionBlock& b : t.instructions) {
      if (b.stream != Stream::compute) continue;
      if (b.start > before) out.push_back(standstill(t, {before, b.start}, {slot, instruction}, {b.slot, b.instruction}));
      if (b.end >= before) before = b.end;
      slot = b.slot, instruction = b.instruction;
    }
    const int last = static_cast<int>(t.slots.size());
    if (t.makespan > before) out.push_back(standstill(t, {before, t.makespan}, {slot, instruction}, {last, 0}));
    return out;
  }

  // Between two instructions, each of a slot.
  Standstill standstill(const ClassTimeline& t, Window time, std::pair<int, int> from, std::pair<int, int> to) const {
    Standstill out{time, {}};
    for (int slot = from.first; slot <= to.first && slot < static_cast<int>(t.slots.size()); ++slot) {
      const std::vector<Instruction>& all = at(p_.segments, at(t.slots, slot).segment).instructions;
      const int size = static_cast<int>(all.size());
      const int begin = slot == from.first ? from.second + 1 : 0;
      const int end = slot == to.first ? std::min(to.second, size) : size;
      for (int k = begin; k < end; ++k)
        if (at(all, k).code == Code::wait)
          for (const ProgramValueId v : at(all, k).out)
            if (makers_.contains(v)) out.values.push_back(v);
    }
    return out;
  }

  void add(int c, const InstructionBlock& b) {
    SegmentId segment = at(at(s_.classes, c).slots, b.slot).segment;
    int instruction = out_.detailed ? b.instruction : -1;
    bool begins = true;
    if (instruction >= 0 && at(at(p_.segments, segment).instructions, instruction).code == Code::wait) {
      const auto maker = makers_.find(at(at(p_.segments, segment).instructions, instruction).out.at(0));
      if (maker == makers_.end()) return;
      const auto [of, k] = maker->second;
      if (at(at(p_.segments, of).instructions, k).code != Code::issue) return;
      segment = maker->second.first, instruction = maker->second.second;
      begins = false;
    }
    CommunicationTime& time = out_.of[{c, segment, instruction}];
    time.messages += begins;
    if (b.end <= only_.from || b.start >= only_.to) return;
    const bool first = time.busy_us == 0;
    time.first_us = first ? us(b.start) : std::min(time.first_us, us(b.start));
    time.last_us = std::max(time.last_us, us(b.end));
    time.runs += begins;
    const double busy_us = us(std::min(b.end, only_.to) - std::max(b.start, only_.from));
    time.busy_us += busy_us;
    if (begins) time.within += busy_us / us(b.end - b.start);
    if (!out_.detailed) return;
    const Instruction& i = at(at(p_.segments, segment).instructions, instruction);
    if (!background_)
      time.exposed_us += busy_us;
    else if (i.code == Code::send)
      time.exposed_us += us(waited_by_receivers(i.transfer, b));
    else if (const auto gaps = waiting_.find({c, b.stream}); gaps != waiting_.end())
      time.exposed_us += us(overlap(gaps->second, b));
  }

  Nanoseconds overlap(const std::vector<Window>& gaps, const InstructionBlock& b) const {
    Nanoseconds out = 0;
    const Nanoseconds from = std::max(b.start, only_.from), to = std::min(b.end, only_.to);
    auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const Window& w) { return w.to <= from; });
    for (; gap != gaps.end() && gap->from < to; ++gap) out += std::min(gap->to, to) - std::max(gap->from, from);
    return out;
  }

  // A run of a transfer is told from its others by its end, which is when its receiver goes on.
  Nanoseconds waited_by_receivers(int transfer, const InstructionBlock& b) const {
    const auto gaps = arrivals_.find(transfer);
    Nanoseconds most = 0;
    if (gaps == arrivals_.end()) return 0;
    for (const Window& gap : gaps->second)
      if (gap.from < b.end && b.end <= gap.to)
        most = std::max(most, std::min(b.end, only_.to) - std::max({gap.from, b.start, only_.from}));
    return most;
  }

  const Program& p_;
  const Simulation& s_;
  const bool background_;
  const Window only_;
  std::map<ProgramValueId, std::pair<SegmentId, int>> makers_;     // `issue` and `receive`
  std::map<std::pair<int, Stream>, std::vector<Window>> waiting_;  // for collectives, by class and stream
  std::map<int, std::vector<Window>> arrivals_;                    // by transfer
  CommunicationTimes out_;
};

}  // namespace

const CommunicationTime* CommunicationTimes::find(int c, SegmentId s, int instruction) const {
  const auto found = of.find({c, s, detailed ? instruction : -1});
  return found == of.end() ? nullptr : &found->second;
}

CommunicationTime CommunicationTimes::over_classes(SegmentId s, int instruction) const {
  CommunicationTime out;
  for (const auto& [key, time] : of) {
    if (std::get<1>(key) != s || std::get<2>(key) != instruction) continue;
    out.first_us = out.runs == 0 ? time.first_us : std::min(out.first_us, time.first_us);
    out.last_us = std::max(out.last_us, time.last_us);
    out.runs += time.runs, out.busy_us += time.busy_us, out.exposed_us += time.exposed_us;
    out.messages += time.messages, out.within += time.within;
  }
  return out;
}

CommunicationTimes communication_times(const Program& p, const Cluster& c, const Simulation& s,
                                       std::optional<Window> only) {
  return Times(p, c, s, only).run();
}

}  // namespace planscope
