#include "engine/program/build/sharding_state.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace planscope::build {

namespace {

LogicalDigit plain(const LogicalDigit& d) { return {d.axis, d.size, d.stride}; }

std::vector<std::pair<Location, PartRef>> refs(const Operand& o) {
  std::vector<std::pair<Location, PartRef>> out;
  for (std::size_t d = 0; d < o.map.size(); ++d)
    for (std::size_t p = 0; p < o.map[d].size(); ++p)
      out.push_back({{static_cast<int>(d), static_cast<int>(p), -1}, o.map[d][p]});
  return out;
}

bool in_set(const Op& op, int set, int input) {
  const auto& s = op.linear[static_cast<std::size_t>(set)];
  return std::find(s.begin(), s.end(), input) != s.end();
}

// Where a binding to a factor splits an operand.
std::optional<Location> location(const Op& op, const Operand& o, const FactorBinding& f) {
  for (const auto& [at, ref] : refs(o))
    if (ref.factor == f.factor && ref.part == f.part) return at;
  const int dim = selected_dim(op, o, f.factor);
  if (dim < 0) return std::nullopt;
  return Location{dim, kByKey, op.factors[static_cast<std::size_t>(f.factor)].key};
}

}  // namespace

Held state(const Op& op, const Operand& o, int input, const AxisBinding& b) {
  Held h;
  const bool output = input < 0;
  for (const FactorBinding& f : b.factors) {
    if (const auto at = location(op, o, f)) {
      h.splits.emplace_back(f.digit, *at);
      continue;
    }
    const FactorKind k = op.factors[static_cast<std::size_t>(f.factor)].kind;
    if (output && k == FactorKind::sum) h.partials.emplace_back(plain(f.digit), PartialKind::sum);
    if (output && k == FactorKind::merge) h.partials.emplace_back(plain(f.digit), PartialKind::merge);
    if (output && k == FactorKind::softmax && f.digit.reach == Reach::own)
      h.partials.emplace_back(plain(f.digit), PartialKind::softmax);
    if (!output && k == FactorKind::sum && o.added) h.partials.emplace_back(plain(f.digit), PartialKind::sum);
  }
  if (b.pass >= 0 && (output || in_set(op, b.pass, input) || o.added))
    for (const LogicalDigit& d : b.pass_digits) h.partials.emplace_back(d, PartialKind::sum);
  return h;
}

Held contribution(const Op& op, int input, const AxisBinding& b) {
  const Operand& o = op.inputs[static_cast<std::size_t>(input)];
  Held h;
  for (const FactorBinding& f : b.factors) {
    const auto at = location(op, o, f);
    if (at) h.splits.emplace_back(f.digit, *at);
    const bool added = o.added && op.factors[static_cast<std::size_t>(f.factor)].kind == FactorKind::sum;
    if (!at && !added && f.digit.reach == Reach::own) h.partials.emplace_back(plain(f.digit), PartialKind::sum);
  }
  if (b.pass >= 0 && !in_set(op, b.pass, input) && !o.added)
    for (const LogicalDigit& d : b.pass_digits) h.partials.emplace_back(d, PartialKind::sum);
  return h;
}

bool has_prefix(const Held& h) {
  return std::any_of(h.splits.begin(), h.splits.end(), [](const auto& s) { return s.first.reach == Reach::prefix; });
}

bool in_own_blocks(const Held& h) {
  return std::all_of(h.splits.begin(), h.splits.end(),
                     [](const auto& s) { return s.first.turn == plan::Turn{} && s.first.reach == Reach::own; });
}

Held with_own(Held h) {
  for (auto& [digit, at] : h.splits) digit.reach = Reach::own;
  return h;
}

Held dual(const Held& h) {
  Held out;
  out.splits = h.splits;
  return out;
}

Held joined(Held h, std::int64_t size) {
  const auto before = [](const auto& a, const auto& b) {
    return std::tuple(a.second, -a.first.stride) < std::tuple(b.second, -b.first.stride);
  };
  std::stable_sort(h.partials.begin(), h.partials.end(), before);
  for (std::size_t k = 0; k + 1 < h.partials.size();) {
    const LogicalDigit major = h.partials[k].first, minor = h.partials[k + 1].first;
    if (h.partials[k].second != h.partials[k + 1].second || major.size == 0 ||
        major.stride != minor.stride * minor.size) {
      ++k;
      continue;
    }
    h.partials[k].first = {.axis = major.axis, .size = major.size * minor.size, .stride = minor.stride};
    h.partials.erase(h.partials.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  for (auto& [digit, kind] : h.partials)
    if (digit.stride == 1 && digit.size == size) digit.size = 0;
  return h;
}

}  // namespace planscope::build
