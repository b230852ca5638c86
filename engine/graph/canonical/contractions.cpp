// tensordot and inner are equations of einsum, whose rule is the equation.
//
//   tensordot([a, b, c], [c, b, d], dims 1 2, 1 0) = einsum("abc,cbd->ad")
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

// Letters of both operands, where dimension `of_self[i]` is contracted with `of_other[i]`.
bool contract(Rewriter& rewriter, const Node& node, const std::vector<std::int64_t>& of_self,
              const std::vector<std::int64_t>& of_other) {
  const ValueId self = tensor_argument(node, "self"), other = tensor_argument(node, "other");
  const std::size_t a = rewriter.value(self).sizes.size(), b = rewriter.value(other).sizes.size();
  if (a + b > 26 || of_self.size() != of_other.size()) return false;
  std::string left(a, ' '), right(b, ' ');
  char letter = 'a';
  for (char& c : left) c = letter++;
  for (char& c : right) c = letter++;
  std::string result = left + right;
  for (std::size_t i = 0; i < of_self.size(); ++i) {
    const auto x = wrap_dim(of_self[i], a), y = wrap_dim(of_other[i], b);
    if (!x || !y) return false;
    const char mine = left[static_cast<std::size_t>(*x)];
    char& theirs = right[static_cast<std::size_t>(*y)];
    std::erase_if(result, [&](char c) { return c == mine || c == theirs; });
    theirs = mine;
  }
  const Value out = rewriter.value(node.outputs[0]);
  if (result.size() != out.sizes.size()) return false;
  rewriter.replace(node.outputs[0], rewriter.emit(node, "aten::einsum",
                                                  {{"equation", left + "," + right + "->" + result},
                                                   {"tensors", std::vector<Tensor>{Tensor{self}, Tensor{other}}},
                                                   {"path", None{}}},
                                                  out.dtype, out.sizes));
  return true;
}

}  // namespace

Model contractions(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const bool tensordot = node.target == "aten::tensordot", inner = node.target == "aten::inner";
    if ((!tensordot && !inner) || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const ValueId self = tensor_argument(node, "self"), other = tensor_argument(node, "other");
    if (self < 0 || other < 0 || rewriter.value(self).sizes.empty() || rewriter.value(other).sizes.empty())
      return false;
    if (inner) return contract(rewriter, node, {-1}, {-1});
    const auto *of_self = ints_argument(node, "dims_self"), *of_other = ints_argument(node, "dims_other");
    return of_self && of_other && contract(rewriter, node, *of_self, *of_other);
  });
}

}  // namespace planscope
