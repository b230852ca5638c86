// batch_norm is arithmetic (functional/batch_norm.h), and so is instance_norm by statistics that are given. By those
// of each instance its result depends on no running ones, which it only writes.
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/batch_norm.h"

namespace planscope {

Model batch_norms(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const bool instance = node.target == "aten::instance_norm";
    if ((node.target != "aten::batch_norm" && !instance) || node.outputs.size() != 1 || node.outputs[0] < 0)
      return false;
    BatchNormOperands operands = batch_norm_operands(node);
    if (instance && bool_argument(node, "use_input_stats").value_or(true)) {
      for (const char* running : {"running_mean", "running_var"})
        if (Argument* a = find_argument(node, running)) *a = None{};
      return false;
    }
    if (instance) operands.training = false;
    if (operands.training) operands.mean = operands.variance = -1;  // who updates them has done so (purify)
    const BatchNorm made = emit_batch_norm(rewriter, node, operands);
    if (made.result < 0) return false;
    rewriter.replace(node.outputs[0], made.result);
    return true;
  });
}

}  // namespace planscope
