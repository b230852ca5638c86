// Layouts of operands from the bindings of their operator, and the dual layouts of gradients.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope {

namespace {

bool in_set(const Op& op, int set, const Operand& operand) {
  if (set < 0 || set >= static_cast<int>(op.linear.size())) return false;
  for (const int i : op.linear[static_cast<std::size_t>(set)])
    if (&op.inputs[static_cast<std::size_t>(i)] == &operand) return true;
  return false;
}

// Whether a binding to the factor splits the operand.
bool has_ref(const Op& op, const Operand& o, int factor, int part) {
  for (const auto& map : o.map)
    for (const PartRef& r : map)
      if (r.factor == factor && r.part == part) return true;
  return selected_dim(op, o, factor) >= 0;
}

void add_selections(const Op& op, const Operand& o, const std::vector<Binding>& bindings, Layout& l) {
  for (const Binding& b : bindings) {
    const int dim = b.factor < 0 ? -1 : selected_dim(op, o, b.factor);
    if (dim < 0) continue;
    const TensorId key = op.factors[static_cast<std::size_t>(b.factor)].key;
    const auto same = [&](const Split& s) { return s.dim == dim && s.part == kByKey && s.key == key; };
    auto at = std::find_if(l.splits.begin(), l.splits.end(), same);
    if (at == l.splits.end()) at = l.splits.insert(at, {dim, kByKey, {}, key});
    at->digits.push_back(b.digit);
  }
}

}  // namespace

Layout operand_layout(const Op& op, const Operand& o, bool output, const std::vector<Binding>& bindings) {
  Layout l;
  for (std::size_t d = 0; d < o.map.size(); ++d)
    for (std::size_t p = 0; p < o.map[d].size(); ++p) {
      const PartRef r = o.map[d][p];
      if (r.factor < 0) continue;
      Split s{static_cast<int>(d), static_cast<int>(p), {}};
      for (const Binding& b : bindings)
        if (b.factor == r.factor && b.part == r.part) s.digits.push_back(b.digit);
      if (!s.digits.empty()) l.splits.push_back(std::move(s));
    }
  add_selections(op, o, bindings, l);
  for (const Binding& b : bindings) {
    if (b.factor < 0) {
      if (output || in_set(op, b.part, o) || o.added) l.partials.push_back({plain(b.digit), PartialKind::sum});
      continue;
    }
    if (has_ref(op, o, b.factor, b.part)) continue;
    const FactorKind k = op.factors[static_cast<std::size_t>(b.factor)].kind;
    if (output && k == FactorKind::sum) l.partials.push_back({plain(b.digit), PartialKind::sum});
    if (output && k == FactorKind::merge) l.partials.push_back({plain(b.digit), PartialKind::merge});
    if (output && k == FactorKind::softmax && b.digit.reach == Reach::own)
      l.partials.push_back({plain(b.digit), PartialKind::softmax});
    if (!output && k == FactorKind::sum && o.added) l.partials.push_back({plain(b.digit), PartialKind::sum});
  }
  return canonical(std::move(l));
}

Layout dual(const Layout& l) {
  Layout out;
  out.splits = l.splits;
  return out;
}

Layout contribution_layout(const Op& op, int input, const std::vector<Binding>& bindings, const Layout& read,
                           const std::vector<Digit>& passed) {
  const Operand& o = op.inputs[static_cast<std::size_t>(input)];
  Layout l = dual(read);
  for (const Binding& b : bindings) {
    if (b.factor < 0) {
      if (!in_set(op, b.part, o) && !o.added) l.partials.push_back({plain(b.digit), PartialKind::sum});
      continue;
    }
    if (has_ref(op, o, b.factor, b.part)) continue;
    if (op.factors[static_cast<std::size_t>(b.factor)].kind == FactorKind::sum && o.added) continue;
    if (b.digit.reach == Reach::prefix) continue;  // what lies behind contributes nothing
    l.partials.push_back({plain(b.digit), PartialKind::sum});
  }
  for (const Digit& digit : passed) l.partials.push_back({plain(digit), PartialKind::sum});
  return canonical(std::move(l));
}

}  // namespace planscope

namespace planscope::build {
namespace {

// Whether a digit stands behind one for every index of the axis that turns it.
bool is_bound(const Split& s, const Digit& d) {
  return std::any_of(s.digits.begin(), s.digits.end(),
                     [&](const Digit& x) { return x.reach == Reach::every && x.axis == d.by; });
}

}  // namespace

Layout made_minor(const Layout& l, const AxisSet& axes) {
  Layout out = l;
  const auto among = [&](AxisId a) { return std::binary_search(axes.begin(), axes.end(), a); };
  for (Split& s : out.splits) {
    bool after = false;
    std::erase_if(s.digits, [&, all = s](const Digit& d) {
      const bool one = d.reach == Reach::own && among(d.axis);
      after = after || one;
      return (after && !one) || (d.by >= 0 && among(d.by) && !is_bound(all, d));
    });
  }
  std::erase_if(out.splits, [](const Split& s) { return s.digits.empty(); });
  const auto changes = [&](const Split& s) {  // the region of the rows that it selects
    const AxisSet region = axes_of(key_layout(l, s.dim)), own = axes_of({{s}, {}});
    const auto has = [&](const AxisSet& set) {
      return std::any_of(axes.begin(), axes.end(),
                         [&](AxisId a) { return std::binary_search(set.begin(), set.end(), a); });
    };
    return s.part == kByKey && has(region) && !has(own);
  };
  std::erase_if(out.splits, changes);
  return out;
}

Layout without_axes(const Layout& l, const AxisSet& axes) {
  Layout out = l;
  const auto gone = [&](const Digit& d) {
    return d.reach != Reach::every && std::binary_search(axes.begin(), axes.end(), d.axis);
  };
  std::erase_if(out.partials, [&](const Partial& p) { return gone(p.digit); });
  for (Split& s : out.splits) std::erase_if(s.digits, gone);
  std::erase_if(out.splits, [](const Split& s) { return s.digits.empty(); });
  return out;
}

Layout with_every(const Layout& l, const AxisSet& axes) {
  Layout out = l;
  for (Split& s : out.splits)
    for (std::size_t k = 0; k + 1 < s.digits.size() && s.part != kByKey; ++k)
      if (std::binary_search(axes.begin(), axes.end(), s.digits[k].axis)) s.digits[k].reach = Reach::every;
  return without_axes(out, axes);
}

Layout only_axes(const Layout& l, const AxisSet& axes) {
  Layout out = l;
  const auto other = [&](const Digit& d) {
    return d.reach == Reach::every || !std::binary_search(axes.begin(), axes.end(), d.axis);
  };
  std::erase_if(out.partials, [&](const Partial& p) { return other(p.digit); });
  for (Split& s : out.splits) std::erase_if(s.digits, other);
  std::erase_if(out.splits, [](const Split& s) { return s.digits.empty(); });
  return out;
}

Layout at_home(const Program& p, const Layout& l, const Layout& home, const AxisSet& axes, bool gradient) {
  Layout out = l;
  for (Split& s : out.splits) {
    const Digit turned = s.digits.back();
    const auto from = std::find_if(home.splits.begin(), home.splits.end(),
                                   [&](const Split& x) { return x.dim == s.dim && x.part == s.part; });
    if (!std::binary_search(axes.begin(), axes.end(), turned.axis) || from == home.splits.end()) continue;
    const std::vector<Digit> end = home_end(from->digits);
    if (!is_home(p, end, turned) || !std::equal(s.digits.begin(), s.digits.end() - 1, from->digits.begin(),
                                                from->digits.end() - static_cast<std::ptrdiff_t>(end.size())))
      continue;
    if (gradient) {
      const auto sum =
          std::find(out.partials.begin(), out.partials.end(), Partial{plain(end.back()), PartialKind::sum});
      if (sum == out.partials.end()) continue;
      sum->digit = plain(turned);
    }
    s.digits = from->digits;
  }
  return canonical(std::move(out));
}

Layout with_own(const Layout& l) {
  Layout out = l;
  for (Split& s : out.splits)
    for (Digit& d : s.digits)
      if (d.reach == Reach::prefix) d.reach = Reach::own;
  return canonical(std::move(out));
}

AxisSet prefix_axes(const Layout& l) {
  AxisSet out;
  for (const Split& s : l.splits)
    for (const Digit& d : s.digits)
      if (d.reach == Reach::prefix) out.push_back(d.axis);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::size_t result_count(const Op& op) { return op.outputs.size() - (op.log_sums >= 0 ? 1 : 0); }

AxisSet axes_of(const Layout& l) {
  AxisSet out;
  for (const Split& s : l.splits)
    for (const Digit& d : s.digits)
      if (d.reach != Reach::every) out.push_back(d.axis);
  for (const Partial& p : l.partials) out.push_back(p.digit.axis);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Layout without_grid_partials(const Work& w, const Layout& l) {
  Layout out = l;
  std::erase_if(out.partials, [&](const Partial& p) { return !w.is_free(p.digit.axis); });
  return out;
}

Layout without_free_splits(const Work& w, const Layout& l) {
  Layout out = l;
  for (Split& s : out.splits) std::erase_if(s.digits, [&](const Digit& d) { return w.is_free(d.axis); });
  std::erase_if(out.splits, [](const Split& s) { return s.digits.empty(); });
  return out;
}

Layout without_keys(const Layout& l) {
  Layout out = l;
  std::erase_if(out.splits, [](const Split& s) { return s.part == kByKey; });
  return out;
}

AxisSet free_axes_of(const Work& w, const std::vector<Binding>& bindings) {
  AxisSet set;
  for (const Binding& b : bindings)
    if (w.is_free(b.digit.axis)) set.push_back(b.digit.axis);
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

}  // namespace planscope::build
