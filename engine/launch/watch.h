#pragma once
// Decides when a trial has failed, from what is heard of its ranks. A pure state machine: events and the time go in, a
// verdict comes out; no process, no socket (launcher.h has those).
//
// A trial has failed when a rank
//   - ends without having said that it is done (killed, crashed, exited),
//   - reports a failure,
//   - is silent: for `silence` it has sent no heartbeat and has not been seen at work (a loaded machine may be slow to give
//     it a core, and slow to load it before its first heartbeat); at the latest `starved` after its last heartbeat, or
//     `start` where it has sent none, or
//   - when all ranks that have work left wait, none has moved for `deadlock_limit`, and none of their waits may rightly
//     take longer. A rank that computes is never stuck: a slow operator does not end a trial.
// A death or a report starts `grace`: a dead rank makes others report lost connections, perhaps before its end is seen
// (then `root`).
// Then the cause is named: a death or a rank's own failure before lost connections, the earliest first.
//
//   Watch watch(4, {}, now);
//   watch.beat(0, position, now);
//   watch.exited(2, "killed by signal 9 (Killed)", now);
//   if (auto failure = watch.verdict(later)) …         // {2, 17, "killed by signal 9 (Killed) in all_reduce wte"}
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/launch/message.h"

namespace planscope {

struct WatchLimits {
  Microseconds start{60e6};
  Microseconds silence{3e6};
  Microseconds starved{30e6};
  Microseconds overdue{1e6};  // a heartbeat that is this late has a cause
  Microseconds deadlock{3e6};
  Microseconds grace{0.3e6};
  Microseconds root{1.5e6};     // the same while all that is known are lost connections: somebody must have lost them
  Microseconds suspended{1e6};  // a gap between two ticks after which all are given their time anew
};

struct LaunchFailure {
  int rank = -1;
  std::int64_t instruction = -1;
  std::string reason;
  bool bad_input = false;  // FailureOrigin::input
  bool operator==(const LaunchFailure&) const = default;
};

// `rank 2 at instruction 17`; before its first one: `rank 2`; below 0: no rank.
std::string rank_text(int rank, std::int64_t instruction);

class Watch {
 public:
  Watch(int ranks, const WatchLimits& limits, Microseconds now);

  void beat(int rank, const Position& position, Microseconds now);
  void located(int rank, const Position& position, Microseconds now);  // seen on its board: no sign of life
  void at_work(int rank, Microseconds now);                            // its process runs, or would if it could
  void done(int rank, Microseconds now);
  void reported(int rank, const FailureReport& report, Microseconds now);
  void broke(int rank, const std::string& reason, Microseconds now);  // speaks nonsense on its channel
  void exited(int rank, const std::string& how, Microseconds now);    // "exited with status 1"

  // Call it regularly. The verdict, once there is one, stays the same.
  std::optional<LaunchFailure> verdict(Microseconds now);

  bool is_overdue(int rank, Microseconds now) const;  // its heartbeat: worth a look at the process
  bool suspects() const { return !signs_.empty(); }   // a verdict will come
  bool all_done() const;                              // every rank has said so
  bool all_exited() const;
  const Position& position(int rank) const { return ranks_[static_cast<std::size_t>(rank)].position; }

 private:
  enum class Cause { own, silence, deadlock, peer };  // the likelier the root, the smaller
  struct Rank {
    Position position;
    bool heard = false;
    bool done = false;
    bool exited = false;
    Microseconds last_beat;
    Microseconds last_work;  // or heartbeat
    Microseconds last_change;
  };
  struct Sign {
    Cause cause;
    Microseconds at;
    LaunchFailure failure;
  };

  void sign(Cause cause, int rank, std::int64_t instruction, std::string reason, Microseconds now);
  void look_for_silence(Microseconds now);
  void look_for_deadlock(Microseconds now);
  void forgive_suspension(Microseconds now);

  std::vector<Rank> ranks_;
  WatchLimits limits_;
  std::vector<Sign> signs_;
  std::optional<LaunchFailure> verdict_;
  Microseconds last_tick_;
};

}  // namespace planscope
