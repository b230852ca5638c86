#pragma once
// The slots of every device class, replayed: each segment once for every index, nothing read before it is made or after
// it is freed, sums complete, parameters read before their update only. Then the classes against each other (rendezvous.h).
//
// Where steps overlap, a training of some steps is replayed, with each value once for each of them: so many that every
// slot stands next to every other as it ever will. What reads a parameter must find the version that its lag says: made by
// then, and not yet written over.
//
// Values that live and die inside one segment are looked at once; only what crosses segments is replayed for every slot.
#include <vector>

#include "planner/verify/makers.h"

namespace planscope::verification {

// Which device classes are on which place: wholly or not at all.
struct Occupancy {
  std::vector<std::vector<int>> classes_on;  // per place, sorted
  std::vector<int> class_of;                 // per device; -1: none
  bool sound = true;                         // every device of a place that runs anything is in one class, wholly on it
};
Occupancy occupancy(const Program&, Ledger&);

// Steps of training after which nothing new can happen: one period holds all slots, and each of its steps ends.
std::int64_t replayed_steps(const Program&);

void check_order(const Graph&, const Program&, const Makers&, const Occupancy&, Ledger&);

}  // namespace planscope::verification
