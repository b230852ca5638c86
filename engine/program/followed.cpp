#include "engine/program/followed.h"

#include "engine/program/build/work.h"

namespace planscope {

std::vector<FollowCost> followed(const Graph& graph, const plan::Decisions& decisions, const Cluster& cluster, OpId op,
                                 int axis) {
  build::Work w(graph, decisions, cluster);
  if (!decisions.complete || !build::make_places(w)) return {};
  return build::compared_bindings(w, op, axis);
}

}  // namespace planscope
