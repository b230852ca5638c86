// Every change of type is `aten::to.dtype`; what does not change it is its operand.
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model casts(Model model) {
  static const std::set<std::string_view> targets = {"aten::to.dtype",    "aten::to.dtype_layout", "aten::to.device",
                                                     "aten::to.other",    "aten::type_as",         "aten::_to_copy",
                                                     "aten::_cast_Float", "aten::_cast_Double",    "aten::_cast_Half",
                                                     "aten::_cast_Int",   "aten::_cast_Long"};
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    ValueId self = sole_operand(node);
    if (self < 0 || !targets.contains(node.target)) return false;
    rewriter.replace(node.outputs[0], rewriter.emit_cast(node, self, rewriter.value(node.outputs[0]).dtype));
    return true;
  });
}

}  // namespace planscope
