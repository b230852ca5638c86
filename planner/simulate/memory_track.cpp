#include "planner/simulate/memory_track.h"

#include <algorithm>
#include <limits>

#include "planner/simulate/under_way.h"

namespace planscope {

MemoryTrack::MemoryTrack(const std::vector<MemoryChange>& standing, bool alive, ClassTimeline& out)
    : slot_peak_{kNever, -1}, record_alive_(alive), out_(out) {
  apply(standing);
  out_.peak = now_;
  at_peak_.swap(since_);
  out_.memory.push_back({0, total_});
}

void MemoryTrack::apply(const std::vector<MemoryChange>& changes) {
  for (const MemoryChange& c : changes) {
    now_[c.kind] += c.bytes;
    total_ += c.bytes;
    if (record_alive_) since_[{c.of, c.kind}] += c.bytes;
  }
}

void MemoryTrack::note_peak(const Step& step) {
  for (const auto& [what, bytes] : since_) at_peak_[what] += bytes;
  since_.clear();
  transient_ = step.transient;
  transient_gradients_ = step.transient_gradients;
}

void MemoryTrack::begin(const Step& step, Nanoseconds time, int slot, bool detail) {
  settle(time, detail);
  apply(step.before);
  const std::int64_t top = total_ + step.transient + step.transient_gradients;
  if (top > peak_) {
    peak_ = top;
    out_.peak = now_;
    out_.peak[MemoryKind::activations] += step.transient;
    out_.peak[MemoryKind::gradients] += step.transient_gradients;
    out_.peak_time = time;
    out_.peak_slot = slot;
    out_.peak_instruction = step.instruction;
    if (record_alive_) note_peak(step);
  }
  if (detail)
    point(time, top);
  else if (top > slot_peak_.bytes)
    slot_peak_ = {time, top};
}

void MemoryTrack::end(const Step& step, Nanoseconds time, bool detail) {
  settle(time, detail);
  apply(step.after);
  if (detail) point(time, total_);
}

void MemoryTrack::release(const MemoryChange& change, Nanoseconds time, bool detail) {
  apply({change});
  if (detail) point(time, total_);
}

void MemoryTrack::apply_later(const std::vector<MemoryChange>& changes, Nanoseconds time) {
  const auto after = [](Nanoseconds t, const auto& entry) { return t < entry.first; };
  later_.emplace(std::upper_bound(later_.begin(), later_.end(), time, after), time, &changes);
}

void MemoryTrack::begin_slot() { slot_peak_ = {kNever, -1}; }

void MemoryTrack::end_slot(Nanoseconds time) {
  settle(time, false);
  if (slot_peak_.time != kNever) point(slot_peak_.time, slot_peak_.bytes);
  point(time, total_);
}

void MemoryTrack::finish() {
  settle(std::numeric_limits<Nanoseconds>::max(), true);
  if (!record_alive_) return;
  at_peak_[{{Owner::Kind::working_set, -1}, MemoryKind::activations}] += transient_;
  at_peak_[{{Owner::Kind::working_set, -1}, MemoryKind::gradients}] += transient_gradients_;
  for (const auto& [what, bytes] : at_peak_)
    if (bytes != 0) out_.alive.push_back({what.first, what.second, bytes});
}

// What ends while an instruction runs is seen at the instruction's end.
void MemoryTrack::settle(Nanoseconds time, bool detail) {
  while (!later_.empty() && later_.front().first <= time) {
    apply(*later_.front().second);
    if (detail) point(std::max(later_.front().first, out_.memory.back().time), total_);
    later_.pop_front();
  }
}

void MemoryTrack::point(Nanoseconds time, std::int64_t bytes) {
  if (out_.memory.back().bytes != bytes) out_.memory.push_back({time, bytes});
}

}  // namespace planscope
