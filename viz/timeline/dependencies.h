#pragma once
// What a block waits for, and what waits for it: messages between lanes (TimelineModel::links), and within its lane the
// operators and communication whose results it reads or that read its own (BlockDetail::reads).
//
//   for (const Link& l : dependencies(model, {0, 1, 12})) draw(l.from, l.to);
#include <vector>

#include "viz/timeline/model.h"

namespace planscope::viz {

std::vector<Link> dependencies(const TimelineModel&, const BlockRef&);

}  // namespace planscope::viz
