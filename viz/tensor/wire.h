#pragma once
// A picture of a tensor as bytes (viz/canvas/wire.h).
#include <optional>
#include <string>
#include <string_view>

#include "viz/tensor/model.h"

namespace planscope::viz {

std::string encode(const TensorModel&);
std::optional<TensorModel> decode_tensor(std::string_view bytes);  // nothing: damaged, or a rule of model.h is broken

}  // namespace planscope::viz
