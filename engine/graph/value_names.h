#pragma once
// Names for values that operators compute, so that every message can say which tensor it is about: that of the operator
// (Node::name()), with the number of the output where it has several. Inputs, parameters, buffers and constants keep the
// names of the file.
//
//   model.layers.0.mlp.up_proj:linear#0      model.layers.0.self_attn:split#0[1]
#include "engine/graph/model.h"

namespace planscope {

void name_values(Model&);

}  // namespace planscope
