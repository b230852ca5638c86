#pragma once
// A Model as text, one line an input, node or result; for tests and for looking at what a pass did.
//
//   input %0 input_ids: int64[4,16]
//   parameter %1 lm_head.weight = transformer.wte.weight: float32[96,48]
//   transformer.wte:embedding#0 %40: float32[4,16,48] = aten::embedding(weight=%1, indices=%0, padding_idx=-1, …)
//   loss %90
#include <string>

#include "engine/graph/model.h"

namespace planscope {

std::string to_string(const Argument&);
std::string print(const Model&, const Node&);  // without a line end
std::string print(const Model&);

}  // namespace planscope
