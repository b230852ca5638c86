#pragma once
// Cost networks as JSON files:
//
//   {"memory_limit": 700, "kinds": [{"cost": [1.5, 2], "memory": [400, 100]}], "pairs": [[[0, 1], [1, 0]]],
//    "nodes": [0, 0], "edges": [[0, 1, 0]]}
//
// nodes: the kind of each; edges: from, to, pair; pairs[p][i][j]: cost when `from` takes i and `to` takes j. With several
// memory rows `memory_limit` is a list, and `memory` a list of rows. Other fields (`name`) are passed over. Whole numbers
// may be written as 3.0.
//
// Errors: what is not JSON, lacks a field, or has another shape, each with its place (`edges[3]`), and the faults of
// network.h.
#include <string>
#include <string_view>

#include "planner/search/layout/network.h"

namespace planscope::layouts {

Result<CostNetwork> parse_case(std::string_view json, const std::string& file);
Result<CostNetwork> read_case(const std::string& file);

}  // namespace planscope::layouts
