#pragma once
// A model folded for its graph: modules as groups in program order, of equal layers one group that stands for all
// of them. What is
// no module is folded too: the parts of an operator that has been taken apart, what no parameter reaches (masks,
// positions), and where
// a list is long, equal stretches of operators and else consecutive parts.
//
//   FoldedModel f = fold_model(graph);
//   f.groups[0]                            the root
//   f.groups[*f.find("model.layers[*]")]   {.repeats = 32, .count = 32, .operators = 1536}
//
// Pure; time is proportional to operators × depth, with a factor of the longest unit for lists without modules.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope::session {

struct Group {
  std::string id;     // stays the same whatever plan there is: `model.layers[*].mlp`, `:add#0`
  std::string label;  // without the path: `mlp`, `add`
  std::string
      kind;  // of the module or the operator: `LlamaMLP`, `add`; of several operators `auxiliary`, `repeat`, `part`
  std::string selector;  // of the plan language, that names the operators
  int parent = -1, depth = 0;
  int repeats = 1;                 // of what is in it: > 1: equal layers
  std::int64_t count = 1;          // of equal ones that it stands for: its own repeats and those around it
  std::int64_t operators = 0;      // in all of them
  std::vector<int> children = {};  // groups, in program order; of an operator none
  // Of a group without children: of every one of the equal ones, those of the outermost repeat slowest.
  std::vector<OpId> ops = {};
};

struct FoldedModel {
  std::vector<Group> groups;  // parents before their children, in program order
  std::unordered_map<std::string, int> by_id;
  std::vector<int> group_of;     // by operator: the group without children that it is in
  std::vector<int> instance_of;  // by operator: which of Group::ops
  std::optional<int> find(std::string_view id) const;
};

FoldedModel fold_model(const Graph&);

// What is opened at first, outermost groups first, as long as no more than so many boxes are drawn; equal layers
// stay folded.
std::vector<std::string> first_expanded(const FoldedModel&, std::size_t boxes = 32);

// Whether a group has a text in its name or kind, whatever the case.
bool is_found(const Group&, std::string_view text);

// Which of the equal ones of `around`, a group around operator `op`, that operator is in; 0 where it has no repeats.
int repeat_of(const FoldedModel&, OpId op, int around);

}  // namespace planscope::session
