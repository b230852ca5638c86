#pragma once
// A Chrome trace (the Trace Event Format, JSON) as a timeline: those of `planscope simulate --trace`, of profilers, of
// other tools. A lane is a process, a stream a thread; blocks are the complete events (`ph` X) that lie in no other one
// of their thread; counters named `memory` are the lane's memory.
//
//   Result<ChromeTrace> t = read_chrome_trace(text, "rank0.json");
//   t->timeline; t->events; t->left_out
//
// Time stamps count from the first event. A block's kind is read off its category or name: forward, backward, update,
// and what names a communication (all_reduce, nccl…, send); else it is a forward.
//
// Errors: it is no JSON (with the place), holds no event that takes time; too large. Warnings: the file ends in the middle, as
// the format allows of a program that was killed; events that lie across each other.
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"
#include "viz/timeline/model.h"

namespace planscope {

struct ChromeTrace {
  viz::TimelineModel timeline;
  std::int64_t events = 0;    // complete ones
  std::int64_t left_out = 0;  // those that lie in others: what an event consists of
};

inline constexpr std::size_t most_trace_bytes = std::size_t{1} << 30;

Result<ChromeTrace> read_chrome_trace(std::string_view json, const std::string& file);

}  // namespace planscope
