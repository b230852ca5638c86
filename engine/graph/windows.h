#pragma once
// What operators over planes (convolution, pooling, interpolation, padding) have in common.
#include <cstdint>
#include <string>
#include <vector>

namespace planscope {

// Of a plane, by the operator's name (`…2d`): 0 where it does not say.
int dimensions_of(const std::string& target);

// `frames`, `height`, `width` of as many dimensions as there are, the last one `width`.
const char* plane_name(int dimensions, int k);

// Element k; of a list that is shorter its last one, of an empty one `otherwise`.
std::int64_t at_or(const std::vector<std::int64_t>& list, int k, std::int64_t otherwise);

}  // namespace planscope
