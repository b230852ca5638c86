#include "planner/simulate/memory_track.h"

#include <algorithm>
#include <limits>

#include "planner/simulate/at_work.h"

namespace planscope {
namespace {

Memory sum(Memory a, const Memory& b) {
  for (std::size_t k = 0; k < kMemoryKinds; ++k) a.kinds[k] += b.kinds[k];
  return a;
}

}  // namespace

MemoryTrack::MemoryTrack(const std::vector<MemoryChange>& standing, bool alive, ClassTimeline& out,
                         std::vector<Memory>* kinds, MemoryWatch* watch)
    : record_alive_(alive), out_(out), kinds_(kinds), watch_(watch) {
  apply(standing, {});
  out_.peak = now_;
  at_peak_.swap(since_);
  out_.memory.push_back({0, total_});
  if (kinds_) kinds_->push_back(now_);
  see(0);
}

void MemoryTrack::apply(const std::vector<MemoryChange>& changes, std::optional<Nanoseconds> time) {
  for (const MemoryChange& c : changes) {
    now_[c.kind] += c.bytes;
    total_ += c.bytes;
    if (record_alive_) since_[{c.of, c.kind}] += c.bytes;
    if (watch_) watch_->change(c, time);
  }
}

void MemoryTrack::see(Nanoseconds time) {
  if (watch_) watch_->moment({time, total_, -1, -1}, {});
}

void MemoryTrack::note_peak(const Step& step) {
  note_passed();
  for (const auto& [what, bytes] : since_) at_peak_[what] += bytes;
  since_.clear();
  at_work_ = at_work(step);
}

void MemoryTrack::begin(const Step& step, Nanoseconds time, int slot, bool detail) {
  settle(time, detail);
  apply(step.before, time);
  Memory top = now_;
  top[MemoryKind::activations] += step.transient;
  top[MemoryKind::gradients] += step.transient_gradients;
  const std::int64_t bytes = total_ + step.transient + step.transient_gradients;
  if (watch_) watch_->moment({time, bytes, slot, step.instruction}, at_work(step));
  if (bytes > peak_) {
    peak_ = bytes;
    out_.peak = top;
    out_.peak_time = time;
    out_.peak_slot = slot;
    out_.peak_instruction = step.instruction;
    if (record_alive_) note_peak(step);
  }
  if (detail)
    point(time, top);
  else if (bytes > slot_peak_bytes_)
    slot_peak_bytes_ = bytes, slot_peak_time_ = time, slot_peak_ = top;
}

void MemoryTrack::note_passed() {
  for (const auto& [run, passed] : passed_)
    for (std::size_t i = run->begin; i < run->end; ++i)
      for (const auto* changes : {&(*passed.steps)[i].before, &(*passed.steps)[i].after})
        for (const MemoryChange& c : *changes) since_[{c.of, c.kind}] += passed.times * c.bytes;
  passed_.clear();
}

bool MemoryTrack::pass(const WorkRun& run, const std::vector<Step>& steps, Nanoseconds time) {
  if (watch_ || total_ + run.highest_bytes > peak_) return false;
  if (!later_.empty() && later_.front().first <= time + run.duration) return false;
  if (total_ + run.highest_bytes > slot_peak_bytes_) {
    slot_peak_bytes_ = total_ + run.highest_bytes;
    slot_peak_time_ = time + run.highest_at;
    slot_peak_ = sum(now_, run.highest);
  }
  now_ = sum(now_, run.change);
  total_ += run.bytes;
  if (record_alive_) {
    Passed& passed = passed_[&run];
    passed.steps = &steps;
    ++passed.times;
  }
  return true;
}

void MemoryTrack::end(const Step& step, Nanoseconds time, bool detail) {
  settle(time, detail);
  apply(step.after, time);
  see(time);
  if (detail) point(time, now_);
}

void MemoryTrack::release(const MemoryChange& change, Nanoseconds time, bool detail) {
  apply({change}, time);
  see(time);
  if (detail) point(time, now_);
}

void MemoryTrack::apply_later(const std::vector<MemoryChange>& changes, Nanoseconds time) {
  const auto after = [](Nanoseconds t, const auto& entry) { return t < entry.first; };
  later_.emplace(std::upper_bound(later_.begin(), later_.end(), time, after), time, &changes);
}

void MemoryTrack::begin_slot() { slot_peak_bytes_ = -1; }

void MemoryTrack::end_slot(Nanoseconds time) {
  settle(time, false);
  if (slot_peak_bytes_ >= 0) point(slot_peak_time_, slot_peak_);
  point(time, now_);
}

void MemoryTrack::end_step(const std::vector<MemoryChange>& freed, Nanoseconds time) {
  apply(freed, time);
  see(time);
  point(time, now_);
}

void MemoryTrack::finish() {
  settle(std::numeric_limits<Nanoseconds>::max(), true);
  if (!record_alive_) return;
  for (const MemoryChange& c : at_work_) at_peak_[{c.of, c.kind}] += c.bytes;
  for (const auto& [what, bytes] : at_peak_)
    if (bytes != 0) out_.alive.push_back({what.first, what.second, bytes});
}

// What ends while an instruction runs is seen at the instruction's end.
void MemoryTrack::settle(Nanoseconds time, bool detail) {
  while (!later_.empty() && later_.front().first <= time) {
    const Nanoseconds seen = std::max(later_.front().first, out_.memory.back().time);
    apply(*later_.front().second, seen);
    see(seen);
    if (detail) point(seen, now_);
    later_.pop_front();
  }
}

void MemoryTrack::point(Nanoseconds time, const Memory& m) {
  const std::int64_t bytes = m.bytes();
  // A slot's peak is known at its end; a window of detail may have begun since.
  std::size_t at = out_.memory.size();
  while (at > 1 && out_.memory[at - 1].time > time) --at;
  if (out_.memory[at - 1].bytes == bytes && (!kinds_ || (*kinds_)[at - 1] == m)) return;
  out_.memory.insert(out_.memory.begin() + static_cast<std::ptrdiff_t>(at), {time, bytes});
  if (kinds_) kinds_->insert(kinds_->begin() + static_cast<std::ptrdiff_t>(at), m);
}

}  // namespace planscope
