// An index whose first operand counts the rows takes of each row what its own index names, so that rows are free:
//
//   index(x, [arange(n), i])            of i [n], or arange as [n, 1] and i [n, k]
//   planscope::index_rows(x, i)
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/counters.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model row_indices(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.target != "aten::index.Tensor" || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const ValueId self = tensor_argument(node, "self");
    const auto* indices = tensors_argument(node, "indices");
    if (self < 0 || !indices || indices->size() != 2) return false;
    const ValueId rows = (*indices)[0].id, index = (*indices)[1].id;
    if (rows < 0 || index < 0 || rewriter.value(index).dtype == DType::boolean) return false;
    std::vector<std::int64_t> counted = rewriter.value(index).sizes;
    if (counted.empty() || counted.size() > 2) return false;
    if (counted.size() == 2) counted[1] = 1;
    const bool all = counted[0] == rewriter.value(self).sizes[0] && rewriter.value(rows).sizes == counted;
    if (!all || !counts_up(rewriter, rows)) return false;
    const Value result = rewriter.value(node.outputs[0]);
    rewriter.replace(node.outputs[0],
                     rewriter.emit(node, "planscope::index_rows", {{"self", Tensor{self}}, {"index", Tensor{index}}},
                                   result.dtype, result.sizes));
    return true;
  });
}

}  // namespace planscope
