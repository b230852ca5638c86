#pragma once
// Conversions of two dimensions on a grid by brute force: every move that there is, whatever the target. Where it is said
// over which digits the target is a part of a sum, a value becomes one only over these, and then stays it.
#include <map>
#include <queue>

#include "engine/program/conversion.h"

namespace planscope::brute {

constexpr int kDims = 2;

inline bool used(const Layout& l, const Digit& d) {
  for (const Split& s : l.splits)
    if (std::find(s.digits.begin(), s.digits.end(), d) != s.digits.end()) return true;
  return std::any_of(l.partials.begin(), l.partials.end(), [&](const Partial& p) { return p.digit == d; });
}

inline bool partial(const Layout& l, const Digit& d) {
  return std::find(l.partials.begin(), l.partials.end(), Partial{d, PartialKind::sum}) != l.partials.end();
}

// All lists of some of the digits, in every order.
inline std::vector<std::vector<Digit>> ordered(const std::vector<Digit>& of) {
  std::vector<std::vector<Digit>> out;
  for (const Digit& d : of) {
    std::vector<Digit> rest = of;
    std::erase(rest, d);
    out.push_back({d});
    for (std::vector<Digit>& more : ordered(rest)) {
      more.insert(more.begin(), d);
      out.push_back(std::move(more));
    }
  }
  return out;
}

using Digits = std::vector<Digit>;

// Every legal move on some digits of the grid; with a key, also those of rows (dimension 0) by it.
inline std::vector<Move> all_moves(const Layout& l, const Digits& of, TensorId key, const Digits* summed) {
  std::vector<Move> out;
  const std::vector<std::vector<Digit>> lists = ordered(of);
  for (const std::vector<Digit>& digits : lists) {
    const bool free = std::none_of(digits.begin(), digits.end(), [&](const Digit& d) { return used(l, d); });
    const auto ends_as_sum = [&](const Digit& d) {
      return summed && std::find(summed->begin(), summed->end(), d) != summed->end();
    };
    const bool sums =
        std::all_of(digits.begin(), digits.end(), [&](const Digit& d) { return partial(l, d) && !ends_as_sum(d); });
    for (int dim = 0; dim < kDims; ++dim) {
      if (free) out.push_back({MoveKind::slice, digits, dim, 0, -1, -1, PartialKind::sum});
      if (sums) out.push_back({MoveKind::reduce_scatter, digits, dim, 0, -1, -1, PartialKind::sum});
    }
    if (sums) out.push_back({MoveKind::all_reduce, digits, -1, -1, -1, -1, PartialKind::sum});
    if (free && digits.size() == 1 && (!summed || ends_as_sum(digits[0])))
      out.push_back({MoveKind::to_partial, digits, -1, -1, -1, -1, PartialKind::sum});
  }
  for (const Split& s : l.splits)
    for (std::size_t n = 1; n <= s.digits.size(); ++n) {
      const std::vector<Digit> minor(s.digits.end() - static_cast<std::ptrdiff_t>(n), s.digits.end());
      out.push_back({MoveKind::all_gather, minor, s.dim, s.part, -1, -1, PartialKind::sum, s.key});
      for (int dim = 0; dim < kDims; ++dim)
        if (dim != s.dim || s.part == kByKey)
          out.push_back({MoveKind::all_to_all, minor, dim, 0, s.dim, s.part, PartialKind::sum, s.key});
      if (key >= 0 && s.part != kByKey)
        out.push_back({MoveKind::all_to_all, minor, 0, kByKey, s.dim, s.part, PartialKind::sum, key});
    }
  for (const std::vector<Digit>& digits : lists)
    if (key >= 0 && std::none_of(digits.begin(), digits.end(), [&](const Digit& d) { return used(l, d); }))
      out.push_back({MoveKind::slice, digits, 0, kByKey, -1, -1, PartialKind::sum, key});
  // As long as rows are selected, the region that they are selected from stays.
  std::erase_if(out, [&](const Move& m) {
    const Layout next = apply(l, m);
    return is_keyed(l) && is_keyed(next) && key_layout(l, 0) != key_layout(next, 0);
  });
  return out;
}

// What every layout costs that can be reached.
inline std::map<Layout, double> distances(const ConversionSpace& space, const Digits& of, const Layout& from,
                                          TensorId key = -1, const Digits* summed = nullptr) {
  std::map<Layout, double> best = {{from, 0}};
  using Step = std::pair<double, Layout>;
  const auto later = [](const Step& a, const Step& b) { return a.first > b.first; };
  std::priority_queue<Step, std::vector<Step>, decltype(later)> queue(later);
  queue.push({0, from});
  while (!queue.empty()) {
    const auto [cost, now] = queue.top();
    queue.pop();
    if (cost > best[now]) continue;
    for (const Move& m : all_moves(now, of, key, summed)) {
      const Layout next = apply(now, m);
      const double sum = cost + move_cost(space, now, m);
      const auto [it, fresh] = best.emplace(next, sum);
      if (!fresh && it->second <= sum) continue;
      it->second = sum;
      queue.push({sum, next});
    }
  }
  return best;
}

}  // namespace planscope::brute
