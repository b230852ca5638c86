// A number that is added to a number that is computed, as `loss + 0.5`, is a tensor too: the operator is linear in both, so that
// the loss of each micro-batch passes through it, and the number is added once.
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/element_types.h"

namespace planscope {

Model added_numbers(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    static const std::map<std::string_view, const char*> with_tensors = {{"aten::add.Scalar", "aten::add.Tensor"},
                                                                         {"aten::sub.Scalar", "aten::sub.Tensor"}};
    const auto found = with_tensors.find(node.target);
    if (found == with_tensors.end() || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const Value result = rewriter.value(node.outputs[0]);
    if (!result.sizes.empty() || !is_floating(result.dtype)) return false;
    for (NamedArgument& a : node.arguments)
      if (a.name == "other")
        a.value = Tensor{rewriter.emit(node, "aten::scalar_tensor",
                                       {{"s", a.value}, {"dtype", result.dtype}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}},
                                       result.dtype, {})};
    node.target = found->second;
    return false;
  });
}

}  // namespace planscope
