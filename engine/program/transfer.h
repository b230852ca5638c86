#pragma once
// What a Transfer (program.h) means, for all who run, check or predict one.
//
//   sender_of(p, from, to, {0, 4}, 6)       4, where devices 4 and 6 differ in nothing but the stage
//   sent_as(p, receive, %12)                the value of the sending place that arrives as %12
#include <span>

#include "engine/program/program.h"

namespace planscope {

// Who sends a block to `receiver`, of the devices of the place `from` that hold it (at least one, in their order): the
// receiver itself, else the one with equal coordinates on the axes of `from` and `to` that have equal names, else the
// first.
int sender_of(const Program&, const Place& from, const Place& to, std::span<const int> holders, int receiver);

ProgramValueId sent_as(const Program&, const Instruction& receive, ProgramValueId received);

}  // namespace planscope
