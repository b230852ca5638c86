#include "engine/program/build/prefix.h"

#include <algorithm>

namespace planscope::build {

namespace {

// Whether another axis that runs in turn splits the factor too: then a block of one is no range of positions by itself.
bool alone(const Work& w, OpId o, int axis, int factor) {
  for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a)
    if (a != axis && w.d.axes[static_cast<std::size_t>(a)].free && w.d.split(o, a).factor == factor) return false;
  return true;
}

}  // namespace

bool splits_factor(const Work& w, OpId o, int factor) {
  for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a)
    if (w.d.split(o, a).factor == factor) return true;
  return false;
}

std::optional<FactorBinding> prefix_of(const Work& w, const Op& op, int axis, const std::vector<FactorBinding>& bound) {
  const auto divided = [&](const DividedAxis& d) { return d.axis == axis; };
  if (!w.d.axes[static_cast<std::size_t>(axis)].free || bound.size() != 1 ||
      std::any_of(w.divided.begin(), w.divided.end(), divided))
    return std::nullopt;
  const FactorBinding& b = bound[0];
  const OpId o = static_cast<OpId>(&op - w.g.ops.data());
  if (b.digit != LogicalDigit{axis} || b.part != 0 || !alone(w, o, axis, b.factor)) return std::nullopt;
  for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
    const Factor& keys = op.factors[static_cast<std::size_t>(f)];
    if (keys.until < 0 || keys.until != b.factor || splits_factor(w, o, f)) continue;
    const Factor& queries = op.factors[static_cast<std::size_t>(b.factor)];
    const auto size = [&](ClassId c) { return w.g.classes[static_cast<std::size_t>(c)].size; };
    if (!std::equal(keys.parts.begin(), keys.parts.end(), queries.parts.begin(), queries.parts.end(),
                    [&](ClassId x, ClassId y) { return size(x) == size(y); }))
      continue;
    FactorBinding prefix{b.digit, f, 0};
    prefix.digit.reach = Reach::prefix;
    return prefix;
  }
  return std::nullopt;
}

}  // namespace planscope::build
