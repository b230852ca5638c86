// embedding_bag whose bags are equally long: what F.embedding_bag makes of indices [bags, n]. Each bag is a row of
// its own.
//
//   embedding_bag(weight, view(indices, [bags * n]), arange(0, bags * n, n))
//   planscope::embedding_bag(weight, indices)
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

constexpr std::int64_t sum = 0, mean = 1;  // modes

// n, where the offsets are 0, n, 2n, …; else 0.
std::int64_t equal_bags(const Rewriter& rewriter, ValueId offsets, std::int64_t indices) {
  const Node* made = offsets >= 0 ? rewriter.producer(offsets) : nullptr;
  if (!made || rewriter.value(offsets).sizes.size() != 1) return 0;
  const std::int64_t bags = rewriter.value(offsets).sizes[0];
  const bool stepped = made->target == "aten::arange.start_step";
  const bool counts = stepped || made->target == "aten::arange" || made->target == "aten::arange.start";
  const std::int64_t step = stepped ? int_argument(*made, "step").value_or(0) : 1;
  if (!counts || int_argument(*made, "start").value_or(0) != 0 || step < 1 || bags < 1) return 0;
  return indices == bags * step ? step : 0;
}

}  // namespace

Model embedding_bags(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const bool bag = node.target.starts_with("aten::embedding_bag") || node.target == "aten::_embedding_bag" ||
                     node.target == "aten::_embedding_bag_forward_only";
    if (!bag || node.outputs.empty() || node.outputs[0] < 0) return false;
    const ValueId weight = tensor_argument(node, "weight"), indices = tensor_argument(node, "indices");
    const auto mode = int_argument(node, "mode").value_or(sum);
    const bool plain = !bool_argument(node, "scale_grad_by_freq").value_or(false) &&
                       !bool_argument(node, "include_last_offset").value_or(false) &&
                       int_argument(node, "padding_idx").value_or(-1) < 0 && is_none(node, "per_sample_weights");
    if (weight < 0 || indices < 0 || !plain || (mode != sum && mode != mean)) return false;
    const Value given = rewriter.value(indices);
    if (given.sizes.size() != 1) return false;
    const std::int64_t n = equal_bags(rewriter, tensor_argument(node, "offsets"), given.sizes[0]);
    if (n == 0) return false;
    const Value result = rewriter.value(node.outputs[0]);
    const ValueId rows = rewriter.emit_view(node, indices, {given.sizes[0] / n, n});
    rewriter.replace(node.outputs[0],
                     rewriter.emit(node, "planscope::embedding_bag",
                                   {{"weight", Tensor{weight}}, {"indices", Tensor{rows}}, {"mode", mode}},
                                   result.dtype, result.sizes));
    return true;
  });
}

}  // namespace planscope
