#pragma once
// A Program as a schedule search sees it, and the order that is found as lines of a plan.
//
// Blocks are the segments that run once for each index of the one free axis that they share (micro-batches); their devices
// are device classes. A block takes as long as it does when all that it reads from elsewhere is there (Simulation::segment_ns), and memory as
// much as its pieces keep for their backward. It follows what it reads: values and kept pieces of its own class, and over
// transfers, which take their time beside computing.
//
// What the user's `order` rows put in order are relations of the case, by the lines of the plan; lines of the planner's
// (`auto`) are none.
//
// What cannot be said so (several free axes, steps that overlap): a diagnostic says what.
//
// The lines: for each device class one chain that repeats with the micro-batch, in the order of the pattern:
//   auto order f(S[0])[m+3] < b(S[0])[m] < f(S[0])[m+4]
// A segment is named by the unit of a `let … = cut …` that holds its operators (`S[0]`, `S[0]@1` where the unit's modules are
// called several times), or by its modules. What has no such name is not ordered; it runs where list scheduling has it.
//
//   Result<ProgramCase> c = program_case(graph, decisions, program, simulation, cluster);
//   schedule::Answer a = schedule::search(c->problem, {.seconds = 5});
//   std::vector<std::string> lines = order_lines(*c, a);
#include "engine/program/materialize.h"
#include "planner/search/schedule/schedule.h"
#include "planner/simulate/simulate.h"

namespace planscope::orders {

struct ProgramCase {
  schedule::Case problem;
  std::string axis;                 // of the micro-batches
  std::vector<std::string> tasks;   // by block: `f(S[0])`; empty: it has no name in the plan's language
  std::vector<SegmentId> segments;  // by block
};

Result<ProgramCase> program_case(const Materialized&, const Simulation&, const Cluster&);

std::vector<std::string> order_lines(const ProgramCase&, const schedule::Answer&);

// The whole schedule instead of its pattern: for each device class all tasks in a chain, `f(S[0])[0] < f(S[0])[1] < …`. What is
// gained at both ends of a step counts where micro-batches are few; nothing where they would make more than `most` tasks.
std::vector<std::string> whole_order_lines(const ProgramCase&, const schedule::Answer&, int most = 256);

}  // namespace planscope::orders
