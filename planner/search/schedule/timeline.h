#pragma once
// A schedule of all rounds: when each task of each round starts, and what one can say of it.
//
//   pack       serial schedule generation (Kolisch, 1996): the tasks in a given order, each as early as precedences, gaps of
//              its resources and memory allow. A task that takes no time stands at the border of others then, which a legal
//              schedule does not ask for; but for these, nothing comes later than in the legal schedule that gave the order.
//   unrolled   a pattern cut to the rounds that there are
//   squeezed   packed from the front and from the back in turn, as long as that makes it shorter (double justification:
//              Valls, Ballestín, Quintanilla, 2005)
//
// Bounds of the makespan: the longest path, and for each resource all of its work, what it must wait for at first and what
// must follow at last. Before the first give-back on a device no more than its memory can be taken: it waits for that one
// from when it has nothing left that it may do; the same backwards in time.
//
//   Timeline t = squeezed(p, *pack(p, order_of(unrolled(p, pattern))));
//   makespan(p, t); makespan_bound(p);
#include "planner/search/schedule/pattern.h"
#include "planner/solver/deadline.h"

namespace planscope::schedule {

struct Timeline {
  std::vector<std::int64_t> start;  // of round n of task t: start[t * rounds + n]; the least is 0
  bool operator==(const Timeline&) const = default;
};

std::int64_t makespan(const Problem&, const Timeline&);
std::int64_t makespan_bound(const Problem&);

Timeline unrolled(const Problem&, const Pattern&);
std::vector<int> order_of(const Problem&, const Timeline&);  // indices into `start`, by start; what takes no time first
// All runs by a key, as far as what must come before them allows.
class Orders {
 public:
  explicit Orders(const Problem&);
  std::vector<int> by(const std::vector<std::int64_t>& key) const;

 private:
  std::vector<std::vector<int>> next_;
  std::vector<int> waits_;
};
// Nothing: the order does not fit the memory or what must come before, or the deadline is over.
std::optional<Timeline> pack(const Problem&, const std::vector<int>& order, const Deadline* = nullptr);
Timeline squeezed(const Problem&, Timeline, const Deadline* = nullptr);

// Equal rounds renamed so that each task runs them in order: legal as before. Rounds that are not equal stay.
Timeline in_turn(const Problem&, Timeline);

// What is wrong with a schedule; nothing if it is legal.
std::optional<std::string> violation(const Problem&, const Timeline&);

// The same problem backwards in time.
Problem reversed(const Problem&);

// Why a resource does nothing for a while.
struct Idle {
  enum class Cause : std::uint8_t {
    data,      // the next task waits for the result of `task`
    transfer,  // … which is on its way
    memory,    // … for memory that `task` gives back
    device,    // … for another of its devices, busy with `task`
    order,     // it could have begun: the schedule has it here, or a row has it behind `task`
    end,       // nothing follows
  } cause = Cause::order;
  int resource = 0;
  std::int64_t from = 0, to = 0;
  bool first = false;         // nothing has run before
  int task = -1, round = -1;  // what is waited for
  bool operator==(const Idle&) const = default;
};
std::string_view to_string(Idle::Cause);
std::vector<Idle> idle_times(const Problem&, const Timeline&);

}  // namespace planscope::schedule
