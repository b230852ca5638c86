// batch_norm, and the instance_norm that keeps running statistics, are arithmetic (functional/batch_norm.h).
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/batch_norm.h"

namespace planscope {

Model batch_norms(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.target != "aten::batch_norm" || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    BatchNormOperands operands = batch_norm_operands(node);
    if (operands.training) operands.mean = operands.variance = -1;  // who updates them has done so (purify)
    const BatchNorm made = emit_batch_norm(rewriter, node, operands);
    if (made.result < 0) return false;
    rewriter.replace(node.outputs[0], made.result);
    return true;
  });
}

}  // namespace planscope
