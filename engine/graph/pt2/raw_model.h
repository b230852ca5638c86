#pragma once
// What a .pt2 file says, before it is made pure: a Model whose nodes may write into their operands and whose views
// share memory. Sub-graphs that only set the gradient mode are inlined already.
#include <vector>

#include "engine/graph/model.h"

namespace planscope {

struct RawModel {
  Model model;
  std::vector<std::vector<std::int64_t>> strides;  // of each value, elements; tells whether reshape copies
};

}  // namespace planscope
