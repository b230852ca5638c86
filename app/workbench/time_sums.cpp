#include "app/workbench/time_sums.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "planner/cost/communication_cost.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::size_t row_of(Phase p) {
  switch (p) {
    case Phase::backward: return 1;
    case Phase::weight: return 2;
    case Phase::update: return 3;
    default: return 0;
  }
}

Nanoseconds overlap(Nanoseconds from, Nanoseconds to, const Window& w) {
  return std::max<Nanoseconds>(0, std::min(to, w.to) - std::max(from, w.from));
}

class Sums {
 public:
  Sums(const Graph& g, const Program& p, const Cluster& c, const Simulation& s, Window w)
      : graph_(g), program_(p), cluster_(c), simulation_(s), window_(w) {}

  TimeSums run() {
    TimeSums out{window_, {}};
    for (const ClassTimeline& t : simulation_.classes) out.classes.push_back(of(t));
    return out;
  }

 private:
  ClassSums of(const ClassTimeline& t) {
    ClassSums out;
    const auto segment = [&](int slot) { return t.slots[at(slot)].segment; };
    for (const InstructionBlock& b : t.instructions)
      if (b.stream == Stream::compute)
        out.work[row_of(program_.segments[at(segment(b.slot))].phase)] += overlap(b.start, b.end, window_);
    for (const Gap& g : t.gaps) out.idle[static_cast<std::size_t>(g.cause)] += overlap(g.start, g.end, window_);
    for (const InstructionBlock& b : t.communication) {
      const Nanoseconds time = overlap(b.start, b.end, window_);
      if (b.end > b.start ? time == 0 : !holds(b.start)) continue;
      const auto [kind, sent] = message(segment(b.slot), b);
      auto found = std::find_if(out.communication.begin(), out.communication.end(), [&](const CommunicationSum& s) { return s.kind == kind; });
      if (found == out.communication.end()) found = out.communication.insert(found, {kind, 0, 0, 0});
      const double share = b.end > b.start ? static_cast<double>(time) / static_cast<double>(b.end - b.start) : 1;
      found->time += time;
      found->count += sent ? share : 0;
      found->sent_bytes += sent ? share * *sent : 0;
    }
    return out;
  }

  // A moment belongs to what begins with it.
  bool holds(Nanoseconds t) const {
    return t >= window_.from && (t < window_.to || (t == window_.to && t >= simulation_.step_ns));
  }

  // What it is, and how much a device sends; nothing: the other end of a message that counts where it is sent.
  std::pair<std::string, std::optional<std::int64_t>> message(SegmentId s, const InstructionBlock& b) {
    if (b.instruction < 0) return {std::string(to_string(b.stream)), std::nullopt};
    const Segment& segment = program_.segments[at(s)];
    const Instruction& i = segment.instructions[at(b.instruction)];
    if (i.code == Code::issue) return {std::string(to_string(i.move.kind)), sent(s, b.instruction)};
    if (i.code == Code::send) return {"send", sent(s, b.instruction)};
    return {std::string(to_string(i.code)), std::nullopt};
  }

  double sent(SegmentId s, int instruction) {
    const auto [it, fresh] = known_.emplace(std::pair(s, instruction), 0);
    if (!fresh) return it->second;
    const Segment& segment = program_.segments[at(s)];
    const Instruction& i = segment.instructions[at(instruction)];
    const MoveCost c = i.code == Code::send ? transfer_cost(graph_, program_, cluster_, program_.transfers[at(i.transfer)])
                                            : move_cost(graph_, program_, cluster_, segment.place, i);
    return it->second = c.sent;
  }

  const Graph& graph_;
  const Program& program_;
  const Cluster& cluster_;
  const Simulation& simulation_;
  const Window window_;
  std::map<std::pair<SegmentId, int>, double> known_;
};

}  // namespace

std::string_view to_string(IdleCause c) {
  constexpr std::array<std::string_view, kIdleCauses> names = {"warm_up", "cool_down", "imbalance", "data", "communication", "memory"};
  return names[static_cast<std::size_t>(c)];
}

Nanoseconds ClassSums::work_sum() const { return std::accumulate(work.begin(), work.end(), Nanoseconds{0}); }
Nanoseconds ClassSums::idle_sum() const { return std::accumulate(idle.begin(), idle.end(), Nanoseconds{0}); }

TimeSums time_sums(const Graph& g, const Program& p, const Cluster& c, const Simulation& s, Window w) {
  return Sums(g, p, c, s, w).run();
}

}  // namespace planscope
