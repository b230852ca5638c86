#pragma once
// Places and parts of them.
#include "engine/plan/bind.h"

namespace planscope::plan {

// Whether a place is another one or a part of it: all its devices are there. Places of unknown devices are not.
bool within(const Decisions&, const PlaceInfo& place, const PlaceInfo& other);

}  // namespace planscope::plan
