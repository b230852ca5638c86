// Operators that read no elements: constants, ranges, random draws of given sizes.
#include <algorithm>

#include "engine/graph/batch_of_one.h"
#include "engine/graph/draft.h"

namespace planscope {

namespace {

// Those of the tensor whose sizes it has (Node::like), as long as something makes that one. A literal 1 may be the batch of
// a file exported at batch 1: what it is joined with says so; a range of one number, which nobody would write, is one over the batch.
std::vector<int> parts_like(RuleContext& c, std::size_t dim, std::int64_t size, bool range) {
  if (c.node.like >= 0) {
    const auto& dims = c.dims[static_cast<std::size_t>(c.node.like)];
    if (dim < dims.size() && c.total(dims[dim]) == size) return dims[dim];
  }
  return size == 1 && batch_of_one(c.model) ? std::vector<int>{c.parts.make(1, !range)} : c.fresh(size);
}

}  // namespace

bool apply_factory_family(RuleContext& c) {
  const std::string base = c.node.target.substr(0, c.node.target.find('.'));
  static constexpr const char* filled[] = {"aten::zeros",     "aten::ones",     "aten::full",     "aten::empty",
                                           "aten::new_zeros", "aten::new_ones", "aten::new_full", "aten::new_empty",
                                           "aten::rand",      "aten::randn",    "aten::randint"};
  const bool fill = std::any_of(std::begin(filled), std::end(filled), [&](const char* n) { return base == n; });
  const bool range = base == "aten::arange";
  const bool scalar = base == "aten::scalar_tensor";
  const bool eye = base == "aten::eye";
  const bool steps = base == "aten::linspace" || base == "aten::logspace";
  const bool triangle = base == "aten::tril_indices" || base == "aten::triu_indices";
  const bool window = base.ends_with("_window");  // hann_window, …
  if (!fill && !range && !scalar && !eye && !steps && !triangle && !window) return false;
  const std::string whole = eye        ? "the diagonal crosses blocks"
                            : steps    ? "its steps divide the whole range"
                            : triangle ? "which places it has depends on all rows"
                            : window   ? "its shape is that of the whole window"
                                       : "";
  c.any("size fill_value dtype names start end step steps base s n m row col offset window_length periodic alpha beta low high");
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i)  // new_zeros reads its operand's type only
    for (std::size_t d = 0; d < c.draft.inputs[i].dims.size(); ++d)
      c.tie(static_cast<int>(i), static_cast<int>(d),
            c.factor("", FactorKind::frozen, c.parts_of(static_cast<int>(i), static_cast<int>(d)),
                     "only its type is read"));
  c.begin_outputs();
  const std::vector<std::int64_t> sizes = c.output_sizes();
  for (std::size_t d = 0; d < sizes.size(); ++d)
    c.output_dim(0, c.factor("", whole.empty() ? FactorKind::free : FactorKind::frozen,
                             parts_like(c, d, sizes[d], range), whole));
  c.draft.rule = base.substr(6);
  if (fill) c.draft.shard = ShardForm::output_sizes;
  if (range) c.draft.shard = ShardForm::offset_range;
  return true;
}

}  // namespace planscope
