#pragma once
// Summaries of a timeline model that make drawing cost what is on the screen, not what is in the model: for every 16th
// block of a stream the time spent in each kind before it, for each memory curve a tree of least and greatest bytes.
// Built once per model in linear time; about one byte in ten of the model's own size. Valid for that model only.
#include <array>
#include <vector>

#include "viz/timeline/model.h"

namespace planscope::viz {

inline constexpr int index_group = 16;

// Of every group i of blocks, and of the end where the last one is whole; apart, because they are searched apart.
struct StreamIndex {
  std::vector<Microseconds> starts, ends_before;            // of block 16 i; where block 16 i - 1 ends
  std::vector<std::array<double, block_kinds>> until;  // microseconds of each kind in blocks [0, 16 i)
};

struct ByteRange {
  double least, greatest;
  int at = 0;  // the first step with the greatest
};

struct MemoryIndex {
  std::vector<Microseconds> times;             // of every 16th step
  std::vector<std::vector<ByteRange>> levels;  // levels[k][i]: steps [16^(k+1) i, 16^(k+1) (i+1))
};

struct TimelineIndex {
  std::vector<std::vector<StreamIndex>> streams;  // [lane][stream]
  std::vector<MemoryIndex> memory;                // [lane]
  std::vector<double> peaks;                      // [lane] bytes; 0: no curve
  double memory_top = 1;                          // of the one scale of all memory curves
  bool shows_capacity = false;                    // what a device has lies within it
  std::array<bool, block_kinds> kinds{};          // that occur
  std::array<bool, memory_kinds> memory_of{};     // kinds of memory that occur
  bool critical = false;                          // the critical path is known
};

TimelineIndex build_index(const TimelineModel& model);

struct Mixture {
  BlockKind kind = BlockKind::forward;  // the one with most time; work wins over idle
  Microseconds work;                    // time that is not idle
  std::array<double, block_kinds> time{};  // microseconds of each kind
};

// Of blocks [first, last), which is not empty.
Mixture mixture(const Stream& stream, const StreamIndex& index, int first, int last);

// Of memory steps [first, last), which is not empty.
ByteRange byte_range(const std::vector<MemoryStep>& steps, const MemoryIndex& index, int first, int last);

}  // namespace planscope::viz
