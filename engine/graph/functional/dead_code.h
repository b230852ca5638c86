#pragma once
// Removes nodes whose results reach no output, no loss and no changed buffer, and the values that nobody reads then
// (inputs stay). Values are numbered anew: inputs, parameters, buffers, constants, then results in node order.
#include "engine/graph/model.h"

namespace planscope {

Model remove_dead_nodes(Model);

}  // namespace planscope
