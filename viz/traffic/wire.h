#pragma once
// A picture of communication as bytes (viz/canvas/wire.h).
#include <optional>
#include <string>
#include <string_view>

#include "viz/traffic/model.h"

namespace planscope::viz {

std::string encode(const TrafficModel&);
std::optional<TrafficModel> decode_traffic(std::string_view bytes);  // nothing: damaged, or a rule of model.h is broken

}  // namespace planscope::viz
