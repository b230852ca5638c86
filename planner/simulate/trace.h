#pragma once
// A Simulation as a Chrome trace (JSON Object Format of the Trace Event Format document), as Perfetto and
// chrome://tracing open it: a process per device class, a thread per stream, a counter track of its memory.
//
// Slots are complete events on the compute thread; single instructions lie inside them where the simulation has recorded
// them. Arguments carry the index of the slot. Time stamps are microseconds.
//
//   std::ofstream(file) << to_chrome_trace(graph, program, simulation);
#include <string>

#include "planner/simulate/simulate.h"

namespace planscope {

std::string to_chrome_trace(const Graph&, const Program&, const Simulation&);

}  // namespace planscope
