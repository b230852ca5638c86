#pragma once
// What a training step of a class makes and no instruction of it frees: values that loops read last with nothing of their
// task behind them (a parameter that is gathered once for all micro-batches, say), the loss, and what a piece without a
// backward keeps. It goes with the end of its step.
//
//   unfreed(program, program.classes[c], instances).values;  // each once for every instance that the class makes
#include <vector>

#include "engine/program/program.h"
#include "planner/simulate/instances.h"

namespace planscope {

struct Unfreed {
  std::vector<ProgramValueId> values;
  std::vector<PieceId> pieces;  // each once for every run
};

Unfreed unfreed(const Program&, const DeviceClass&, Instances&);

}  // namespace planscope
