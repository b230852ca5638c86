// view, permute and expand are the only operators that rearrange dimensions, with literal sizes.
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/literal_ones.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

bool broadcast(Rewriter& rewriter, Node& node) {
  const auto* tensors = tensors_argument(node, "tensors");
  if (!tensors || tensors->size() != node.outputs.size()) return false;
  for (std::size_t i = 0; i < tensors->size(); ++i)
    if ((*tensors)[i].id < 0 || node.outputs[i] < 0) return false;
  const std::vector<Tensor> operands = *tensors;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto sizes = rewriter.value(node.outputs[i]).sizes;
    rewriter.replace(node.outputs[i], rewriter.emit_expand(node, operands[i].id, sizes));
  }
  return true;
}

}  // namespace

Model shapes(Model model) {
  const LiteralOnes ones(model);
  return rewrite(std::move(model), [&](Rewriter& rewriter, Node& node) {
    if (node.target == "aten::broadcast_tensors") return broadcast(rewriter, node);
    ValueId self = sole_operand(node);
    if (self < 0) return false;
    ValueId result = node.outputs[0];
    const auto sizes = rewriter.value(result).sizes;
    if (ones.is_kept(rewriter, node)) return false;
    if (is_reshape(node)) {
      rewriter.replace(result, rewriter.emit_view(node, self, sizes));
    } else if (auto dims = permutation_of(node, rewriter.value(self).sizes.size())) {
      const ValueId permuted = rewriter.emit_permute(node, self, *dims);
      rewriter.replace(result, conjugates(node) ? rewriter.emit_conjugate(node, permuted) : permuted);
    } else if (node.target == "aten::expand" || node.target == "aten::expand_as" ||
               node.target == "aten::broadcast_to") {
      if (rewriter.value(self).sizes.size() == sizes.size()) self = ones.kept(rewriter, node, self);
      rewriter.replace(result, rewriter.emit_expand(node, self, sizes));
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace planscope
