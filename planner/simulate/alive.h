#pragma once
// What a device class' memory peak is made of, in words: tensors, what backward needs of the pieces, optimizer states, and
// what the instruction of the peak needs while it runs. Owners whose names differ in numbers alone are one line (layers).
//
//   Result<Simulation> s = simulate(graph, program, cluster, {.alive = true});
//   for (const AliveGroup& a : alive_groups(graph, program, s->classes[0])) …
//     optimizer    3.1 GiB  model.layers.*.mlp.up_proj.weight (32)
//     activations  1.2 GiB  saved for backward by model.layers.*.self_attn (8)
//
// They sum to ClassTimeline::peak, kind by kind. What the instruction frees while it runs is not among them (at_work.h).
#include <string>
#include <vector>

#include "planner/simulate/simulate.h"

namespace planscope {

struct AliveGroup {
  std::string what;
  MemoryKind kind = MemoryKind::activations;
  std::int64_t bytes = 0;
  std::int64_t count = 0;  // of owners
  bool operator==(const AliveGroup&) const = default;
};

// What a value, the state of a home, a message, or what is saved by a piece is called; of a working set: `at work`.
std::string owner_name(const Graph&, const Program&, const Owner&);

// Largest first. Empty if the simulation did not record it.
std::vector<AliveGroup> alive_groups(const Graph&, const Program&, const ClassTimeline&);

// Whether there is a rule for everything that computes; else what operators without one keep and need is not known, and a
// peak is at least what the simulation says.
bool memory_is_known(const Graph&);

// What stands before a predicted peak: nothing where it is known, `at least ` where operators have no rule, `up to ` where sizes
// depend on data, which are counted at their largest, and `about ` where both is so.
std::string memory_word(const Graph&);
bool has_sizes_of_data(const Graph&);  // sizes depend on data, and are counted at their largest

// Why it is not, with the first such operator; empty: it is.
std::string unknown_memory(const Graph&);

}  // namespace planscope
