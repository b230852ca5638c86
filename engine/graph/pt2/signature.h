#pragma once
// The graph signature: which inputs are parameters, buffers, constants and user inputs; which outputs are the loss,
// user outputs and changed buffers.
#include "engine/graph/pt2/node_reader.h"

namespace planscope {

bool read_inputs(Json graph, Json signature, Scope& scope, NodeReader& reader);

// After the nodes. `returned`: how forward returns them, in torch's pytree text.
bool read_outputs(Json signature, std::string_view returned, const Scope& scope, NodeReader& reader);

}  // namespace planscope
