#pragma once
// The JSON program of an archive as a RawModel: graph, signature, names. Sub-graphs that set the gradient mode are
// inlined; arguments are complete and in schema order; symbolic integers have their value in the exported example.
//
// What cannot be read inside one node makes that node `planscope::opaque(operator, operands)` with a warning. What is
// wrong around nodes (a value that nobody made, sizes that overflow) is an error.
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"
#include "engine/graph/pt2/raw_model.h"

namespace planscope {

// `file` is only for messages. Weights are not read here.
Result<RawModel> read_program(std::string_view json, const std::string& file);

}  // namespace planscope
