#pragma once
// Summaries of a timeline model that make drawing cost what is on the screen, not what is in the model: for each stream
// the time spent in each kind up to every 16th block, for each memory curve a tree of least and greatest bytes. Built
// once per model in linear time; about one byte in ten of the model's own size. Valid for that model only.
#include <array>
#include <vector>

#include "viz/timeline/model.h"

namespace planscope::viz {

struct StreamIndex {
  std::vector<std::array<double, block_kinds>> until;  // microseconds a kind in blocks [0, 16 i)
};

struct ByteRange {
  double least, greatest;
};

struct MemoryIndex {
  std::vector<std::vector<ByteRange>> levels;  // levels[k][i]: steps [16^(k+1) i, 16^(k+1) (i+1))
};

struct TimelineIndex {
  std::vector<std::vector<StreamIndex>> streams;  // [lane][stream]
  std::vector<MemoryIndex> memory;                // [lane]
  std::array<bool, block_kinds> kinds{};          // that occur
};

TimelineIndex build_index(const TimelineModel& model);

struct Mixture {
  BlockKind kind = BlockKind::forward;  // the one with most time; work wins over idle
  Microseconds work;                    // time that is not idle
  std::array<double, block_kinds> share{};  // of each kind in the work; all 0 where there is none
};

// Of blocks [first, last), which is not empty.
Mixture mixture(const Stream& stream, const StreamIndex& index, int first, int last);

// Of memory steps [first, last), which is not empty.
ByteRange byte_range(const std::vector<MemoryStep>& steps, const MemoryIndex& index, int first, int last);

}  // namespace planscope::viz
