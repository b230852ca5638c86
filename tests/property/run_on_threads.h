#pragma once
// Runs a Program on threads, in float64, and compares it with the one-device run.
#include <string>
#include <utility>
#include <vector>

#include "engine/program/program.h"
#include "engine/runtime/reference_file.h"

namespace planscope::testing {

// Writes the one-device run of `steps` steps to a file, with parameters as old as the Program says.
void write_one_device_run(const Graph&, const Program&, const std::string& path, int steps);

struct ThreadRun {
  std::string failure;  // empty: all ranks came to the end
  double error = 0;     // the largest of loss, gradients and parameters
  std::string tensor;   // that it is of
  int compared = 0;
  std::vector<std::vector<std::pair<SegmentId, int>>>
      orders;  // per rank: (segment, instruction) as run in a step, or in a
               // period
};
ThreadRun run_on_threads(const Graph&, const Program&, const std::string& reference, int steps);

}  // namespace planscope::testing
