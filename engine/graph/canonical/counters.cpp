#include "engine/graph/canonical/counters.h"

#include "engine/graph/arguments.h"

namespace planscope {

bool counts_up(const Rewriter& rewriter, ValueId id) {
  for (const Node* node = rewriter.producer(id); node; node = rewriter.producer(id)) {
    if (node->target == "aten::arange") return true;
    if (node->target == "aten::arange.start" || node->target == "aten::arange.start_step")
      return number_argument(*node, "start") == 0.0 && number_argument(*node, "step").value_or(1) == 1.0;
    bool passes = node->target == "aten::view" || node->target == "aten::to.dtype";
    id = sole_operand(*node);
    if (!passes || id < 0 || is_floating(rewriter.value(id).dtype)) return false;
  }
  return false;
}

std::int64_t times_each(const Rewriter& rewriter, ValueId id) {
  const Node* node = rewriter.producer(id);
  if (!node || is_floating(rewriter.value(id).dtype) || rewriter.value(id).sizes.size() != 1) return 0;
  const bool floor = node->target == "aten::floor_divide.Scalar";
  const auto mode = string_argument(*node, "rounding_mode");
  const bool rounded = node->target == "aten::div.Scalar_mode" && (mode == "floor" || mode == "trunc");
  const Argument* divisor = find_argument(*node, "other");
  const auto* k = divisor ? std::get_if<std::int64_t>(divisor) : nullptr;
  const ValueId counter = sole_operand(*node);
  if ((!floor && !rounded) || !k || *k < 1 || counter < 0 || rewriter.value(counter).sizes.size() != 1) return 0;
  return counts_up(rewriter, counter) ? *k : 0;
}

}  // namespace planscope
