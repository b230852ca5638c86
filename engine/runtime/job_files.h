#pragma once
// What a worker reads before it works: the model and the Program that its job names.
#include <string>
#include <utility>
#include <vector>

#include "engine/program/program.h"

namespace planscope {

// `sizes`: named input dimensions, as in Program::sizes; none: as exported.
Result<Graph> read_graph(const std::string& model, const std::vector<std::pair<std::string, std::int64_t>>& sizes);
Result<Program> read_program(const std::string& path, const Graph&);

}  // namespace planscope
