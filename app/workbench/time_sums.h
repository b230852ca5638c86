#pragma once
// What the device classes do within a part of a step: work by phase, idle time by cause, communication by kind. Work and idle
// time of a class sum to the part's length, to the nanosecond (but of overlapping steps, where classes are in the same period at
// different times); over the whole step the sums are those of simulate().
//
//   TimeSums s = time_sums(graph, program, cluster, simulation, {from, to});   // with single operators recorded there, and gaps
//   s.classes[0].work[Phase::forward]
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/simulate/simulate.h"

namespace planscope {

constexpr int kIdleCauses = 6;
std::string_view to_string(IdleCause);

struct CommunicationSum {
  std::string kind;        // `all_reduce`, `send`, `offload`, …
  double count = 0;        // messages; of those that lie partly within, their share
  Nanoseconds time = 0;    // that links are busy, hidden or not
  double sent_bytes = 0;   // by one device; of those that lie partly within, their share. 0 of copies to host memory
};

struct ClassSums {
  std::array<Nanoseconds, 4> work{};             // forward, backward, weight, update
  std::array<Nanoseconds, kIdleCauses> idle{};  // by IdleCause
  std::vector<CommunicationSum> communication;   // by kind
  Nanoseconds work_sum() const;
  Nanoseconds idle_sum() const;
};

struct TimeSums {
  Window window;
  std::vector<ClassSums> classes;  // parallel to Program::classes
};

TimeSums time_sums(const Graph&, const Program&, const Cluster&, const Simulation&, Window);

}  // namespace planscope
