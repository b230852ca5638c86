#pragma once
// What *follow* compared where no statement says what an operator does on an axis: every binding that keeps some operand in
// a layout in which it is held, and the whole operator, each with the bytes that would move on that axis, forward and
// backward (an all-reduce counts twice). The least wins, the first of equals.
//
//   for (const FollowCost& c : followed(graph, decisions, cluster, op, axis)) c.factors, c.bytes, c.chosen
//
// Nothing is compared where a statement decides, where a partial value passes through, where the axis has one index at the
// operator's place, or where nothing but its reader decides (Origin::sweep): the list is empty then.
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/plan/bind.h"

namespace planscope {

struct FollowCost {
  std::vector<int> factors;  // of the operator; empty: whole
  double bytes = 0;          // per step; `barrier`: over a free axis, all indices would have to be there at once
  bool barrier = false;
  bool chosen = false;
};

// `axis`: into Decisions::axes.
std::vector<FollowCost> followed(const Graph&, const plan::Decisions&, const Cluster&, OpId, int axis);

}  // namespace planscope
