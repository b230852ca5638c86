#pragma once
// What any range of layers takes and needs on one ground, by sums over the layers before it.
//
//   const Ranges ranges(ground);
//   ranges.between(3, 7).time                            // of layers 3 to 6, for a micro-batch
//   ranges.least_again(room_of(spec, stage), 3, 7)       // how many of these must be computed again to fit
#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/search/stages/partition.h"
#include "planner/search/stages/range_max.h"

namespace planscope::stages {

// What a stage leaves to its layers: micro-batches beside the one at work, in the first backward and in later ones (-1: there
// are none), and bytes that stay unused.
struct Room {
  std::int64_t others = 0, others_later = 0, less = 0;
};
Room room_of(const PartitionSpec&, int stage);

// Of all layers before one.
struct Sums {
  std::int64_t time = 0, forward = 0, again = 0, kept = 0, kept_again = 0, reduce = 0, gather = 0, through = 0,
               adding = 0, copied = 0;
  Parameters parameters;
};

// What any range of layers takes and needs on one ground.
class Ranges {
 public:
  explicit Ranges(const Ground&);  // that outlives it

  Sums between(int first, int end) const {
    const Sums &a = sums_[static_cast<std::size_t>(first)], &b = sums_[static_cast<std::size_t>(end)];
    return {b.time - a.time,
            b.forward - a.forward,
            b.again - a.again,
            b.kept - a.kept,
            b.kept_again - a.kept_again,
            b.reduce - a.reduce,
            b.gather - a.gather,
            b.through - a.through,
            b.adding - a.adding,
            b.copied - a.copied,
            {}};
  }
  std::int64_t time_of(int first, int end, int again) const {
    const Sums relieved = between(first, first + again);
    const double copies = relieved.copied > 0 ? static_cast<double>(relieved.copied) / ground_.host_rate : 0;
    return std::max(between(first, end).time + relieved.again, static_cast<std::int64_t>(copies));
  }

  // Ranges of the same place need the same: so many equal layers, between others of these. -1: of no other.
  int place_among_equal(int first, int end) const {
    const int run = run_[static_cast<std::size_t>(first)];
    const bool equal = end < static_cast<int>(run_.size()) && run_[static_cast<std::size_t>(end)] == run;
    return equal ? run + end - first : -1;
  }

  // How many layers must be computed again so that the range fits; -1: it does not.
  int least_again(const Room&, int first, int end) const;
  // … so that it fits but for the host's memory. A part of a range that fits does, too. All but what these need at work gets
  // less with more of them.
  int least_on_device(const Room&, int first, int end) const;
  bool host_fits(const Room& room, int first, int again) const {
    return (room.others + 1) * between(first, first + again).copied <= ground_.host;
  }

 private:
  class Held;
  // Of each layer the first one of the equal layers that it is one of. The first layer of all is none of them: nothing is handed to
  // it (border).
  void find_runs();

  const Ground& ground_;
  std::vector<Sums> sums_;
  RangeMax once_first_, once_later_, again_first_, again_later_;
  std::vector<int> run_;
};

}  // namespace planscope::stages
