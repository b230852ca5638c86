#pragma once
// The plans that anybody would begin with: replicas alone, with ever less on each device (ZeRO, layers computed again), then
// with tensor-parallel groups, then with stages. Nothing is measured for them, so they are there at once: a search that has to
// end before it found anything answers with the first that fits.
//
//   for (const Configuration& c : plain_plans(shape, 64, 8, false)) …    // {data=64}, {data=64 zero=1}, …
#include <cstdint>
#include <vector>

#include "planner/search/stages/configuration.h"

namespace planscope::stages {

// On so many devices, `unit` of which are near each other; `all_axes` as in Configuration. Those that need most memory first.
std::vector<Configuration> plain_plans(const ModelShape&, std::int64_t devices, std::int64_t unit, bool all_axes);

}  // namespace planscope::stages
