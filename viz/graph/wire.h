#pragma once
// A graph as bytes (viz/canvas/wire.h).
#include <optional>
#include <string>
#include <string_view>

#include "viz/graph/model.h"

namespace planscope::viz {

std::string encode(const GraphModel&);
std::optional<GraphModel> decode_graph(std::string_view bytes);  // nothing: damaged, or a rule of model.h is broken

}  // namespace planscope::viz
