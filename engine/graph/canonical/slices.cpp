// slice, select and their writes: non-negative, inside the operand; a slice of everything is its operand. Where a place
// was counted from the end, it is so at any size: the node is tied to the sizes of its operand (Node::like). Of a slice that
// reaches the end this is its start (`x[-3:]`), of another its end (`x[1:-1]`); one with both is two slices.
//
//   x[-3:-1] = x[-3:][:2]
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

bool is_whole(const Slice& slice, std::int64_t size) {
  return slice.start == 0 && slice.end == size && slice.step == 1;
}

std::vector<NamedArgument> bounds(std::int64_t dim, const Slice& slice) {
  return {{"dim", dim}, {"start", slice.start}, {"end", slice.end}, {"step", slice.step}};
}

ValueId emit_slice(Rewriter& rewriter, const Node& node, ValueId of, std::int64_t dim, const Slice& range,
                   const std::vector<std::int64_t>& sizes) {
  std::vector<NamedArgument> arguments = {{"self", Tensor{of}}};
  for (NamedArgument& argument : bounds(dim, range)) arguments.push_back(std::move(argument));
  return rewriter.emit(node, "aten::slice.Tensor", std::move(arguments), rewriter.value(of).dtype, sizes);
}

bool slice(Rewriter& rewriter, Node& node, std::int64_t dim, std::int64_t size) {
  ValueId self = sole_operand(node), result = node.outputs[0];
  auto range = slice_of(node, size);
  if (!range) return false;
  const Value after = rewriter.value(result);
  if (is_whole(*range, size)) {
    rewriter.replace(result, self);
    return true;
  }
  const bool start_from_end = int_argument(node, "start").value_or(0) < 0;
  const bool end_from_end = int_argument(node, "end").value_or(0) < 0;
  if (start_from_end && range->end < size && range->step == 1) {
    std::vector<std::int64_t> sizes = after.sizes;
    sizes[static_cast<std::size_t>(dim)] = size - range->start;
    const ValueId last = emit_slice(rewriter, node, self, dim, {range->start, size, 1}, sizes);
    rewriter.model.nodes.back().like = self;
    rewriter.replace(result, emit_slice(rewriter, node, last, dim, {0, range->end - range->start, 1}, after.sizes));
    return true;
  }
  rewriter.replace(result, emit_slice(rewriter, node, self, dim, *range, after.sizes));
  if (start_from_end || end_from_end || node.like >= 0) rewriter.model.nodes.back().like = self;
  return true;
}

// self.slice = src
bool slice_scatter(Rewriter& rewriter, Node& node, std::int64_t dim, std::int64_t size) {
  auto range = slice_of(node, size);
  ValueId source = tensor_argument(node, "src"), result = node.outputs[0];
  if (!range || source < 0) return false;
  if (is_whole(*range, size) && rewriter.value(source).sizes == rewriter.value(result).sizes &&
      rewriter.value(source).dtype == rewriter.value(result).dtype) {
    rewriter.replace(result, source);
    return true;
  }
  node.arguments.resize(2);
  for (NamedArgument& argument : bounds(dim, *range)) node.arguments.push_back(std::move(argument));
  return false;
}

}  // namespace

Model slices(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    bool reads = node.target == "aten::slice.Tensor" || node.target == "aten::narrow";
    bool writes = node.target == "aten::slice_scatter";
    bool selects = node.target == "aten::select.int" || node.target == "aten::select_scatter";
    ValueId self = sole_operand(node);
    auto dim = int_argument(node, "dim");
    if ((!reads && !writes && !selects) || self < 0 || !dim || rewriter.value(self).sizes.empty()) return false;
    const auto& sizes = rewriter.value(self).sizes;
    dim = wrap_dim(*dim, sizes.size());
    if (!dim) return false;
    std::int64_t size = sizes[static_cast<std::size_t>(*dim)];
    if (reads) return slice(rewriter, node, *dim, size);
    if (writes) return slice_scatter(rewriter, node, *dim, size);
    auto index = int_argument(node, "index");
    if (!index || *index < -size || *index >= size) return false;
    *find_argument(node, "dim") = *dim;
    *find_argument(node, "index") = *index < 0 ? *index + size : *index;
    if (*index < 0) node.like = self;
    return false;
  });
}

}  // namespace planscope
