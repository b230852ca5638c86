// A write where a mask is true, of one number or of a row that is the same everywhere, is a choice between two tensors:
//
//   x[mask] = 0          masked_fill(x, mask, 0)
//   x[mask] = row        where(mask, row, x)
//   x[mask] = rows       masked_scatter(x, mask, rows)
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

struct MaskedWrite {
  ValueId self = -1, mask = -1, values = -1;
  bool rows = false;
  Sizes mask_sizes;  // with ones for the dimensions behind those that it masks
};

std::optional<MaskedWrite> masked_write(const Rewriter& rewriter, const Node& node) {
  const auto* indices = tensors_argument(node, "indices");
  MaskedWrite w;
  w.self = tensor_argument(node, "self");
  w.values = tensor_argument(node, "values");
  if (node.target != "aten::index_put" || !indices || w.self < 0 || w.values < 0 || node.outputs.size() != 1 ||
      bool_argument(node, "accumulate").value_or(false))
    return std::nullopt;
  std::size_t at = 0;
  for (std::size_t d = 0; d < indices->size(); ++d) {
    if ((*indices)[d].id < 0) continue;
    if (w.mask >= 0) return std::nullopt;
    w.mask = (*indices)[d].id;
    at = d;
  }
  if (w.mask < 0 || rewriter.value(w.mask).dtype != DType::boolean) return std::nullopt;
  const Sizes sizes = rewriter.value(w.self).sizes, values = rewriter.value(w.values).sizes;
  w.mask_sizes = rewriter.value(w.mask).sizes;
  if (w.mask_sizes.empty() || at + w.mask_sizes.size() > sizes.size()) return std::nullopt;
  for (std::size_t d = 0; d < w.mask_sizes.size(); ++d)
    if (w.mask_sizes[d] != sizes[at + d]) return std::nullopt;
  const std::size_t behind = sizes.size() - at - w.mask_sizes.size();
  w.mask_sizes.resize(w.mask_sizes.size() + behind, 1);
  if (values.size() <= behind) return w;
  w.rows = true;  // a row for each place of the mask, in its order
  const bool fit = at == 0 && values.size() == behind + 1 &&
                   std::equal(values.begin() + 1, values.end(), sizes.end() - static_cast<std::ptrdiff_t>(behind));
  return fit ? std::optional(w) : std::nullopt;
}

}  // namespace

Model masks(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const auto w = masked_write(rewriter, node);
    if (!w) return false;
    const Value before = rewriter.value(w->self);
    const ValueId mask = rewriter.emit_view(node, w->mask, w->mask_sizes);
    const ValueId values = rewriter.emit_cast(node, w->values, before.dtype);
    if (w->rows) {
      rewriter.replace(node.outputs[0],
                       rewriter.emit(node, "aten::masked_scatter",
                                     {{"self", Tensor{w->self}}, {"mask", Tensor{mask}}, {"source", Tensor{values}}},
                                     before.dtype, before.sizes));
      return true;
    }
    const bool number = rewriter.value(values).sizes.empty();
    rewriter.replace(
        node.outputs[0],
        number ? rewriter.emit(node, "aten::masked_fill.Tensor",
                               {{"self", Tensor{w->self}}, {"mask", Tensor{mask}}, {"value", Tensor{values}}},
                               before.dtype, before.sizes)
               : rewriter.emit(node, "aten::where.self",
                               {{"condition", Tensor{mask}}, {"self", Tensor{values}}, {"other", Tensor{w->self}}},
                               before.dtype, before.sizes));
    return true;
  });
}

}  // namespace planscope
