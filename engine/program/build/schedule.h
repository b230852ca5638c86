#pragma once
// What make_schedule() stands on. Internal to engine/program.
#include <vector>

#include "engine/program/program.h"

namespace planscope::build {

// Makes Program::classes; for every segment, those that run it (ascending).
std::vector<std::vector<int>> make_classes(Program&);

// The same slots in the same order, repetitions as loops.
std::vector<Loop> folded(const std::vector<SlotRun>&);

}  // namespace planscope::build
