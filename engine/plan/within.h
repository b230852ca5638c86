#pragma once
// Places and parts of them.
#include <string>

#include "engine/plan/bind.h"

namespace planscope::plan {

// Whether a place is another one or a part of it: all its devices are there. Places of unknown devices are not.
bool within(const Decisions&, const PlaceInfo& place, const PlaceInfo& other);

// As `assign … to` takes it: `pipe=1`, `pipe=1, data=0`, `pipe=[0:2]`, `all`.
std::string place_text(const Decisions&, const PlaceInfo&);

}  // namespace planscope::plan
