#include "engine/graph/bodies.h"

#include <algorithm>

#include "engine/graph/arguments.h"

namespace planscope {
namespace {

double flops_of(const std::shared_ptr<const Model>& body) {
  const Result<Graph> graph = make_graph(body);
  double sum = 0;
  if (graph.ok())
    for (const Op& op : graph->ops) sum += op.flops;
  return sum;
}

// Along the first dimension of what it runs over.
double rounds(const Model& model, const Node& node) {
  const auto* elements = tensors_argument(node, "elements");
  if (!elements || elements->empty()) return 1;
  const std::vector<std::int64_t>& sizes = model.values[static_cast<std::size_t>(elements->front().id)].sizes;
  return sizes.empty() ? 1 : static_cast<double>(sizes.front());
}

}  // namespace

double body_flops(const Model& model, const Node& node) {
  double sum = 0, most = 0;
  for (const auto& body : node.bodies) {
    const double flops = flops_of(body);
    sum += flops;
    most = std::max(most, flops);
  }
  return node.target == "planscope::cond" ? most : sum * rounds(model, node);
}

}  // namespace planscope
