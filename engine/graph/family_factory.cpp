// Operators that read no elements: constants, ranges, random draws of given sizes.
#include <algorithm>

#include "engine/graph/draft.h"

namespace planscope {

bool apply_factory_family(RuleContext& c) {
  const std::string base = c.node.target.substr(0, c.node.target.find('.'));
  static constexpr const char* filled[] = {"aten::zeros",     "aten::ones",     "aten::full",     "aten::empty",
                                           "aten::new_zeros", "aten::new_ones", "aten::new_full", "aten::new_empty",
                                           "aten::rand",      "aten::randn"};
  const bool fill = std::any_of(std::begin(filled), std::end(filled), [&](const char* n) { return base == n; });
  const bool range = base == "aten::arange";
  const bool scalar = base == "aten::scalar_tensor";
  const bool eye = base == "aten::eye";
  if (!fill && !range && !scalar && !eye) return false;
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i)  // new_zeros reads its operand's type only
    for (std::size_t d = 0; d < c.draft.inputs[i].dims.size(); ++d)
      c.tie(static_cast<int>(i), static_cast<int>(d),
            c.factor("", FactorKind::frozen, c.parts_of(static_cast<int>(i), static_cast<int>(d)),
                     "only its type is read"));
  c.begin_outputs();
  for (const std::int64_t s : c.output_sizes())
    c.output_dim(0, c.factor("", eye ? FactorKind::frozen : FactorKind::free, c.fresh(s),
                             eye ? "the diagonal crosses blocks" : ""));
  c.draft.rule = base.substr(6);
  if (fill) c.draft.shard = ShardForm::output_sizes;
  if (range) c.draft.shard = ShardForm::offset_range;
  return true;
}

}  // namespace planscope
