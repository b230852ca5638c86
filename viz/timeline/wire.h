#pragma once
// A timeline as bytes (viz/canvas/wire.h).
#include <optional>
#include <string>
#include <string_view>

#include "viz/timeline/model.h"

namespace planscope::viz {

std::string encode(const TimelineModel&);
std::optional<TimelineModel> decode_timeline(std::string_view bytes);  // nothing: damaged, or a rule of model.h is broken

}  // namespace planscope::viz
