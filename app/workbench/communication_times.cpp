#include "app/workbench/communication_times.h"

#include <algorithm>
#include <set>

namespace planscope {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

bool of_links(Stream s) { return s == Stream::collective || s == Stream::network || s == Stream::transfer; }

// When the compute stream of a class stands still.
std::vector<Window> gaps(const ClassTimeline& t) {
  std::vector<Window> out;
  Nanoseconds before = 0;
  for (const InstructionBlock& b : t.instructions) {
    if (b.stream != Stream::compute) continue;
    if (b.start > before) out.push_back({before, b.start});
    before = std::max(before, b.end);
  }
  if (t.makespan > before) out.push_back({before, t.makespan});
  return out;
}

class Times {
 public:
  Times(const Program& p, const Simulation& s) : p_(p), s_(s) {
    for (const ClassTimeline& t : s.classes) gaps_.push_back(gaps(t));
    for (std::size_t c = 0; c < p.classes.size(); ++c)
      for (const Loop& loop : p.classes[c].loops)
        for (const SlotStep& slot : loop.body)
          for (const Instruction& i : at(p.segments, slot.segment).instructions)
            if (i.code == Code::receive) receivers_[i.transfer].insert(static_cast<int>(c));
  }

  CommunicationTimes run() {
    for (const ClassTimeline& t : s_.classes)
      for (const InstructionBlock& b : t.communication)
        if (of_links(b.stream) && b.instruction < 0) out_.detailed = false;
    for (std::size_t c = 0; c < s_.classes.size(); ++c) {
      const ClassTimeline& t = s_.classes[c];
      std::set<Nanoseconds> ends;  // of collectives
      for (const InstructionBlock& b : t.communication)
        if (of_links(b.stream) && b.stream != Stream::transfer) ends.insert(b.end);
      std::vector<Window> waiting = gaps_[c];
      std::erase_if(waiting, [&](const Window& w) { return !ends.contains(w.to); });
      for (const InstructionBlock& b : t.communication)
        if (of_links(b.stream) && b.end > b.start) add(static_cast<int>(c), b, waiting);
    }
    return std::move(out_);
  }

 private:
  void add(int c, const InstructionBlock& b, const std::vector<Window>& waiting) {
    const SegmentId segment = at(at(s_.classes, c).slots, b.slot).segment;
    int instruction = out_.detailed ? b.instruction : -1;
    bool begins = true;
    if (instruction >= 0 && at(at(p_.segments, segment).instructions, instruction).code == Code::wait) {
      instruction = issue_of_wait(at(p_.segments, segment), instruction);
      begins = false;
      if (instruction < 0) return;
    }
    const auto [it, fresh] = out_.of.try_emplace({c, segment, instruction});
    CommunicationTime& time = it->second;
    time.first_us = fresh ? us(b.start) : std::min(time.first_us, us(b.start));
    time.last_us = std::max(time.last_us, us(b.end));
    time.runs += begins;
    time.busy_us += us(b.end - b.start);
    if (!out_.detailed) return;
    const Instruction& i = at(at(p_.segments, segment).instructions, instruction);
    time.exposed_us += us(i.code == Code::send ? waited_by_receivers(i.transfer, b) : overlap(waiting, b));
  }

  static Nanoseconds overlap(const std::vector<Window>& gaps, const InstructionBlock& b) {
    Nanoseconds out = 0;
    auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const Window& w) { return w.to <= b.start; });
    for (; gap != gaps.end() && gap->from < b.end; ++gap) out += std::min(gap->to, b.end) - std::max(gap->from, b.start);
    return out;
  }

  Nanoseconds waited_by_receivers(int transfer, const InstructionBlock& b) const {
    Nanoseconds most = 0;
    const auto classes = receivers_.find(transfer);
    if (classes == receivers_.end()) return 0;
    for (const int c : classes->second) {
      const std::vector<Window>& gaps = at(gaps_, c);
      const auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const Window& w) { return w.to < b.end; });
      if (gap != gaps.end() && gap->to == b.end) most = std::max(most, b.end - std::max(gap->from, b.start));
    }
    return most;
  }

  const Program& p_;
  const Simulation& s_;
  std::vector<std::vector<Window>> gaps_;       // by class
  std::map<int, std::set<int>> receivers_;      // by transfer
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
  }
  return out;
}

CommunicationTimes communication_times(const Program& p, const Simulation& s) { return Times(p, s).run(); }

int issue_of_wait(const Segment& s, int wait) {
  const ProgramValueId v = at(s.instructions, wait).out.at(0);
  for (int k = wait; k-- > 0;) {
    const Instruction& i = at(s.instructions, k);
    if (i.code == Code::issue && std::find(i.out.begin(), i.out.end(), v) != i.out.end()) return k;
  }
  return -1;
}

}  // namespace planscope
