#include "engine/program/followed.h"

#include "engine/program/alike.h"
#include "engine/program/build/work.h"

namespace planscope {

std::vector<FollowCost> followed(const Graph& graph, const plan::Decisions& decisions, const Cluster& cluster, OpId op,
                                 int axis) {
  const std::vector<int> alike = alike_operators(graph);
  build::Work w(graph, alike, decisions, cluster);
  if (!decisions.complete || !build::make_places(w)) return {};
  return build::compared_bindings(w, op, axis);
}

}  // namespace planscope
