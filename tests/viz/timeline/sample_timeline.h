#pragma once
// A timeline for tests: 1F1B on `stages` stages and `micro_batches` micro-batches, forward 10 ms, backward 20 ms, 1 ms
// to send, an update at the end, idle time by cause and memory of the kept activations.
#include "viz/timeline/model.h"

namespace planscope::viz {

TimelineModel pipeline_timeline(int stages, int micro_batches);

}  // namespace planscope::viz
