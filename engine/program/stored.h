#pragma once
// What devices hold at least of parameters, optimizer states and gradients, at one time of a step: the homes of parameters
// and the states that do not wait in host memory; and where the program's order is the only one (one place, no order
// stated), the larger of what is gathered for the whole step, which is there at the turn from forward to backward, and of
// the gradients at its end. Of a plan with open choices it is what no choice brings below (an axis that may split a
// parameter counts as if it did, and so does what a statement that waits for a value may say): a lower bound of every peak
// at those devices. See engine/program/build/homes.cpp.
//
//   for (const Stored& s : least_stored(graph, decisions, 8)) s.bytes;   // of some device of s.devices, or more
#include <cstdint>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/plan/bind.h"

namespace planscope {

struct Stored {
  std::vector<int> devices;  // ascending
  std::int64_t bytes = 0;    // at least one of them holds so much
};

// One entry for all devices together, whose number has to be known; and where the sizes of the grids are, and no statement
// that splits or places something waits for a value, one for each set of devices that some parameter is read on. Of sets,
// parameters with readers whose place is open, or that axes may split unevenly, are left out.
std::vector<Stored> least_stored(const Graph&, const plan::Decisions&, std::int64_t optimizer_state_bytes);

}  // namespace planscope
