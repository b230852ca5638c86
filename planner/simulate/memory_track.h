#pragma once
// Memory of one device class as its compute stream goes on: how much, when it is most, and, if asked, of what.
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "planner/simulate/memory_watch.h"
#include "planner/simulate/steps.h"

namespace planscope {

class MemoryTrack {
 public:
  // `out` gets the peak and the curve; `alive`: also what the peak is made of. `kinds`, where it is given: the curve by
  // kind, parallel to `out.memory`. `watch`, where it is given, sees every change.
  MemoryTrack(const std::vector<MemoryChange>& standing, bool alive, ClassTimeline& out,
              std::vector<Memory>* kinds = nullptr, MemoryWatch* watch = nullptr);

  void begin(const Step&, Nanoseconds time, int slot, bool detail);
  // Begins and ends all steps of a run, none of which is shown by itself. False, and nothing has changed: they have to be
  // played one by one, since the peak may be in them, somebody watches, or something else changes meanwhile.
  bool pass(const WorkRun&, const std::vector<Step>& steps, Nanoseconds time);
  void end(const Step&, Nanoseconds time, bool detail);
  void release(const MemoryChange&, Nanoseconds time, bool detail);
  // What changes later than the step that causes it. `changes` must stay.
  void apply_later(const std::vector<MemoryChange>& changes, Nanoseconds time);

  void begin_slot();
  void end_slot(Nanoseconds time);
  void end_step(const std::vector<MemoryChange>& freed, Nanoseconds time);
  void forget_peak() { peak_ = -1; }
  void finish();

 private:
  using Alive = std::map<std::pair<Owner, MemoryKind>, std::int64_t>;
  struct Passed {
    const std::vector<Step>* steps = nullptr;
    std::int64_t times = 0;
  };

  void apply(const std::vector<MemoryChange>&, std::optional<Nanoseconds> time);
  void settle(Nanoseconds time, bool detail);
  void point(Nanoseconds time, const Memory&);
  void see(Nanoseconds time);
  void note_peak(const Step&);
  void note_passed();

  std::deque<std::pair<Nanoseconds, const std::vector<MemoryChange>*>> later_;  // by time
  Memory now_;
  std::int64_t total_ = 0, peak_ = -1;
  std::int64_t slot_peak_bytes_ = -1;
  Nanoseconds slot_peak_time_ = 0;
  Memory slot_peak_;
  // What was alive at the peak, and what has changed since: a later peak costs what has changed, not what is alive.
  bool record_alive_;
  Alive at_peak_, since_;
  std::map<const WorkRun*, Passed> passed_;  // since the peak: runs whose changes are not in `since_`
  std::vector<MemoryChange> at_work_;         // at the peak
  ClassTimeline& out_;
  std::vector<Memory>* kinds_;
  MemoryWatch* watch_;
};

}  // namespace planscope
