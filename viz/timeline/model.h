#pragma once
// What a timeline shows, as plain data: one lane a device class, its streams of blocks, its memory over time. Filled by
// others (a simulator, a trial); nothing here knows where it comes from.
//
// Rules: the blocks of a stream are sorted by start and do not overlap; the steps of a memory curve are sorted by time,
// and their kinds sum to their bytes where they are known; nothing lies outside [0, duration]. first_problem() tests this.
// An empty model is legal.
//
//   TimelineModel m;
//   m.duration = Microseconds{300};
//   m.lanes.push_back({"stage 0", 16, {Stream{"compute", StreamKind::compute, {}}}, {}, {}});
//   m.lanes[0].streams[0].blocks.push_back({Microseconds{0}, Microseconds{100}, BlockKind::forward, 0, 12, "f0"});
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas/geometry.h"

namespace planscope::viz {

enum class BlockKind : std::uint8_t {
  forward,
  backward,
  weight,  // weight gradients that run apart from the backward pass
  update,
  communication,
  idle_warm_up,
  idle_cool_down,
  idle_imbalance,
  idle_data,           // waiting for a value of another device
  idle_communication,  // waiting for a conversion
  idle_memory,         // waiting for room
};
inline constexpr int block_kinds = 11;

constexpr bool is_idle(BlockKind kind) { return kind >= BlockKind::idle_warm_up; }
const char* name_of(BlockKind kind);  // "forward", "idle: waiting for data", …

struct Block {
  Microseconds start, duration;
  BlockKind kind = BlockKind::forward;
  std::int32_t micro_batch = -1;  // -1: none
  std::int32_t instruction = -1;  // index into details; -1: none
  std::string label;              // short: "f0"

  Microseconds end() const { return start + duration; }
};

// operators: the single operators of the blocks of the compute stream before it.
enum class StreamKind : std::uint8_t { compute, communication, operators };

struct Stream {
  std::string name;
  StreamKind kind = StreamKind::compute;
  std::vector<Block> blocks;
};

enum class MemoryKind : std::uint8_t { parameters, optimizer, gradients, activations, communication };
inline constexpr int memory_kinds = 5;
const char* name_of(MemoryKind kind);  // "parameters", "optimizer state", …

struct MemoryStep {
  Microseconds at;
  Bytes bytes;                                // in use from here on
  std::array<Bytes, memory_kinds> kinds = {};  // of it; all 0: not known
};

struct AliveLine {  // one of those that need most at the peak
  std::string what;
  MemoryKind kind = MemoryKind::activations;
  Bytes bytes;
};

struct Lane {
  std::string name;
  int devices = 1;
  std::vector<Stream> streams;
  std::vector<MemoryStep> memory;  // empty: no curve
  Bytes capacity;                  // of one device; 0: unknown
  Microseconds peak_at{-1};        // when most memory is in use; below 0: not known
  std::vector<AliveLine> alive = {};  // then, largest first
  bool pinned = false;     // stays in sight; pinned lanes come first
  bool folded = false;     // only its compute stream
  bool open = false;       // its devices follow as lanes
  bool is_device = false;  // one device of the lane before that is none; with several devices: what is left of them
  std::string about = {};  // what runs in it: `S[0]: model.layers 0–7`; empty: not known
};

struct BlockRef {
  int lane = 0, stream = 0, block = 0;
  friend bool operator==(const BlockRef&, const BlockRef&) = default;
};

struct Link {  // data that flows from one block to another
  BlockRef from, to;
};

struct Marker {
  Microseconds at;
  std::string label;
};

// What blocks stand for; found by Block::instruction.
struct BlockDetail {
  std::string title = {};                                  // "layers.*.mlp.up_proj × 32"
  std::string subtitle = {};                               // "linear · modeling_llama.py:181"
  std::vector<std::pair<std::string, std::string>> facts = {};  // "compute" → "1.92 ms, measured"
  std::int32_t plan_line = 0;                              // that decided it; 0: none
  std::vector<std::int32_t> operators = {};                // numbers of those that it computes, ascending
  std::vector<std::int32_t> tensors = {};                  // numbers of those that it sends, ascending
  std::vector<std::string> communicators = {};             // among whom: `all_reduce over tensor`
  std::string task = {};                                   // as order rows name it, without its index; empty: none
  std::vector<std::pair<std::string, std::int32_t>> index_axes = {};  // and sizes, of Block::micro_batch, the slowest first
  std::vector<std::int32_t> reads = {};                    // details whose results it reads, in the same run
};

// A part of the chain of work that makes the step as long as it is.
struct PathPart {
  std::int32_t lane = 0, stream = 0;
  Microseconds start, duration;
};

// What is known of single operators: where they are recorded; elsewhere they can be asked for.
struct Detail {
  Microseconds begin, end;
  double operators_per_us = 0;  // on average
};

struct TimelineModel {
  std::vector<Lane> lanes;
  std::vector<BlockDetail> details;
  std::vector<Link> links;
  std::vector<Marker> markers;
  std::vector<PathPart> critical;  // by start
  Microseconds duration;
  std::optional<Detail> detail = {};  // none: there is nothing to ask for
  bool compared = false;              // of several plans: lanes are not those of the session, and cannot be selected there

  const Block& at(const BlockRef& ref) const { return lanes[ref.lane].streams[ref.stream].blocks[ref.block]; }
};

// By what a session knows a lane: its name; of what is left of the devices of a lane, the name of that one.
const std::string& session_name(const TimelineModel&, int lane);

// The first broken rule in words ("stage 0, compute: block 7 begins before block 6 ends"), or empty.
std::string first_problem(const TimelineModel& model);

// The block of `now` with the same lane name, stream name, instruction and micro-batch as `ref` of `before`.
std::optional<BlockRef> find_again(const TimelineModel& before, const BlockRef& ref, const TimelineModel& now);

// "412.6 ms", "1.5 µs", "3.25 s"; "61.2 GiB", "448 MiB", "12 B".
std::string format_time(Microseconds t);
std::string format_bytes(Bytes b);

}  // namespace planscope::viz
