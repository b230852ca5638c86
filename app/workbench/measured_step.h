#pragma once
// One step of a trial as it was measured, in the form in which a step is predicted: what reads a Simulation (timelines,
// tables) reads a measured step alike.
//
// A rank measures every instruction that it runs on its one thread (engine/launch/spans.h). Of a device class, times
// are the means over its ranks; each rank's step begins at its own first instruction, since ranks of several hosts have
// several clocks (where steps overlap, at the first one of all ranks). Slots and instructions stand in `slots` and
// `instructions`, what sends, receives and waits in `communication`, on the stream `collective` or `transfer`. Not
// measured, so empty: gaps and their causes, memory over time.
//
//   Result<Simulation> m = measured_step(program, workspace.spans(run, step).value, 1200.0);
//   m->step_us(); m->classes[0].slots[3].end
//
// Errors: the spans are not those of this Program (it was made from another plan, or by another version of planscope);
// there are none.
#include <vector>

#include "engine/program/program.h"
#include "planner/simulate/simulate.h"
#include "storage/database.h"
#include "storage/rows.h"

namespace planscope {

// `step_us`: how long the slowest rank took.
Result<Simulation> measured_step(const Program&, const std::vector<SpanRow>& spans, double step_us);

// Whether an instruction computes; the others move values between devices, or wait for that.
bool computes(Code);

}  // namespace planscope
