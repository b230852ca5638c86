#pragma once
// A reference that is not our own: PyTorch loads the archives itself and trains them on the same inputs and weights; losses,
// gradients and updated parameters are compared with planscope's one-device runs, FLOPs with torch.utils.flop_counter,
// memory with what PyTorch's allocator gives out (pytorch/counting.py says how each is measured).
//
// Errors: a model that cannot be read or has no loss; no Python with torch. What goes wrong with one of several models is
// in its answer.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/workbench/workbench.h"

namespace planscope {

struct PytorchCheckSpec {
  std::string worker;              // the program `planscope-worker`
  std::string python = "python3";  // with torch
  int steps = 1;
  std::uint64_t seed = 1;
  std::string inputs = {};  // TrialJob::inputs
};

struct PytorchAnswer {
  std::string model;   // as it was given
  std::string failed;  // why there are no numbers to compare; else empty
  bool bad_input = false;   // … because a file that was given cannot be used
  std::string json = "{}";  // what the script says
  bool equal = false;
  std::string unknown_memory;            // why there is no prediction; else empty
  std::int64_t predicted_peak_bytes = 0;
};

// `progress`: what is done now, and of which model.
Result<std::vector<PytorchAnswer>> check_with_pytorch(
    const PytorchCheckSpec&, const std::vector<std::string>& models, const Workspace*,
    const std::function<void(const std::string& what, const std::string& model)>& progress,
    const std::atomic<bool>& stop);

}  // namespace planscope
