#include "planner/simulate/critical_path.h"

#include <algorithm>

namespace planscope {
namespace {

bool is_transfer(Stream s) { return s == Stream::transfer; }
bool is_collective(Stream s) { return s == Stream::collective || s == Stream::network; }
bool is_copy(Stream s) { return s == Stream::offload || s == Stream::restore; }

class Walk {
 public:
  explicit Walk(const Simulation& s) : s_(s), by_end_(s.classes.size()) {
    for (std::size_t c = 0; c < s.classes.size(); ++c) {
      const std::vector<InstructionBlock>& all = s.classes[c].communication;
      for (std::size_t i = 0; i < all.size(); ++i) by_end_[c].push_back(i);
      std::stable_sort(by_end_[c].begin(), by_end_[c].end(), [&](std::size_t a, std::size_t b) { return all[a].end < all[b].end; });
    }
  }

  std::vector<CriticalPart> run() {
    std::size_t last = 0;
    for (std::size_t c = 0; c < s_.classes.size(); ++c)
      if (s_.classes[c].makespan > s_.classes[last].makespan) last = c;
    if (s_.classes.empty()) return {};
    class_ = last;
    now_ = s_.classes[last].makespan;
    while (now_ > 0) back();
    std::reverse(parts_.begin(), parts_.end());
    return std::move(parts_);
  }

 private:
  const ClassTimeline& here() const { return s_.classes[class_]; }

  // One part, or a waiting that ends now, further back.
  void back() {
    const std::vector<Gap>& gaps = here().gaps;
    const auto after = std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& g) { return g.start < now_; });
    if (after == gaps.begin()) return work(0);
    const Gap& g = *std::prev(after);
    if (g.end < now_) return work(g.end);
    if (g.from >= 0 && follow(static_cast<std::size_t>(g.from), is_transfer)) return;
    if (follow(class_, g.cause == IdleCause::memory ? is_copy : is_collective)) return;
    if (g.from >= 0) {  // sent by the device's own thread: its work goes on there
      class_ = static_cast<std::size_t>(g.from);
      if (waits_until(now_)) add(Stream::transfer, -1, -1, std::min(g.start, now_));
      return;
    }
    add(Stream::collective, -1, -1, g.start);
  }

  // Work of the compute stream, slot by slot, back to `from`.
  void work(Nanoseconds from) {
    const std::vector<SlotBlock>& slots = here().slots;
    auto at = std::partition_point(slots.begin(), slots.end(), [&](const SlotBlock& b) { return b.start < now_; });
    while (now_ > from) {
      if (at == slots.begin()) {
        add(Stream::compute, -1, -1, from);
        return;
      }
      --at;
      add(Stream::compute, static_cast<int>(at - slots.begin()), -1, std::max(from, std::min(at->start, now_)));
    }
  }

  // The communication of a class that ends now; and what it stood behind on its stream.
  bool follow(std::size_t c, bool (*kind)(Stream)) {
    const std::vector<InstructionBlock>& all = s_.classes[c].communication;
    const InstructionBlock* found = nullptr;
    const std::vector<std::size_t>& order = by_end_[c];
    auto at = std::partition_point(order.begin(), order.end(), [&](std::size_t i) { return all[i].end < now_; });
    for (; at != order.end() && all[*at].end == now_; ++at)
      if (const InstructionBlock& b = all[*at]; kind(b.stream) && b.start < now_ && (!found || b.start > found->start)) found = &b;
    if (!found) return false;
    class_ = c;
    add(found->stream, found->slot, found->instruction, found->start);
    return true;
  }

  bool waits_until(Nanoseconds t) const {
    for (const Gap& g : here().gaps)
      if (g.end == t) return true;
    return false;
  }

  void add(Stream stream, int slot, int instruction, Nanoseconds start) {
    start = std::min(start, now_ - 1);
    parts_.push_back({static_cast<int>(class_), stream, slot, instruction, start, now_});
    now_ = start;
  }

  const Simulation& s_;
  std::vector<std::vector<std::size_t>> by_end_;  // by class: communication in order of its end
  std::size_t class_ = 0;
  Nanoseconds now_ = 0;
  std::vector<CriticalPart> parts_;  // latest first
};

}  // namespace

std::vector<CriticalPart> critical_path(const Simulation& s) { return Walk(s).run(); }

}  // namespace planscope
