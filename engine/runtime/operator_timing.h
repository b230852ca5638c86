#pragma once
// How long one operator of a Program takes on one device, forward or backward, as the piece runner would run it: on the
// blocks that the first device holds, recorded by autograd, in the model's own types, with drawn operands.
//
// Calls are made in batches of about 0.2 ms, and a backward batch is one run of autograd over as many recorded calls, as a
// piece is one run over many operators. After a warm-up, batches are repeated until the median of the first half and
// that of the second differ by less than 3 %, at least 5 and for 20 ms; at the latest after 0.3 s. A call that takes longer
// than that is measured once. Operands are those of the call before, so that what fits is in the processor's caches.
//
// Units: microseconds of the thread that calls; set the number of threads before. Errors: what the operator throws;
// std::runtime_error where operands and results are larger than 2 GiB, or where the direction does nothing.
//
//   OperatorTiming t = time_operator(graph, program, {piece, 0, false}, 1, now);   // t.time, t.repeats
#include <functional>

#include "engine/base/units.h"
#include "engine/launch/profile_job.h"
#include "engine/program/program.h"

namespace planscope {

struct OperatorTiming {
  Microseconds time;  // median
  int repeats = 0;    // calls
};

OperatorTiming time_operator(const Graph&, const Program&, const MeasuredOperator&, std::uint64_t seed,
                             const std::function<Microseconds()>& now);

}  // namespace planscope
