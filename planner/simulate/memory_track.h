#pragma once
// Memory of one device class as its compute stream goes on: how much, when it is most, and, if asked, of what.
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "planner/simulate/steps.h"

namespace planscope {

class MemoryTrack {
 public:
  // `out` gets the peak and the curve; `alive`: also what the peak is made of.
  MemoryTrack(const std::vector<MemoryChange>& standing, bool alive, ClassTimeline& out);

  void begin(const Step&, Nanoseconds time, int slot, bool detail);
  void end(const Step&, Nanoseconds time, bool detail);
  void release(const MemoryChange&, Nanoseconds time, bool detail);
  // What changes later than the step that causes it. `changes` must stay.
  void apply_later(const std::vector<MemoryChange>& changes, Nanoseconds time);

  void begin_slot();
  void end_slot(Nanoseconds time);
  void forget_peak() { peak_ = -1; }
  void finish();

 private:
  using Alive = std::map<std::pair<Owner, MemoryKind>, std::int64_t>;

  void apply(const std::vector<MemoryChange>&);
  void settle(Nanoseconds time, bool detail);
  void point(Nanoseconds time, std::int64_t bytes);
  void note_peak(const Step&);

  std::deque<std::pair<Nanoseconds, const std::vector<MemoryChange>*>> later_;  // by time
  Memory now_;
  std::int64_t total_ = 0, peak_ = -1;
  MemoryPoint slot_peak_;
  // What was alive at the peak, and what has changed since: a later peak costs what has changed, not what is alive.
  bool record_alive_;
  Alive at_peak_, since_;
  std::int64_t transient_ = 0, transient_gradients_ = 0;
  ClassTimeline& out_;
};

}  // namespace planscope
