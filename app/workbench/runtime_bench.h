#pragma once
// The runtime against PyTorch: how long a step takes and how much memory it needs, both sides in one go.
//
// Both sides train the same model (tests/bench/model.py: a GPT of some 17 million parameters) with AdamW, one thread a
// rank, each rank pinned to a core. Their processes live at the same time and take turns at single steps (turns.h): ours,
// theirs, ours, …; a pair is two steps that follow each other, so that whatever else the machine does hits both. The first
// pairs warm up and are not counted.
//
//   comparison   a plan of ours                     what PyTorch does (tests/bench/peer.py)
//   one          one device                         eager forward and backward, fused AdamW
//   data         batch over two devices             DistributedDataParallel over Gloo
//   1f1b         two stages, four micro-batches     torch.distributed.pipelining, Schedule1F1B
//
// Figures. Step: wall time of the slowest rank from a common start. Processor: time of all ranks' threads. Memory: the
// most resident memory of a process in a step less what it had before the model was made (parameters, optimizer state,
// gradients, activations, buffers; not the interpreter or libraries), of the rank with most. Ratios are ours / theirs:
// the median over the pairs, and the interval that has the true median in it with 95 % (order statistics; no assumption
// about the distribution).
//
// Errors: no such Python, or one without torch; fewer cores than ranks; a side that fails, with its reason.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/workbench/workbench.h"

namespace planscope {

struct RuntimeBenchSpec {
  std::string worker;              // the program `planscope-worker`
  std::string scripts;             // the folder with model.py, peer.py and the plans
  std::string python = "python3";  // with torch
  int pairs = 30;                  // counted
};

struct Ratio {
  double median = 0, low = 0, high = 0;
};
Ratio paired_ratio(const std::vector<double>& ours, const std::vector<double>& theirs);  // equally long, not empty

struct RuntimeSide {
  std::vector<double> step_us, cpu_us;  // per counted pair
  std::int64_t resident_bytes = 0;      // of the rank with most
};

struct RuntimeComparison {
  std::string name, against;
  int ranks = 1;
  RuntimeSide ours, theirs;
  Ratio step, processor;
  double memory = 0;  // ratio
};

constexpr double runtime_target = 1.05;  // of step and of memory

using BenchProgress = std::function<void(const std::string& comparison)>;
Result<std::vector<RuntimeComparison>> bench_runtime(const RuntimeBenchSpec&, const std::vector<std::string>& names,
                                                     const BenchProgress&, const std::atomic<bool>& stop);

}  // namespace planscope
