#pragma once
// What a .pt2 file says, before it is made pure: a Model whose nodes may write into their operands and whose views
// share memory. Sub-graphs that only set a mode (gradients, autocast) or ask for recomputation are inlined already.
#include <map>
#include <vector>

#include "engine/graph/model.h"

namespace planscope {

struct RawModel {
  Model model;
  std::vector<std::vector<std::int64_t>> strides;  // of each value, elements; tells whether reshape copies
  std::vector<bool> on_cuda;                       // of each value: where it was when the model was exported
  std::map<std::size_t, std::vector<RawModel>> bodies;  // by node: sub-graphs that stay
};

}  // namespace planscope
