#pragma once
// What every order of a Program's tasks needs that keeps its order rows, in bytes of a device of each class: what is there
// all the time, and what lives between tasks (kept by autograd for a backward, values on their way) of the micro-batches
// that must be under way at once. They are where, of some tasks that end what others made, rows and data put all of the
// others before each of the some: at the start of the first of these. Nothing else is counted, so that no order needs less;
// many need more.
//
// Empty where it cannot be said: what program_case() refuses, and more than 2,048 tasks.
//
//   Simulation s = simulate(graph, program, cluster, {.alive = true});
//   least_memory(materialized, s, cluster)[2]                       // of the devices of class 2
#include "planner/search/orders/program_case.h"

namespace planscope::orders {

std::vector<std::int64_t> least_memory(const Materialized&, const Simulation& with_alive, const Cluster&);

}  // namespace planscope::orders
