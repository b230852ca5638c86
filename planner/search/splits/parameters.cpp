#include "planner/search/splits/parameters.h"

#include <algorithm>
#include <map>

#include "engine/graph/element_types.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const PTensor& tensor(const Graph& g, TensorId t) { return g.tensors[at(t)]; }

}  // namespace

std::vector<int> own_parameters(const Graph& g, OpId o) {
  std::vector<int> out;
  const Op& op = g.ops[at(o)];
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    const TensorId t = op.inputs[at(i)].tensor;
    if (g.model->values[at(t)].kind != ValueKind::parameter || tensor(g, t).readers.size() != 1) continue;
    const bool first =
        std::none_of(op.inputs.begin(), op.inputs.begin() + i, [&](const Operand& x) { return x.tensor == t; });
    if (first) out.push_back(i);
  }
  return out;
}

std::vector<std::vector<Interface>> parameter_reads(const Graph& g, OpId o, const Strategy& s) {
  std::vector<std::vector<Interface>> out;
  const Op& op = g.ops[at(o)];
  for (const int first : own_parameters(g, o)) {
    out.emplace_back();
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i].tensor == op.inputs[at(first)].tensor) out.back().push_back(s.reads[i]);
  }
  return out;
}

namespace {

// The splits that all uses share (engine/program/build/homes.cpp).
Layout common_use(const Space& space, const std::vector<Interface>& uses) {
  Layout out;
  bool first = true;
  for (const Interface& i : uses) {
    const Layout& l = space.layout(i.read);
    if (first) out.splits = l.splits;
    std::erase_if(out.splits,
                  [&](const Split& s) { return std::find(l.splits.begin(), l.splits.end(), s) == l.splits.end(); });
    first = false;
  }
  return out;
}

// With the axes of ZeRO on the minor side of the first dimension: on the outermost part that they divide, else on the largest
// (homes.cpp). Axes that split it already do nothing.
Layout split_by_zero(const Space& space, TensorId t, Layout l, const std::vector<int>& axes) {
  const PTensor& x = tensor(space.graph(), t);
  if (x.dims.empty()) return l;
  for (const int a : axes) {
    const bool used = std::any_of(l.splits.begin(), l.splits.end(), [&](const Split& s) {
      return std::any_of(s.digits.begin(), s.digits.end(), [&](const Digit& d) { return d.axis == a; });
    });
    if (used) continue;
    int best = -1;
    std::int64_t largest = 0;
    for (int p = 0; p < static_cast<int>(x.dims[0].size()); ++p) {
      std::int64_t left = space.graph().classes[at(x.dims[0][at(p)])].size;
      for (const Split& s : l.splits)
        if (s.dim == 0 && s.part == p)
          for (const Digit& d : s.digits) left /= d.size;
      const bool divides = left % space.size(a) == 0;
      if (divides || left > largest) best = p;
      if (divides) break;
      largest = std::max(largest, left);
    }
    if (best < 0) continue;
    const Digit digit{a, space.size(a), 1};
    const auto same =
        std::find_if(l.splits.begin(), l.splits.end(), [&](const Split& s) { return s.dim == 0 && s.part == best; });
    if (same != l.splits.end())
      same->digits.push_back(digit);
    else
      l.splits.push_back({0, best, {digit}});
    std::sort(l.splits.begin(), l.splits.end());
  }
  return l;
}

bool is_trained(const Graph& g, TensorId t) {
  return tensor(g, t).gradient && std::any_of(g.parameters.begin(), g.parameters.end(),
                                              [&](const Parameter& p) { return p.tensor == t && p.trained; });
}

}  // namespace

bool has_zero(Space& space, TensorId t, const std::vector<Interface>& uses, const Weights& weights) {
  const Layout use = common_use(space, uses);
  return is_trained(space.graph(), t) && split_by_zero(space, t, use, weights.zero) != use;
}

ParameterCost parameter_cost(Space& space, TensorId t, const std::vector<Interface>& uses, const Weights& weights,
                             int zero) {
  const Graph& g = space.graph();
  const Layout common = common_use(space, uses);
  const LayoutId use = space.intern(common);
  const LayoutId home = zero > 0 ? space.intern(split_by_zero(space, t, common, weights.zero)) : use;
  if (home == use) zero = 0;
  const LayoutId fetched = zero >= 3 ? home : use, added = zero >= 2 ? home : use;
  std::vector<LayoutId> contributions;
  std::map<LayoutId, bool> reads;  // whether a backward reads it again
  for (const Interface& i : uses) {
    reads[i.read] = reads[i.read] || i.saved;
    if (i.contribution >= 0 &&
        std::find(contributions.begin(), contributions.end(), i.contribution) == contributions.end())
      contributions.push_back(i.contribution);
  }
  ParameterCost out;
  const auto converted = [&](LayoutId from, LayoutId to) {
    return from == to ? 0 : space.conversion(t, from, to).cost;
  };
  for (const auto& [read, saved] : reads) out.cost += converted(fetched, read) * (zero >= 3 && saved ? 2 : 1);
  const auto at_use = static_cast<std::int64_t>(space.bytes(t, use)),
             at_home = static_cast<std::int64_t>(space.bytes(t, home));
  out.bytes = (zero >= 3 ? 0 : at_use) + (zero > 0 ? at_home : 0);
  if (!is_trained(g, t)) return out;
  double reduced = 0;
  for (const LayoutId c : contributions)
    if (c != home) reduced += converted(c, home);
  const std::int64_t state = local_elements(g, t, space.layout(home)) * weights.optimizer_state_bytes *
                             optimizer_units(g.model->values[at(t)].dtype);
  const double moved = 3 * static_cast<double>(at_home) + 2 * static_cast<double>(state);
  const double update = space.slowest_us(
      [&](const DeviceType& d) { return update_time(moved, weights.optimizer_state_bytes, d, space.costs()); });
  const double gathered = zero == 1 || zero == 2 ? converted(home, use) : 0;
  const auto steps = static_cast<double>(weights.micro_batches);  // micro-batches of one
  out.cost += reduced / (zero >= 2 ? 1 : steps) + (update + gathered) / steps;
  // Of one micro-batch alone gradients come and go.
  out.bytes += state + (weights.micro_batches == 1 ? 0 : static_cast<std::int64_t>(space.bytes(t, added)));
  return out;
}

}  // namespace planscope::splits
