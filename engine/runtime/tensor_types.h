#pragma once
// Element types of a model as LibTorch knows them, and the two ways in which a trial may run a model: in its own types,
// or with every floating type widened to float64 (comparisons are then exact but for reassociation).
#include <ATen/ATen.h>

#include <vector>

#include "engine/graph/model.h"

namespace planscope {

using TensorList = std::vector<at::Tensor>;

enum class Precision : std::uint8_t { model, float64 };

at::ScalarType scalar_type(DType, Precision = Precision::model);
DType dtype_of(at::ScalarType);

}  // namespace planscope
