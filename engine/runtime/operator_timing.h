#pragma once
// How long operators of a Program take on one device, forward or backward, as the piece runner would run them: on the
// blocks that the first device holds, recorded by autograd, in the model's own types, with drawn operands.
//
// As in a training step, operators take turns: each is called once, then the next, over and over, so that neither its
// code nor its operands are as warm in the processor's caches as in a loop over one operator. Each is called once before
// anything counts (and not again if that takes longer than 0.3 s); then there are rounds until the medians of the first and
// the second half of the rounds differ by less than 3 %, at least 9 rounds and 20 ms per operator; at the latest after
// 0.3 s per operator. At most 48 MiB of operands and results take turns with each
// other, about what a layer touches; 256 MiB of updates and sums, which come once in a step. Backward runs autograd for one
// operator; what a run of autograd takes that computes nothing is subtracted, because a piece has one such run for all
// of its operators.
//
// Figures are lower quartiles (what disturbs a call only makes it longer), in microseconds of processor time of the calling
// thread: time in which other processes have the core does not count. Set the number of threads to one before. What fails (what the operator throws; operands and
// results of more than 2 GiB) is reported with the reason, and the rest goes on.
//
//   time_operators(graph, program, {.items = {{piece, 0, false}}}, stop, [](const OperatorMeasurement& m) { m.time; });
#include <functional>

#include "engine/base/units.h"
#include "engine/launch/profile_job.h"
#include "engine/program/program.h"

namespace planscope {

// The job's items, then its sizes of memory: sums, then updates (optimizer.h).
void time_operators(const Graph&, const Program&, const ProfileJob&, const std::function<bool()>& stop,
                    const std::function<void(const OperatorMeasurement&)>& report);

}  // namespace planscope
