#include "engine/program/conversion_moves.h"

#include <algorithm>

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_free(const ConversionSpace& w, AxisId a) { return w.program.axes[static_cast<std::size_t>(a)].grid < 0; }

// `key` counts where the split is by key.
Split* find_split(Layout& l, int dim, int part, TensorId key = -1) {
  for (Split& s : l.splits)
    if (s.dim == dim && s.part == part && (part != kByKey || s.key == key)) return &s;
  return nullptr;
}
const Split* find_split(const Layout& l, int dim, int part, TensorId key = -1) {
  return find_split(const_cast<Layout&>(l), dim, part, key);
}

void add_digits(Layout& l, int dim, int part, const std::vector<Digit>& digits, TensorId key) {
  Split* s = find_split(l, dim, part, key);
  if (!s) {
    l.splits.push_back({dim, part, {}, part == kByKey ? key : -1});
    s = &l.splits.back();
  }
  s->digits.insert(s->digits.end(), digits.begin(), digits.end());
  std::sort(l.splits.begin(), l.splits.end());
}

void drop_digits(Layout& l, int dim, int part, std::size_t count, TensorId key) {
  Split* s = find_split(l, dim, part, key);
  s->digits.resize(s->digits.size() - count);
  std::erase_if(l.splits, [](const Split& x) { return x.digits.empty(); });
}

// Of the blocks of every index of some digits, those of one; false: it does not hold such.
bool choose(Layout& l, const Move& m) {
  Split* s = find_split(l, m.dim, m.part, m.key);
  bool any = false;
  for (const Digit& d : m.digits)
    for (std::size_t k = 0; s && k < s->digits.size(); ++k) {
      Digit one = s->digits[k];
      one.reach = Reach::own;
      if (s->digits[k].reach != Reach::every || one != d) continue;
      s->digits[k] = one;
      any = true;
    }
  return any;
}

bool overlap(const Digit& x, const Digit& d) {
  return x.axis == d.axis && x.reach == Reach::own && x.stride < d.stride * d.size && d.stride < x.stride * x.size;
}

// Whether a layout has a digit that says something about the same coordinates.
bool cut_by(const Layout& l, const Digit& d) {
  return std::any_of(l.splits.begin(), l.splits.end(), [&](const Split& s) {
    return std::any_of(s.digits.begin(), s.digits.end(), [&](const Digit& x) { return overlap(x, d); });
  });
}
bool uses(const Layout& l, const Digit& d) {
  return cut_by(l, d) ||
         std::any_of(l.partials.begin(), l.partials.end(), [&](const Partial& p) { return overlap(p.digit, d); });
}

// The digits that the target wants next on a part that holds `now` so far; empty if `now` is no prefix of them.
std::vector<Digit> wanted_next(const Layout& now, const Split& target) {
  const Split* have = find_split(now, target.dim, target.part, target.key);
  const std::size_t n = have ? have->digits.size() : 0;
  if (n >= target.digits.size()) return {};
  for (std::size_t i = 0; i < n; ++i)
    if (have->digits[i] != target.digits[i]) return {};
  return {target.digits.begin() + static_cast<std::ptrdiff_t>(n), target.digits.end()};
}

void slices(const Layout& now, const Layout& target, std::vector<Move>& out) {
  for (const Split& t : target.splits) {
    std::vector<Digit> next = wanted_next(now, t);
    std::size_t n = 0;
    while (n < next.size() && !uses(now, next[n])) ++n;
    next.resize(n);
    if (n) out.push_back({MoveKind::slice, next, t.dim, t.part, -1, -1, PartialKind::sum, t.key});
  }
}

// Of blocks of every index, those of one.
void choices(const Layout& now, const Layout& target, std::vector<Move>& out) {
  for (const Split& t : target.splits) {
    const Split* have = find_split(now, t.dim, t.part, t.key);
    if (!have || have->digits.size() != t.digits.size()) continue;
    std::vector<Digit> one;
    bool alike = true;
    for (std::size_t k = 0; k < t.digits.size(); ++k) {
      Digit chosen = have->digits[k];
      chosen.reach = t.digits[k].reach;
      alike = alike && chosen == t.digits[k];
      if (have->digits[k].reach == Reach::every && chosen.reach == Reach::own) one.push_back(chosen);
    }
    if (alike && !one.empty() && std::none_of(one.begin(), one.end(), [&](const Digit& d) { return uses(now, d); }))
      out.push_back({MoveKind::slice, one, t.dim, t.part});
  }
}

void gathers(const ConversionSpace& w, const Layout& now, std::vector<Move>& out) {
  for (const Split& s : now.splits)
    for (std::size_t n = 1; n <= s.digits.size(); ++n) {
      if (is_free(w, s.digits[s.digits.size() - n].axis)) break;
      out.push_back({MoveKind::all_gather,
                     {s.digits.end() - static_cast<std::ptrdiff_t>(n), s.digits.end()},
                     s.dim,
                     s.part,
                     -1,
                     -1,
                     PartialKind::sum,
                     s.key});
    }
}

// Whether a part has room for some more digits behind those that it has.
bool has_room(const ConversionSpace& w, const Layout& l, int dim, int part, const std::vector<Digit>& digits) {
  const ClassId c = w.graph.tensors[at(w.tensor)].dims[at(dim)][at(part)];
  std::int64_t blocks = 1;
  for (const Digit& d : digits) blocks *= d.size;
  if (const Split* there = find_split(l, dim, part))
    for (const Digit& x : there->digits) blocks *= x.size;
  return w.graph.classes[at(c)].size % blocks == 0;
}

// A part gives the last of its digits to one that wants the first of these. What else goes with it is wanted next too, or
// gathered later.
void exchanges(const ConversionSpace& w, const Layout& now, const Layout& target, std::vector<Move>& out) {
  for (const Split& t : target.splits) {
    const std::vector<Digit> wanted = wanted_next(now, t);
    if (wanted.empty()) continue;
    for (const Split& s : now.splits) {
      if ((s.dim == t.dim && s.part == t.part) || (s.part == kByKey && t.part == kByKey)) continue;
      const bool keyed = s.part == kByKey || t.part == kByKey;
      for (std::size_t n = 1; n <= s.digits.size() && !is_free(w, s.digits[s.digits.size() - n].axis); ++n) {
        const std::vector<Digit> last(s.digits.end() - static_cast<std::ptrdiff_t>(n), s.digits.end());
        if (!same(last.front(), wanted.front())) continue;
        if (n > wanted.size() && t.part != kByKey && !has_room(w, now, t.dim, t.part, last)) continue;
        out.push_back({MoveKind::all_to_all, last, t.dim, t.part, s.dim, s.part, PartialKind::sum,
                       keyed ? std::max(s.key, t.key) : -1});
      }
    }
  }
}

// Every part that has.
template <class F>
void each_part(const ConversionSpace& w, const Layout& l, const std::vector<Digit>& digits, F&& visit) {
  const auto& dims = w.graph.tensors[at(w.tensor)].dims;
  for (int dim = 0; dim < static_cast<int>(dims.size()); ++dim)
    for (int part = 0; part < static_cast<int>(dims[at(dim)].size()); ++part)
      if (has_room(w, l, dim, part, digits)) visit(dim, part);
}

// A part that the target cuts by other digits, or in another order: those that are there wait at other parts.
void detours(const ConversionSpace& w, const Layout& now, const Layout& target, std::vector<Move>& out) {
  for (const Split& s : now.splits) {
    if (s.part == kByKey) continue;
    const Split* t = find_split(target, s.dim, s.part);
    if (!t || s.digits == t->digits || !wanted_next(now, *t).empty()) continue;
    for (std::size_t n = 1; n <= s.digits.size() && !is_free(w, s.digits[s.digits.size() - n].axis); ++n) {
      const std::vector<Digit> last(s.digits.end() - static_cast<std::ptrdiff_t>(n), s.digits.end());
      each_part(w, now, last, [&](int dim, int part) {
        if (dim != s.dim || part != s.part)
          out.push_back({MoveKind::all_to_all, last, dim, part, s.dim, s.part, PartialKind::sum});
      });
    }
  }
}

// A whole axis of devices, by its coordinate.
bool is_plain(const ConversionSpace& w, const Digit& d) { return !is_free(w, d.axis) && same(d, plain(d)); }

// Whether the part where the target has this digit cannot be cut by it yet: other digits stand before it, or rows are
// selected by key on one side alone.
bool has_to_wait(const Layout& now, const Split& target, const Digit& d) {
  if (is_keyed(now) != (target.part == kByKey)) return true;
  const std::vector<Digit> next = wanted_next(now, target);
  return next.empty() || next.front() != d;
}

// Whether some blocks are not where the target has them.
bool blocks_move(const ConversionSpace& w, const Layout& now, const Layout& target) {
  return std::any_of(now.splits.begin(), now.splits.end(), [&](const Split& s) {
    const Split* t = find_split(target, s.dim, s.part, s.key);
    for (std::size_t k = 0; k < s.digits.size(); ++k)
      if (!is_free(w, s.digits[k].axis) && (!t || k >= t->digits.size() || t->digits[k] != s.digits[k])) return true;
    return false;
  });
}

// Whether a value still has to go anywhere: blocks, and sums that the target has not.
bool goes_on(const ConversionSpace& w, const Layout& now, const Layout& target) {
  const auto summed = [&](const Partial& p) {
    return !is_free(w, p.digit.axis) &&
           std::find(target.partials.begin(), target.partials.end(), p) == target.partials.end();
  };
  return std::any_of(now.partials.begin(), now.partials.end(), summed) || blocks_move(w, now, target);
}

// Cuts that the target has elsewhere, for the way: what goes is smaller then. Digits whose part is not ready for them wait at
// another one, and those of sums that the target has are not yet summed.
void early_cuts(const ConversionSpace& w, const Layout& now, const Layout& target, std::vector<Move>& out) {
  if (!goes_on(w, now, target)) return;
  const auto cut = [&](const Digit& d) {
    if (!is_plain(w, d) || uses(now, d)) return;
    each_part(w, now, {d},
              [&](int dim, int part) { out.push_back({MoveKind::slice, {d}, dim, part, -1, -1, PartialKind::sum}); });
    for (const Split& rows : now.splits)
      if (rows.part == kByKey)
        out.push_back({MoveKind::slice, {d}, rows.dim, kByKey, -1, -1, PartialKind::sum, rows.key});
  };
  for (const Split& t : target.splits)
    for (const Digit& d : t.digits)
      if (has_to_wait(now, t, d)) cut(d);
  for (const Partial& t : target.partials)
    if (t.kind == PartialKind::sum) cut(t.digit);
}

// Sums over several axes scattered at one part, in every order.
void scatter_all(std::vector<Digit> digits, int dim, int part, std::vector<Move>& out) {
  std::sort(digits.begin(), digits.end());
  do out.push_back({MoveKind::reduce_scatter, digits, dim, part, -1, -1, PartialKind::sum});
  while (std::next_permutation(digits.begin(), digits.end()));
}

void reductions(const ConversionSpace& w, const Layout& now, const Layout& target, std::vector<Move>& out) {
  std::vector<Digit> all, merged;
  for (const Partial& p : now.partials) {
    if (is_free(w, p.digit.axis)) continue;
    const bool kept = std::find(target.partials.begin(), target.partials.end(), p) != target.partials.end();
    if (kept || p.kind == PartialKind::softmax) continue;  // a softmax needs its weights: joined where they are made
    (p.kind == PartialKind::merge ? merged : all).push_back(p.digit);
  }
  if (!merged.empty()) out.push_back({MoveKind::all_reduce, merged, -1, -1, -1, -1, PartialKind::merge});
  if (all.empty()) return;
  out.push_back({MoveKind::all_reduce, all, -1, -1, -1, -1, PartialKind::sum});
  for (const Digit& d : all) {
    if (all.size() > 1) out.push_back({MoveKind::all_reduce, {d}, -1, -1, -1, -1, PartialKind::sum});
    for (const Split& t : target.splits) {
      const std::vector<Digit> next = wanted_next(now, t);
      if (t.part != kByKey && !next.empty() && plain(next.front()) == d)
        out.push_back({MoveKind::reduce_scatter, {next.front()}, t.dim, t.part, -1, -1, PartialKind::sum});
    }
  }
  for (const Split& t : target.splits) {  // several digits of one part at once
    std::vector<Digit> next = wanted_next(now, t);
    std::size_t n = 0;
    while (t.part != kByKey && n < next.size() && std::find(all.begin(), all.end(), plain(next[n])) != all.end()) ++n;
    next.resize(n);
    if (n > 1) out.push_back({MoveKind::reduce_scatter, next, t.dim, t.part, -1, -1, PartialKind::sum});
  }
  // In steps: scattered over one axis, what is left is smaller for the other axes, and gathered at last.
  const bool alone = all.size() == 1 && !blocks_move(w, now, target);
  for (const Digit& d : all)
    if (!alone || cut_by(target, d))
      each_part(w, now, {d}, [&](int dim, int part) {
        out.push_back({MoveKind::reduce_scatter, {d}, dim, part, -1, -1, PartialKind::sum});
      });
  if (all.size() > 1) each_part(w, now, all, [&](int dim, int part) { scatter_all(all, dim, part, out); });
}

void partials(const Layout& now, const Layout& target, std::vector<Move>& out) {
  for (const Partial& t : target.partials)
    if (t.kind == PartialKind::sum && !uses(now, t.digit))
      out.push_back({MoveKind::to_partial, {t.digit}, -1, -1, -1, -1, PartialKind::sum});
}

// Whether splits begin with the same digits, before the last n and m.
bool begins_alike(const Split& a, std::size_t n, const Split& b, std::size_t m) {
  return std::equal(a.digits.begin(), a.digits.end() - static_cast<std::ptrdiff_t>(n), b.digits.begin(),
                    b.digits.end() - static_cast<std::ptrdiff_t>(m));
}

// Whether cuts one after the other make the blocks of one cut.
bool cut_alike(const ConversionSpace& w, const Split& a, const Split& b) {
  if (a.digits.size() == b.digits.size()) return true;
  const ClassId part = w.graph.tensors[static_cast<std::size_t>(w.tensor)]
                           .dims[static_cast<std::size_t>(a.dim)][static_cast<std::size_t>(a.part)];
  const auto divides = [&](const Split& s) {
    std::int64_t blocks = 1;
    for (const Digit& d : s.digits) blocks *= d.size;
    return w.graph.classes[static_cast<std::size_t>(part)].size % blocks == 0;
  };
  return divides(a) && divides(b);
}

// Blocks that follow from a coordinate change devices: from home, or, as parts of a sum over the devices, to it.
void rotations(const ConversionSpace& w, const Layout& now, const Layout& target, std::vector<Move>& out) {
  if (is_keyed(now) || is_keyed(target)) return;
  for (const Split& t : target.splits) {
    const Split* have = find_split(now, t.dim, t.part);
    if (!have || !cut_alike(w, *have, t)) continue;
    Layout others = now;
    std::erase(others.splits, *have);
    const std::vector<Digit> from = home_end(have->digits), to = home_end(t.digits);
    const Digit &device = from.back(), &turned = to.back();
    if (holds_every(others) || is_turned_by(others, {device, turned})) continue;
    if (to.size() == 1 && begins_alike(*have, from.size(), t, 1) && is_home(w.program, from, turned) &&
        !uses(now, plain(turned)))
      out.push_back({MoveKind::rotate, from, t.dim, t.part, -1, -1, PartialKind::sum, -1, turned});
    const Partial sum{plain(turned), PartialKind::sum};
    if (from.size() == 1 && begins_alike(*have, 1, t, to.size()) && is_home(w.program, to, device) &&
        std::find(now.partials.begin(), now.partials.end(), sum) != now.partials.end())
      out.push_back({MoveKind::rotate_back, to, t.dim, t.part, -1, -1, PartialKind::sum, -1, device});
  }
}

// A log-sum-exp in parts is combined first: backward reads it in the layout in which it was written.
bool combines(const Move& m) { return m.kind == MoveKind::all_reduce && m.reduce == PartialKind::merge; }

// Devices that hold different blocks of a value cannot reduce, gather or exchange it among themselves; of the blocks of
// every index, one is taken; a dimension that holds what lies before an index stays as it is.
void drop_illegal(const Layout& now, const Layout& to, std::vector<Move>& moves) {
  const bool every = holds_every(now);
  const auto holds_prefix = [&](int dim, int part) {
    const Split* s = dim < 0 ? nullptr : find_split(now, dim, part);
    return s &&
           std::any_of(s->digits.begin(), s->digits.end(), [](const Digit& d) { return d.reach == Reach::prefix; });
  };
  std::erase_if(moves, [&](const Move& m) {
    if (m.kind == MoveKind::rotate || m.kind == MoveKind::rotate_back) return false;
    if (holds_prefix(m.dim, m.part) || holds_prefix(m.from_dim, m.from_part)) return true;
    if (std::any_of(m.digits.begin(), m.digits.end(), [](const Digit& d) { return d.reach == Reach::every; }))
      return true;
    if (every) return holds_every(apply(now, m)) || holds_every(to);
    return !is_local(m.kind) && is_turned_by(now, m.digits);
  });
}

// Rows are selected from a region, by one key: the split is made when the region is that of the target, and as long as it
// is there, the region of its dimension stays.
bool keeps_regions(const Layout& now, const Layout& next, const Layout& to) {
  const auto selected = [](const Layout& l, int dim) {
    return std::any_of(l.splits.begin(), l.splits.end(),
                       [&](const Split& s) { return s.dim == dim && s.part == kByKey; });
  };
  for (const Split& s : now.splits)
    if (s.part == kByKey && selected(next, s.dim) && key_layout(now, s.dim) != key_layout(next, s.dim)) return false;
  for (std::size_t k = 0; k < next.splits.size(); ++k) {
    const Split& s = next.splits[k];
    if (s.part != kByKey) continue;
    if (k > 0 && next.splits[k - 1].part == kByKey && next.splits[k - 1].dim == s.dim) return false;
    if (!selected(now, s.dim) && key_layout(next, s.dim) != key_layout(to, s.dim)) return false;
  }
  return true;
}

}  // namespace

Layout apply(const Layout& l, const Move& m) {
  Layout out = l;
  const auto drop_partials = [&] {
    std::erase_if(out.partials, [&](const Partial& p) {
      return std::any_of(m.digits.begin(), m.digits.end(),
                         [&](const Digit& d) { return d.reach == Reach::own && same(plain(d), p.digit); });
    });
  };
  switch (m.kind) {
    case MoveKind::all_gather:
      drop_digits(out, m.dim, m.part, m.digits.size(), m.key);
      break;
    case MoveKind::slice:
      if (!choose(out, m)) add_digits(out, m.dim, m.part, m.digits, m.key);
      break;
    case MoveKind::all_reduce:
      drop_partials();
      break;
    case MoveKind::reduce_scatter:
      drop_partials();
      add_digits(out, m.dim, m.part, m.digits, m.key);
      break;
    case MoveKind::all_to_all:
      drop_digits(out, m.from_dim, m.from_part, m.digits.size(), m.key);
      add_digits(out, m.dim, m.part, m.digits, m.key);
      break;
    case MoveKind::to_partial:
      for (const Digit& d : m.digits) out.partials.push_back({d, PartialKind::sum});
      std::sort(out.partials.begin(), out.partials.end());
      break;
    case MoveKind::rotate:
      drop_digits(out, m.dim, m.part, m.digits.size(), -1);
      add_digits(out, m.dim, m.part, {m.turned}, -1);
      break;
    case MoveKind::rotate_back:
      drop_digits(out, m.dim, m.part, 1, -1);
      add_digits(out, m.dim, m.part, m.digits, -1);
      drop_partials();
      out.partials.push_back({plain(m.turned), PartialKind::sum});
      break;
  }
  return canonical(std::move(out));
}

std::vector<Move> moves_from(const ConversionSpace& w, const Layout& now, const Layout& to) {
  std::vector<Move> moves;
  slices(now, to, moves);
  early_cuts(w, now, to, moves);
  reductions(w, now, to, moves);
  exchanges(w, now, to, moves);
  detours(w, now, to, moves);
  gathers(w, now, moves);
  partials(now, to, moves);
  rotations(w, now, to, moves);
  choices(now, to, moves);
  if (std::any_of(moves.begin(), moves.end(), combines))
    std::erase_if(moves, [](const Move& m) { return !combines(m); });
  drop_illegal(now, to, moves);
  if (is_keyed(now) || is_keyed(to))
    std::erase_if(moves, [&](const Move& m) { return !keeps_regions(now, apply(now, m), to); });
  return moves;
}

}  // namespace planscope
