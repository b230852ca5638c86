// A diagonal has one name: diag of a vector is diag_embed and of a matrix is diagonal, linalg_diagonal is diagonal, and a
// trace is the sum of one.
#include <algorithm>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/element_types.h"

namespace planscope {
namespace {

std::vector<NamedArgument> of_matrix(ValueId self, const Argument& offset, const Argument& dim1, const Argument& dim2) {
  return {{"self", Tensor{self}}, {"offset", offset}, {"dim1", dim1}, {"dim2", dim2}};
}

// The integer that the node gives, else the one that the operator has by default.
Argument given(const Node& node, std::string_view name, std::int64_t otherwise) {
  return int_argument(node, name).value_or(otherwise);
}

bool trace(Rewriter& rewriter, const Node& node) {
  const ValueId self = tensor_argument(node, "self");
  if (self < 0 || rewriter.value(self).sizes.size() != 2) return false;
  const Value matrix = rewriter.value(self);
  if (!carries_gradient(matrix.dtype)) return false;  // the trace of integers has another type
  const ValueId diagonal =
      rewriter.emit(node, "aten::diagonal", of_matrix(self, std::int64_t{0}, std::int64_t{0}, std::int64_t{1}),
                    matrix.dtype, {std::min(matrix.sizes[0], matrix.sizes[1])});
  rewriter.replace(node.outputs[0], rewriter.emit(node, "aten::sum.dim_IntList",
                                                  {{"self", Tensor{diagonal}},
                                                   {"dim", std::vector<std::int64_t>{0}},
                                                   {"keepdim", false},
                                                   {"dtype", None{}}},
                                                  matrix.dtype, {}));
  return true;
}

}  // namespace

Model diagonals(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    if (node.target == "aten::trace") return trace(rewriter, node);
    if (node.target == "aten::diag") {
      const ValueId self = tensor_argument(node, "self");
      if (self < 0) return false;
      const bool vector = rewriter.value(self).sizes.size() == 1;
      node.arguments = of_matrix(self, given(node, "diagonal", 0), std::int64_t{0}, std::int64_t{1});
      node.target = vector ? "aten::diag_embed" : "aten::diagonal";
    } else if (node.target == "aten::linalg_diagonal") {
      const ValueId self = tensor_argument(node, "A");
      if (self < 0) return false;
      node.arguments = of_matrix(self, given(node, "offset", 0), given(node, "dim1", -2), given(node, "dim2", -1));
      node.target = "aten::diagonal";
    }
    return false;
  });
}

}  // namespace planscope
