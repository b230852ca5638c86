#include "engine/program/crossing.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/program/conversion.h"
#include "engine/program/transfer.h"

namespace planscope {

namespace {

bool is_free(const Program& p, AxisId a) { return p.axes[static_cast<std::size_t>(a)].grid < 0; }

// The axis of the same name and size that a place leaves open; -1: it has none.
AxisId namesake(const Program& p, AxisId axis, const Place& at) {
  const Axis& wanted = p.axes[static_cast<std::size_t>(axis)];
  for (const AxisId a : free_axes(p, at))
    if (p.axes[static_cast<std::size_t>(a)].name == wanted.name &&
        p.axes[static_cast<std::size_t>(a)].size == wanted.size)
      return a;
  return -1;
}

// The axis of one place in whose direction devices that another place has too stand as in that of its axis there.
AxisId coincident(const Program& p, AxisId axis, const Place& from, const Place& to) {
  for (const AxisId a : free_axes(p, to)) {
    if (p.axes[static_cast<std::size_t>(a)].size != p.axes[static_cast<std::size_t>(axis)].size) continue;
    const std::vector<int> all = devices(p, to);
    const bool equal = std::all_of(all.begin(), all.end(), [&](int d) {
      const Point there = point_of(p, from, d);
      return there.empty() || there[static_cast<std::size_t>(axis)] == point_of(p, to, d)[static_cast<std::size_t>(a)];
    });
    if (equal) return a;
  }
  return -1;
}

// A layout in other axes: -1 where there is none for it. What it splits is whole.
template <class Axes>
Layout in_axes(const Program& p, const Layout& l, const Axes& axis_for) {
  Layout out;
  for (const Partial& x : l.partials)
    if (is_free(p, x.digit.axis)) out.partials.push_back(x);
  for (const Split& s : l.splits) {
    if (s.part == kByKey) continue;
    Split t{s.dim, s.part, {}};
    for (const Digit& d : s.digits) {
      if (is_turned(d) || d.reach != Reach::own) break;
      const AxisId axis = is_free(p, d.axis) ? d.axis : axis_for(d.axis);
      if (axis < 0) break;
      t.digits.push_back({axis, d.size, d.stride, d.sizes});
    }
    if (!t.digits.empty()) out.splits.push_back(std::move(t));
  }
  return out;
}

// What two layouts have in common.
Layout common(const Layout& a, const Layout& b) {
  Layout out{{}, a.partials};
  for (const Split& s : a.splits)
    for (const Split& t : b.splits) {
      if (s.dim != t.dim || s.part != t.part || s.key != t.key) continue;
      const auto [end, other] = std::mismatch(s.digits.begin(), s.digits.end(), t.digits.begin(), t.digits.end());
      if (end != s.digits.begin()) out.splits.push_back({s.dim, s.part, {s.digits.begin(), end}, s.key});
    }
  return out;
}

const Place& place_at(const Program& p, PlaceId id) { return p.places[static_cast<std::size_t>(id)]; }

void add(std::vector<Layout>& list, Layout l) {
  if (std::find(list.begin(), list.end(), l) == list.end()) list.push_back(std::move(l));
}

Layout combined(const Program& p, Layout l) {
  std::erase_if(l.partials, [&](const Partial& x) { return !is_free(p, x.digit.axis); });
  std::erase_if(l.splits, [](const Split& s) { return s.part == kByKey; });
  return l;
}

using Pairs = std::vector<std::pair<Place, Place>>;

Microseconds time_between(const CrossingSpace& s, const Pairs& pairs, const CrossingPair& way) {
  Microseconds longest;
  for (const auto& [from, to] : pairs) {
    const Sending sending{s.tensor, from, to, way.sent, way.got};
    longest = std::max(longest, transfer_load(s.graph, s.program, s.cluster, {&sending, 1}).time);
  }
  return longest;
}

class Search {
 public:
  Search(const CrossingSpace& s, const std::vector<CrossingEnd>& held, const std::vector<CrossingEnd>& read)
      : s_(s),
        held_(held),
        read_(read),
        pairs_(alike_pairs(s.program, at(s.from), at(s.to))),
        nearest_(nearest_level(s.cluster, devices(s.program, at(s.from)), devices(s.program, at(s.to)))) {}

  std::vector<Crossing> run(const CrossingPair& usual, std::size_t limit) {
    std::vector<Layout> sent = {usual.sent}, got = {usual.got};
    if (const auto frame = frame_of(usual.sent); frame && frame_of(usual.got) == frame) candidates(*frame, sent, got);
    const auto sending_cost = [&](const Layout& l) { return sum(held_, s_.from, l, true); };
    const auto getting_cost = [&](const Layout& l) { return sum(read_, s_.to, l, false); };
    const std::vector<Option> sending = options(sent, sending_cost), getting = options(got, getting_cost);
    keep({usual.sent, sending_cost(usual.sent)}, {usual.got, getting_cost(usual.got)}, limit);
    for (const Option& a : sending)
      for (const Option& b : getting) {
        if (CrossingPair{a.layout, b.layout} == usual) continue;
        const bool worse = best_.size() == limit && a.cost + b.cost + least_time(b.layout) >= best_.back().cost;
        if (!worse) keep(a, b, limit);
      }
    return std::move(best_);
  }

 private:
  const Place& at(PlaceId id) const { return place_at(s_.program, id); }
  bool apart() const { return nearest_ >= 0; }  // no device is of both places

  struct Option {
    Layout layout;
    double cost;  // of the conversions of its side
  };

  // The free digits of a layout: nothing if it is not of blocks that any device may send or get.
  std::optional<Layout> frame_of(const Layout& l) const {
    Layout out;
    out.partials = l.partials;
    for (const Partial& x : l.partials)
      if (!is_free(s_.program, x.digit.axis)) return std::nullopt;
    for (const Split& s : l.splits) {
      Split free = s;
      free.digits.clear();
      for (const Digit& d : s.digits) {
        const bool is = is_free(s_.program, d.axis);
        const bool behind = is && free.digits.size() != static_cast<std::size_t>(&d - s.digits.data());
        if (s.part == kByKey || is_turned(d) || d.reach != Reach::own || behind) return std::nullopt;
        if (is) free.digits.push_back(d);
      }
      if (!free.digits.empty()) out.splits.push_back(std::move(free));
    }
    return out;
  }

  void candidates(const Layout& frame, std::vector<Layout>& sent, std::vector<Layout>& got) const {
    const auto fits = [&](const Layout& l) { return frame_of(l) == frame; };
    const auto add_if = [&](std::vector<Layout>& list, const Layout& l) {
      if (fits(l)) add(list, l);
    };
    for (const CrossingEnd& e : held_) add_if(sent, combined(s_.program, e.layout));
    for (const CrossingEnd& e : read_) add_if(got, combined(s_.program, e.layout));
    add_common(sent);
    add_common(got);
    const std::vector<Layout> here = sent, there = got;
    for (const Layout& l : there) add_if(sent, translated(s_.program, l, s_.to, s_.from));
    for (const Layout& l : here) add_if(got, translated(s_.program, l, s_.from, s_.to));
    if (!apart() && at(s_.from).grid != at(s_.to).grid) {
      for (const Layout& l : there) add_if(sent, as_held(l, s_.to, s_.from));
      for (const Layout& l : here) add_if(got, as_held(l, s_.from, s_.to));
    }
    cut_further(s_.from, sent);
    cut_further(s_.to, got);
  }

  // Every two layouts have something in common that one can be cut out of for both.
  static void add_common(std::vector<Layout>& list) {
    const std::size_t count = list.size();
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t j = 0; j < k; ++j) add(list, common(list[j], list[k]));
  }

  // The blocks of another place that devices of both hold, in the axes of this one.
  Layout as_held(const Layout& l, PlaceId from, PlaceId to) const {
    return in_axes(s_.program, l, [&](AxisId a) { return coincident(s_.program, a, at(from), at(to)); });
  }

  // By axes that a layout leaves unused, one after the other, on any parts; fewer first.
  void cut_further(PlaceId place, std::vector<Layout>& list) const {
    const auto& dims = s_.graph.tensors[static_cast<std::size_t>(s_.tensor)].dims;
    for (std::size_t k = 0; k < list.size() && list.size() < kMost; ++k)
      for (const Digit& d : unused(place, list[k]))
        for (int dim = 0; dim < static_cast<int>(dims.size()); ++dim)
          for (int part = 0; part < static_cast<int>(dims[static_cast<std::size_t>(dim)].size()); ++part)
            if (const auto l = cut(list[k], dim, part, d)) add(list, *l);
  }

  std::vector<Digit> unused(PlaceId place, const Layout& l) const {
    std::vector<Digit> out;
    for (const AxisId a : free_axes(s_.program, at(place))) {
      const bool used = std::any_of(l.splits.begin(), l.splits.end(), [&](const Split& s) {
        return std::any_of(s.digits.begin(), s.digits.end(), [&](const Digit& d) { return d.axis == a; });
      });
      const std::int64_t size = s_.program.axes[static_cast<std::size_t>(a)].size;
      if (!used && size > 1) out.push_back({a, size});
    }
    return out;
  }

  // Nothing where the part does not divide, or is cut unevenly.
  std::optional<Layout> cut(Layout l, int dim, int part, const Digit& digit) const {
    auto s =
        std::find_if(l.splits.begin(), l.splits.end(), [&](const Split& x) { return x.dim == dim && x.part == part; });
    if (s == l.splits.end()) s = l.splits.insert(s, {dim, part, {}});
    s->digits.push_back(digit);
    std::int64_t blocks = 1;
    for (const Digit& d : s->digits) {
      if (!d.sizes.empty()) return std::nullopt;
      blocks *= d.size;
    }
    const ClassId k = s_.graph.tensors[static_cast<std::size_t>(s_.tensor)]
                          .dims[static_cast<std::size_t>(dim)][static_cast<std::size_t>(part)];
    if (s_.graph.classes[static_cast<std::size_t>(k)].size % blocks != 0) return std::nullopt;
    return canonical(std::move(l));
  }

  // What cannot be converted is left out.
  template <class Cost>
  static std::vector<Option> options(const std::vector<Layout>& layouts, const Cost& cost) {
    std::vector<Option> out;
    for (const Layout& l : layouts) {
      const double c = cost(l);
      if (c < kImpossible) out.push_back({l, c});
    }
    std::stable_sort(out.begin(), out.end(), [](const Option& a, const Option& b) { return a.cost < b.cost; });
    return out;
  }

  double sum(const std::vector<CrossingEnd>& ends, PlaceId place, const Layout& l, bool to) const {
    const ConversionSpace space{s_.graph, s_.program, s_.cluster, s_.tensor, place};
    double sum = 0;
    for (const CrossingEnd& e : ends) {
      if (e.layout == l) continue;
      const auto path = to ? cheapest_conversion(space, e.layout, l) : cheapest_conversion(space, l, e.layout);
      sum += path ? e.times * path->cost : kImpossible;
    }
    return sum;
  }

  // A device that holds nothing of the value gets its region over one of the levels at which the places meet, or several.
  double least_time(const Layout& got) const {
    if (!apart()) return 0;
    const std::int64_t element = byte_size(s_.graph.model->values[static_cast<std::size_t>(s_.tensor)].dtype);
    const double bytes = static_cast<double>(local_elements(s_.graph, s_.tensor, got) * element);
    double latency = std::numeric_limits<double>::infinity(), per_byte = 0;
    for (auto l = static_cast<std::size_t>(nearest_); l < s_.cluster.levels.size(); ++l) {
      latency = std::min(latency, s_.cluster.levels[l].latency.count);
      per_byte += s_.cluster.levels[l].bandwidth / s_.cluster.levels[l].sharing;
    }
    return latency + bytes / per_byte * 1e6;
  }

  void keep(const Option& a, const Option& b, std::size_t limit) {
    Crossing c{{a.layout, b.layout}, {}, 0};
    c.time = time_between(s_, pairs_, c.pair);
    c.cost = a.cost + b.cost + c.time.count;
    const auto behind =
        std::find_if(best_.begin(), best_.end(), [&](const Crossing& x) { return c.cost + kTie < x.cost; });
    best_.insert(behind, std::move(c));
    if (best_.size() > limit) best_.pop_back();
  }

  static constexpr double kImpossible = 1e15, kTie = 1e-6;
  static constexpr std::size_t kMost = 256;  // layouts of a place

  const CrossingSpace& s_;
  const std::vector<CrossingEnd>&held_, &read_;
  const Pairs pairs_;
  const int nearest_;  // level; -1: the places share devices
  std::vector<Crossing> best_;
};

}  // namespace

std::vector<Crossing> crossings(const CrossingSpace& space, const std::vector<CrossingEnd>& held,
                                const std::vector<CrossingEnd>& read, const CrossingPair& usual, std::size_t limit) {
  return Search(space, held, read).run(usual, limit);
}

Microseconds crossing_time(const CrossingSpace& s, const CrossingPair& way) {
  return time_between(s, alike_pairs(s.program, place_at(s.program, s.from), place_at(s.program, s.to)), way);
}

std::vector<std::pair<Place, Place>> alike_pairs(const Program& p, const Place& from, const Place& to) {
  const bool alike =
      from.grid == to.grid && std::equal(from.fixed.begin(), from.fixed.end(), to.fixed.begin(), to.fixed.end(),
                                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (!alike) return {{from, to}};
  Pairs out = {{{from.grid, {}}, {to.grid, {}}}};
  for (std::size_t k = 0; k < from.fixed.size(); ++k) {
    const AxisId axis = from.fixed[k].first;
    const std::int64_t apart = to.fixed[k].second - from.fixed[k].second;
    const std::int64_t size = p.axes[static_cast<std::size_t>(axis)].size;
    Pairs longer;
    for (const auto& [a, b] : out)
      for (std::int64_t c = std::max<std::int64_t>(0, -apart); c < size && c + apart < size; ++c) {
        longer.emplace_back(a, b);
        longer.back().first.fixed.emplace_back(axis, c);
        longer.back().second.fixed.emplace_back(axis, c + apart);
      }
    out = std::move(longer);
  }
  return out;
}

Layout translated(const Program& p, const Layout& l, PlaceId from, PlaceId to) {
  if (from == to) return l;
  return in_axes(p, l, [&](AxisId a) { return namesake(p, a, place_at(p, to)); });
}

}  // namespace planscope
