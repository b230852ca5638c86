#pragma once
// What make_schedule() stands on. Internal to engine/program.
#include <optional>
#include <string>
#include <vector>

#include "engine/program/build/work.h"

namespace planscope::build {

// Makes Program::classes; for every segment, those that run it (ascending).
std::vector<std::vector<int>> make_classes(Program&);

// Task `from` of step s runs before task `to` of step s + steps.
struct Edge {
  int from = -1, to = -1;
  int statement = -1;  // of Decisions; -1: data
  std::int64_t steps = 0;
};
using Edges = std::vector<std::vector<Edge>>;  // by the task that they begin at

// How many steps tasks are ahead where steps overlap. Task a of step s stands in period s - of[a], so an edge is kept if
// of[to] <= of[from] + steps; these are the least numbers that keep all edges: nothing is begun earlier than rows want.
// Instead, edges that cannot all be kept, each beginning where the one before ends.
struct Ahead {
  std::vector<std::int64_t> of;
  std::vector<Edge> conflict;
};
Ahead steps_ahead(const Edges& within_a_step, const std::vector<Edge>& between_steps);

// Edges of a cycle among tasks that wait for others (`waiting` > 0), all of which are on one or behind one.
std::vector<Edge> cycle(const Edges&, const std::vector<int>& waiting);

// The same, of edges that cannot do without any one of their rows: without all edges of a row of it (`row[statement]`) the
// others of its rows have no cycle.
std::vector<Edge> least_cycle(const Edges&, const std::vector<int>& waiting, const std::vector<int>& row);

// What makes work wait for other work at other indices of a free axis: an operator that needs a value, or the gradient of
// one, of all of them.
struct Barrier {
  std::string text;
  int line = 0;  // of the statement that splits around the operator; 0: none does
};
std::optional<Barrier> barrier(const Work&, SegmentId from, SegmentId to);  // what one reads of the other
std::optional<Barrier> barrier_of(const Work&, int unit, int axis);         // what a unit reads; an axis of Decisions

// The same slots in the same order, repetitions as loops.
std::vector<Loop> folded(const std::vector<SlotRun>&);

}  // namespace planscope::build
