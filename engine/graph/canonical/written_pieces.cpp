// A tensor that is written piece by piece along one dimension, until all of it is written, is the pieces joined: what it
// was before does not matter.
//
//   y = empty(4, 192); y[:, :128] = a; y[:, 128:] = b          cat([a, b], 1)
#include <algorithm>
#include <vector>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

struct Piece {
  std::int64_t start, end;
  ValueId source;
};

// Pieces of the write and of those before it, in their order along the dimension; none: a part is left as it was, or is
// written twice.
std::vector<Piece> pieces(const Rewriter& rewriter, const Node& last) {
  std::vector<Piece> found;
  const auto dim = int_argument(last, "dim");
  if (last.target != "aten::slice_scatter" || !dim || *dim < 0) return {};
  std::int64_t written = 0;
  ValueId self = -1;
  for (const Node* node = &last; node; node = rewriter.producer(self)) {
    const ValueId source = tensor_argument(*node, "src");
    const auto start = int_argument(*node, "start"), end = int_argument(*node, "end");
    self = tensor_argument(*node, "self");
    if (node->target != "aten::slice_scatter" || int_argument(*node, "dim") != dim || self < 0 || source < 0 ||
        !start || !end || int_argument(*node, "step").value_or(0) != 1)
      return {};
    for (const Piece& p : found)
      if (*start < p.end && p.start < *end) return {};
    found.push_back({*start, *end, source});
    written += *end - *start;
    const auto& sizes = rewriter.value(self).sizes;
    if (static_cast<std::size_t>(*dim) >= sizes.size()) return {};
    if (written < sizes[static_cast<std::size_t>(*dim)]) continue;
    std::sort(found.begin(), found.end(), [](const Piece& a, const Piece& b) { return a.start < b.start; });
    return found;
  }
  return {};
}

}  // namespace

Model written_pieces(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const std::vector<Piece> found = pieces(rewriter, node);
    if (found.empty() || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const Value result = rewriter.value(node.outputs[0]);
    std::vector<Tensor> tensors;
    for (const Piece& p : found) {
      if (rewriter.value(p.source).dtype != result.dtype) return false;
      tensors.push_back(Tensor{p.source});
    }
    rewriter.replace(node.outputs[0], rewriter.emit(node, "aten::cat", {{"tensors", tensors}, {"dim", *int_argument(node, "dim")}},
                                                    result.dtype, result.sizes));
    return true;
  });
}

}  // namespace planscope
