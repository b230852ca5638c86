#pragma once
// Free axes as sets, and which indices a value has where it is.
//
//   subset(v.indexed, segment.free_axes)     // one instance for each run of the segment at most
//   without({2, 0, 1}, {1}) == {0, 2}
#include <vector>

#include "engine/program/program.h"

namespace planscope::verification {

bool subset(const std::vector<AxisId>&, const std::vector<AxisId>& of);
std::vector<AxisId> without(const std::vector<AxisId>&, const std::vector<AxisId>& those);  // ascending

// Whether a digit says a block at every device of the place and every index of `indexed`.
bool has_coordinate(const Program&, const Digit&, const Place&, const std::vector<AxisId>& indexed);

// Places are equal if they name the same sub-grid.
bool same_place(const Program&, PlaceId, PlaceId);

}  // namespace planscope::verification
