#pragma once
// `forbid` rows against what runs. What no statement decides (places that follow, factors that follow or come from the
// backward sweep, how parameters are stored, fetched and their gradients added up where their readers split them) is known
// only when instances are made; what statements decide, binding has held against the rows already.
#include "engine/program/build/work.h"

namespace planscope::build {

bool keep_forbids(Work&);  // a pass: false with an error at the row

}  // namespace planscope::build
