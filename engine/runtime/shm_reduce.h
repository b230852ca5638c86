#pragma once
// Combines blocks of several ranks element by element, always in the order of the list, so that the result is the same
// bits wherever and whenever it is made. 16-bit floating types are added in float32 and rounded once. Integers wrap
// around; for `bool`, sum and max are "or", min is "and". A maximum or minimum with a NaN is NaN.
//
//   reduce(out, {mine, theirs}, 1024, at::kFloat, Reduction::sum);      // out may be one of the two
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/runtime/transport.h"

namespace planscope {

bool reducible(c10::ScalarType);  // complex and quantized types are not

void reduce(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t elements, c10::ScalarType, Reduction);

}  // namespace planscope
