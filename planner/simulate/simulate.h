#pragma once
// Simulation: one training step of a Program, per device class: when everything runs, what waits for what, and how much
// memory is alive.
//
// Model. A device class is one device that stands for all of its devices. It has six streams. The *compute* stream
// takes the instructions of its slots in order. A collective enters the *collective* stream when it is issued and runs
// after those issued before, or, if its group is not within one unit of the cluster's innermost level, the *network*
// stream: communicators over other links do not wait for each other. A send enters the *transfer* stream likewise. Messages of
// several streams over links of the same level share their bandwidth (link_use.h); but a message is there for its receiver, and
// a collective of several device classes is over, as if nothing came after it. Where communication has no background
// (Cluster::background), the compute stream does half of it when it issues and half when it waits, with the copies that pack
// and unpack messages. `wait` lets the compute stream go on when the
// value is there. Copies to host memory enter the *offload* stream and those back the *restore* stream, if the cluster has
// a way to host memory (Cluster::host); a backward or an update waits for what it needs of them, and a copy back for the
// copy there. Without one they are copies of the compute stream, as on processes that share one memory. A collective whose members stand in several device classes begins when all have reached it. A receive
// is over when the sending class has sent. Durations are those of planner/cost, computed once per instruction of a
// segment: all runs of a segment take equal times. Not modelled: slow-down of computing beside communication, links shared with other
// devices' messages (but Level::sharing), variation between devices (of causal attention by blocks, the device that sees most counts:
// planner/cost/hidden_blocks.h).
//
// Memory. Homes are alive all the time, with the older versions that are read, optimizer state too, or from restore to
// offload; a value from where it is made to its `free` (an accumulator from its first contribution); what autograd keeps
// of a piece (Op::saves, views as what they view, values of the Program not counted again) from compute(keep) or replay to
// backward, less the time in host memory; inside a computing instruction its working set. What goes to host memory is
// freed when its copy has ended; what comes back takes room when its copy is issued, but not before that. A value that a `free` ends in the forward pass although the backward of a piece reads it,
// and that nothing refills, stays alive until that backward.
//
// Overlapping steps (SlotStep::ahead). Many periods are played, without barriers between them, and the last one is shown:
// times and memory are those of training under way. A step is as long as a period, on average over the number of periods
// after which times repeat; devices are in the same period at different times, so what is shown of it is longer than that.
//
// Devices of several kinds (Cluster::kinds). What runs at a place takes as long, operator by operator, as on the slowest kind
// that stands there; a class whose devices are of several kinds has the memory of the smallest.
//
// Time is whole nanoseconds, so that parts sum exactly to their whole. Deterministic.
//
// Errors: streams that wait for each other (the message names the classes and instructions), indices out of range; the
// value is absent then. Warnings: more memory than a device of the class, or the host, has.
//
//   Result<Simulation> s = simulate(graph, program, cluster, {.optimizer_state_bytes = 8});
//   s->step_ns; s->bubble(); s->classes[0].idle.warm_up; s->classes[0].peak.bytes();
//
// Cost: proportional to the instructions run, some 20 ns each: 1,024 micro-batches on 16 stages well under 0.5 s.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/cost/operator_cost.h"

namespace planscope {

using Nanoseconds = std::int64_t;

struct Window {
  Nanoseconds from = 0, to = 0;
};

struct SimulationOptions {
  CostModel costs = {};
  std::int64_t optimizer_state_bytes = 8;  // per element of a trained parameter: AdamW 8 (two float32), momentum 4
  // Single instructions and each change of memory are recorded within the window; without a window, everywhere if a step
  // has at most `detail_limit` runs of instructions that take time, else nowhere. Elsewhere there are slots, the communication of each slot as
  // one block per stream, and memory by slot.
  std::optional<Window> window = {};
  std::int64_t detail_limit = 200'000;
  bool alive = false;  // record what is alive at each class' peak (ClassTimeline::alive)
  bool gaps = false;   // record when each class is idle (ClassTimeline::gaps)
};

// What is alive.
enum class MemoryKind : std::uint8_t {
  weights,        // homes of parameters and buffers
  optimizer,      // optimizer state
  gradients,      // of parameters
  activations,    // inputs, values between pieces and their gradients, what autograd keeps, working sets
  communication,  // results of communication that is under way, gathered copies of parameters
};
constexpr int kMemoryKinds = 5;
std::string_view to_string(MemoryKind);

struct Memory {
  std::array<std::int64_t, kMemoryKinds> kinds{};
  std::int64_t bytes() const;
  std::int64_t& operator[](MemoryKind k) { return kinds[static_cast<std::size_t>(k)]; }
  std::int64_t operator[](MemoryKind k) const { return kinds[static_cast<std::size_t>(k)]; }
  bool operator==(const Memory&) const = default;
};

// What takes memory: a value of the Program, what autograd keeps of a piece, the optimizer's state of a home (a value), a
// message (by the first of its values), or what a running instruction needs beside these.
struct Owner {
  enum class Kind : std::uint8_t { value, piece, state, message, working_set } kind = Kind::value;
  int id = -1;
  bool operator==(const Owner&) const = default;
  auto operator<=>(const Owner&) const = default;
};
struct AliveBytes {
  Owner of;
  MemoryKind kind = MemoryKind::activations;
  std::int64_t bytes = 0;  // of all its instances (micro-batches under way)
  bool operator==(const AliveBytes&) const = default;
};

// Why the compute stream stands still. Together with the work these sum to the step.
struct Idle {
  Nanoseconds warm_up = 0;        // for data, before the first backward of the class has begun
  Nanoseconds cool_down = 0;      // for data after its last forward, and from its last slot to the end of the step
  Nanoseconds imbalance = 0;      // of the above and of `data`: by how much the busiest class works longer
  Nanoseconds data = 0;           // for data, otherwise
  Nanoseconds communication = 0;  // for collectives: their exposed part
  Nanoseconds memory = 0;         // for copies from host memory
  Nanoseconds sum() const { return warm_up + cool_down + imbalance + data + communication + memory; }
  bool operator==(const Idle&) const = default;
};

// One of these, as a time in which the compute stream stands still.
enum class IdleCause : std::uint8_t { warm_up, cool_down, imbalance, data, communication, memory };
struct Gap {
  IdleCause cause = IdleCause::data;
  Nanoseconds start = 0, end = 0;
  int from = -1;  // class whose data it waits for; -1: not for data
  bool operator==(const Gap&) const = default;
};

enum class Stream : std::uint8_t { compute, collective, network, transfer, offload, restore };
std::string_view to_string(Stream);

// One run of a segment.
struct SlotBlock {
  SegmentId segment = -1;
  std::int64_t index = 0;  // of the segment's free axes, row-major; index_of() takes it apart
  Nanoseconds start = 0;   // of its first work on the compute stream
  Nanoseconds end = 0;
  std::int64_t ahead = 0;  // SlotStep::ahead
  bool operator==(const SlotBlock&) const = default;
};

// One instruction on a stream; or, where these are not recorded, from the first to the last one of a slot.
struct InstructionBlock {
  Stream stream = Stream::compute;
  int slot = 0;         // index into ClassTimeline::slots
  int instruction = 0;  // of the slot's segment; -1: all of the slot's on that stream
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  bool operator==(const InstructionBlock&) const = default;
};

struct MemoryPoint {
  Nanoseconds time = 0;
  std::int64_t bytes = 0;
  bool operator==(const MemoryPoint&) const = default;
};

struct Traffic {
  std::string kind;        // `all_reduce`, …, `send`
  std::int64_t group = 1;  // devices that take part in one
  std::int64_t count = 0;  // per device and step
  // Per device and step, see planner/cost/communication_cost.h; sent: in bytes, and by the level of the links.
  Bytes payload;
  double sent = 0;
  std::vector<double> by_level = {};
  int level = 0;           // of the outermost links that it goes over: Cluster::levels; in sums of several the highest
  Nanoseconds time = 0;    // of the links, hidden or not, if nothing else were on them
  void add(const Traffic& more, std::int64_t times);  // `times` of them: all but kind, group and level
  bool operator==(const Traffic&) const = default;
};

struct ClassTimeline {
  std::int64_t devices = 1;
  Nanoseconds makespan = 0;                  // end of its last slot
  Nanoseconds compute = 0;                   // the compute stream at work
  Nanoseconds collective = 0, transfer = 0;  // the other streams at work, hidden or not; collective: network too
  Nanoseconds host = 0;                      // those of host memory
  Idle idle;                                 // compute + idle.sum() == Simulation::step_ns
  // By start, with SimulationOptions::gaps: where single instructions are recorded all, and they sum to `idle`; elsewhere those
  // between slots. (Overlapping steps: of the period that is shown, while `idle` is the average.)
  std::vector<Gap> gaps;
  Memory peak;
  Bytes capacity;  // memory of a device; the least, of several kinds
  Nanoseconds peak_time = 0;
  int peak_slot = -1;  // -1: before the first slot
  int peak_instruction = -1;
  std::vector<AliveBytes> alive;    // at the peak, by owner; they sum to it. Empty without SimulationOptions::alive
  Bytes host_peak;                  // in host memory, of what one device has put there
  std::vector<MemoryPoint> memory;  // ascending in time; holds until the next point
  std::vector<SlotBlock> slots;     // in order
  std::vector<InstructionBlock> communication;  // and host copies: by start, per stream
  std::vector<InstructionBlock> instructions;   // compute stream, see SimulationOptions::window
  std::vector<Traffic> traffic;                 // by kind and group
  std::array<Nanoseconds, 3> sources{};         // compute time by FigureSource
  bool operator==(const ClassTimeline&) const = default;
};

struct Simulation {
  Nanoseconds step_ns = 0;
  std::vector<ClassTimeline> classes;  // parallel to Program::classes
  // Parallel to Program::segments: how long a run takes when all that it reads from elsewhere is there.
  std::vector<Nanoseconds> segment_ns;

  double step_us() const { return static_cast<double>(step_ns) / 1000; }
  // Share of all device time in which compute streams wait for other stages: idle time but that for collectives and host
  // copies.
  double bubble() const;
  // Over all classes, each counted once: what one device of every class takes part in.
  std::vector<Traffic> traffic() const;
  bool operator==(const Simulation&) const = default;
};

Result<Simulation> simulate(const Graph&, const Program&, const Cluster&, const SimulationOptions& = {});

// `f(S[0])[3]`: for screens and traces.
std::vector<std::int64_t> index_of(const Program&, const SlotBlock&);
std::string label(const Program&, const SlotBlock&);
std::string label(const Program&, const ClassTimeline&, const InstructionBlock&);

}  // namespace planscope
