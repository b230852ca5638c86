#include "engine/program/program.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace planscope {

namespace {

const Grid& grid_of(const Program& p, const Place& place) { return p.grids[static_cast<std::size_t>(place.grid)]; }

const Axis& axis_at(const Program& p, AxisId a) { return p.axes[static_cast<std::size_t>(a)]; }

// The coordinate that a place fixes on an axis; -1: the axis is open.
std::int64_t fixed_at(const Place& place, AxisId axis) {
  for (const auto& [a, c] : place.fixed)
    if (a == axis) return c;
  return -1;
}

int device_at(const Grid& grid, const Program& p, const std::vector<std::int64_t>& coordinates) {
  std::int64_t rank = 0, device = grid.first;
  for (std::size_t k = 0; k < grid.axes.size(); ++k) {
    rank = rank * axis_at(p, grid.axes[k]).size + coordinates[k];
    device += coordinates[k] * (k < grid.strides.size() ? grid.strides[k] : 0);
  }
  return grid.devices.empty() ? static_cast<int>(device) : grid.devices[static_cast<std::size_t>(rank)];
}

// Calls f(coordinates, device) for every device of the place, the last open axis fastest.
template <class F>
void each_device(const Program& p, const Place& place, F f) {
  const Grid& grid = grid_of(p, place);
  std::vector<std::int64_t> at(grid.axes.size(), 0);
  std::vector<bool> open(grid.axes.size(), true);
  for (std::size_t k = 0; k < grid.axes.size(); ++k)
    if (const std::int64_t c = fixed_at(place, grid.axes[k]); c >= 0) at[k] = c, open[k] = false;
  while (true) {
    if (!f(at, device_at(grid, p, at))) return;
    std::size_t k = grid.axes.size();
    while (k > 0 && (!open[k - 1] || at[k - 1] + 1 == axis_at(p, grid.axes[k - 1]).size)) {
      --k;
      if (open[k]) at[k] = 0;
    }
    if (k == 0) return;
    ++at[k - 1];
  }
}

// Coordinates of a device of a strided grid; empty: none, or the strides are not nested and a search is needed.
std::vector<std::int64_t> strided_coordinates(const Program& p, const Grid& grid, int device, bool& nested) {
  std::vector<std::size_t> order(grid.axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return grid.strides[a] < grid.strides[b]; });
  std::int64_t reach = 0;
  nested = true;
  for (const std::size_t k : order) {
    const std::int64_t size = axis_at(p, grid.axes[k]).size;
    nested = nested && (size == 1 || grid.strides[k] > reach);
    reach += (size - 1) * grid.strides[k];
  }
  if (!nested) return {};
  std::vector<std::int64_t> at(grid.axes.size(), 0);
  std::int64_t rest = device - grid.first;
  if (rest < 0) return {};
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    const std::int64_t size = axis_at(p, grid.axes[*k]).size;
    if (size == 1) continue;
    at[*k] = std::min(rest / grid.strides[*k], size - 1);
    rest -= at[*k] * grid.strides[*k];
  }
  if (rest != 0) at.clear();
  return at;
}

Interval listed_block(const std::vector<std::int64_t>& sizes, std::int64_t index) {
  const auto end = sizes.begin() + index;
  const std::int64_t begin = std::accumulate(sizes.begin(), end, std::int64_t{0});
  return {begin, begin + *end};
}

std::int64_t largest(const std::vector<std::int64_t>& sizes) {
  return std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
}

Interval split_part(std::int64_t size, const std::vector<Digit>& digits, const Point* point) {
  Interval i{0, size};
  for (const Digit& d : digits) {
    if (!point && d.reach != Reach::own) continue;
    const std::int64_t v = point ? digit_value(d, *point) : 0;
    if (v < 0) continue;
    const Interval b =
        d.sizes.empty() ? block(i.size(), d.size, v) : listed_block(d.sizes, point ? v : largest(d.sizes));
    i = {d.reach == Reach::prefix ? i.begin : i.begin + b.begin, i.begin + b.end};
  }
  return i;
}

// Each part of each dim, in order: take(dim, interval).
template <class Take>
void for_each_part(const Graph& g, TensorId t, const Layout& layout, const Point* point, const Take& take) {
  std::size_t next = 0;
  const auto& dims = g.tensors[static_cast<std::size_t>(t)].dims;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    const auto& classes = dims[static_cast<std::size_t>(d)];
    while (next < layout.splits.size() && layout.splits[next].dim == d && layout.splits[next].part == kByKey) ++next;
    for (int k = 0; k < static_cast<int>(classes.size()); ++k) {
      const std::int64_t size = g.classes[static_cast<std::size_t>(classes[static_cast<std::size_t>(k)])].size;
      const bool cut = next < layout.splits.size() && layout.splits[next].dim == d && layout.splits[next].part == k;
      take(static_cast<std::size_t>(d),
           cut ? split_part(size, layout.splits[next++].digits, point) : Interval{0, size});
    }
  }
}

std::vector<std::vector<Interval>> region_at(const Graph& g, TensorId t, const Layout& layout, const Point* point) {
  std::vector<std::vector<Interval>> out(g.tensors[static_cast<std::size_t>(t)].dims.size());
  for_each_part(g, t, layout, point, [&](std::size_t dim, Interval i) { out[dim].push_back(i); });
  return out;
}

std::vector<std::int64_t> sizes_at(const Graph& g, TensorId t, const Layout& layout, const Point* point) {
  std::vector<std::int64_t> out(g.tensors[static_cast<std::size_t>(t)].dims.size(), 1);
  for_each_part(g, t, layout, point, [&](std::size_t dim, Interval i) { out[dim] *= i.size(); });
  for (const Split& s : layout.splits) {
    if (s.part != kByKey) continue;
    const ClassId domain = g.tensors[static_cast<std::size_t>(s.key)].domain;
    const std::int64_t keys = g.classes[static_cast<std::size_t>(domain)].size;
    std::int64_t& rows = out[static_cast<std::size_t>(s.dim)];
    rows = (rows * split_part(keys, s.digits, point).size() + keys - 1) / keys;
  }
  return out;
}

}  // namespace

std::string_view to_string(Origin o) {
  switch (o) {
    case Origin::statement:
      return "statement";
    case Origin::follow:
      return "follow";
    case Origin::sweep:
      return "sweep";
    case Origin::pass:
      return "pass";
    case Origin::demand:
      return "demand";
  }
  return "?";
}

std::string_view to_string(MoveKind k) {
  switch (k) {
    case MoveKind::all_gather:
      return "all_gather";
    case MoveKind::reduce_scatter:
      return "reduce_scatter";
    case MoveKind::all_reduce:
      return "all_reduce";
    case MoveKind::all_to_all:
      return "all_to_all";
    case MoveKind::slice:
      return "slice";
    case MoveKind::to_partial:
      return "to_partial";
    case MoveKind::rotate:
      return "rotate";
    case MoveKind::rotate_back:
      return "rotate_back";
  }
  return "?";
}

std::string_view to_string(Code c) {
  switch (c) {
    case Code::load:
      return "load";
    case Code::compute:
      return "compute";
    case Code::replay:
      return "replay";
    case Code::backward:
      return "backward";
    case Code::seed:
      return "seed";
    case Code::add:
      return "add";
    case Code::accumulate:
      return "accumulate";
    case Code::local:
      return "local";
    case Code::issue:
      return "issue";
    case Code::wait:
      return "wait";
    case Code::send:
      return "send";
    case Code::receive:
      return "receive";
    case Code::update:
      return "update";
    case Code::free:
      return "free";
    case Code::offload:
      return "offload";
    case Code::restore:
      return "restore";
    case Code::write:
      return "write";
  }
  return "?";
}

bool is_local(MoveKind k) { return k == MoveKind::slice || k == MoveKind::to_partial; }

namespace {
// Two digits that stand next to each other in one axis are one.
bool joins(const Digit& major, const Digit& minor) {
  return major.axis == minor.axis && major.stride == minor.stride * minor.size && major.sizes.empty() &&
         minor.sizes.empty() && !is_turned(major) && !is_turned(minor) && major.reach == Reach::own &&
         minor.reach == Reach::own;
}
}  // namespace

Digit plain(Digit d) { return {d.axis, d.size, d.stride}; }

bool same(const Digit& a, const Digit& b) {
  return plain(a) == plain(b) && a.by == b.by && a.step == b.step && a.turn == b.turn && a.start == b.start &&
         a.cross == b.cross && a.reach == b.reach;
}

bool is_turned(const Digit& d) { return d.by >= 0 || d.step != 1 || d.turn != 0 || d.start != 0 || d.cross != 0; }

namespace {

// Whether step + cross * c is a multiple of the prime for some c in [0, coordinates).
bool meets_multiple(std::int64_t step, std::int64_t cross, std::int64_t prime, std::int64_t coordinates) {
  step = (step % prime + prime) % prime, cross = (cross % prime + prime) % prime;
  if (cross == 0) return step == 0;
  if (coordinates >= prime) return true;
  std::int64_t inverse = 1;  // cross^(prime - 2)
  for (std::int64_t power = cross, n = prime - 2; n > 0; n /= 2, power = power * power % prime)
    if (n % 2 == 1) inverse = inverse * power % prime;
  return (prime - step) * inverse % prime < coordinates;
}

}  // namespace

bool is_bijection(const Program& p, const Digit& d) {
  const std::int64_t others = d.by < 0 || d.cross == 0 ? 1 : axis_at(p, d.by).size;
  std::int64_t rest = d.size;  // step + cross * c is to have no prime in common with the size
  for (std::int64_t prime = 2; rest > 1; ++prime) {
    if (prime * prime > rest) prime = rest;
    if (rest % prime != 0) continue;
    if (meets_multiple(d.step, d.cross, prime, others)) return false;
    while (rest % prime == 0) rest /= prime;
  }
  return true;
}

namespace {

// At every coordinate i of a turned digit the first `devices` coordinates of the other axis name different blocks: what
// turn + cross * i has in common with the size leaves so many.
bool differs_between(const Digit& d, std::int64_t devices) {
  const auto repeats = [&](std::int64_t common) {
    return d.size / common < devices && d.turn % std::gcd(d.cross, common) == 0;
  };
  for (std::int64_t n = 1; n * n <= d.size; ++n)
    if (d.size % n == 0 && (repeats(n) || repeats(d.size / n))) return false;
  return true;
}

bool whole_axis(const Program& p, const Digit& d) {
  const Axis& a = axis_at(p, d.axis);
  return d.stride == 1 && d.size == a.size && a.of < 0 && d.sizes.empty() && is_bijection(p, d);
}

}  // namespace

bool is_home(const Program& p, const std::vector<Digit>& digits, const Digit& turned) {
  if (turned.by < 0 || turned.reach != Reach::own || digits.empty() || !whole_axis(p, turned)) return false;
  std::int64_t blocks = 1;
  for (const Digit& d : digits) {
    const bool last = &d == &digits.back();
    if (d.reach != (last ? Reach::own : Reach::every) || !whole_axis(p, d)) return false;
    const auto bound = [&](const Digit& x) { return x.reach == Reach::every && x.axis == d.by; };
    if (d.by >= 0 && (!last || std::none_of(digits.begin(), digits.end(), bound))) return false;
    blocks *= d.size;
  }
  return digits.back().axis == turned.by && blocks == turned.size && differs_between(turned, digits.back().size);
}

std::vector<Digit> home_end(const std::vector<Digit>& split) {
  std::size_t n = split.empty() ? 0 : 1;
  while (n > 0 && n < split.size() && split[split.size() - n - 1].reach == Reach::every) ++n;
  return {split.end() - static_cast<std::ptrdiff_t>(n), split.end()};
}

bool is_turned_by(const Layout& l, const std::vector<Digit>& digits) {
  const auto turned = [&](const Digit& d) {
    return d.by >= 0 && std::any_of(digits.begin(), digits.end(), [&](const Digit& x) { return x.axis == d.by; });
  };
  return std::any_of(l.splits.begin(), l.splits.end(),
                     [&](const Split& s) { return std::any_of(s.digits.begin(), s.digits.end(), turned); });
}

bool holds_every(const Layout& l) {
  return std::any_of(l.splits.begin(), l.splits.end(), [](const Split& s) {
    return std::any_of(s.digits.begin(), s.digits.end(), [](const Digit& d) { return d.reach == Reach::every; });
  });
}

std::vector<Digit> communicator(const Move& m) {
  std::vector<Digit> out;
  for (const Digit& d : m.digits)
    if (d.reach == Reach::own) out.push_back(plain(d));
  return out;
}

std::vector<int> softmax_outputs(const Graph& g, const Program& p, const Piece& piece) {
  std::vector<int> out;
  for (const PieceOp& o : piece.ops) {
    const Op& op = g.ops[static_cast<std::size_t>(o.op)];
    if (!op.backward || op.log_sums < 0) continue;
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      const int slot = o.first_output + static_cast<int>(k);
      if (slot >= static_cast<int>(piece.slots.size())) continue;
      const Layout& l = p.layouts[static_cast<std::size_t>(piece.slots[static_cast<std::size_t>(slot)].layout)];
      const auto at = std::find(piece.outputs.begin(), piece.outputs.end(), slot);
      if (at != piece.outputs.end() && std::any_of(l.partials.begin(), l.partials.end(),
                                                   [](const Partial& x) { return x.kind == PartialKind::softmax; }))
        out.push_back(static_cast<int>(at - piece.outputs.begin()));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Layout canonical(Layout l) {
  std::sort(l.splits.begin(), l.splits.end());
  for (Split& s : l.splits)
    for (std::size_t k = 0; k + 1 < s.digits.size();) {
      Digit &major = s.digits[k], &minor = s.digits[k + 1];
      if (!joins(major, minor)) {
        ++k;
        continue;
      }
      major = {major.axis, major.size * minor.size, minor.stride, {}};
      s.digits.erase(s.digits.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    }
  const auto by_stride = [](const Partial& a, const Partial& b) {
    return std::tuple(a.digit.axis, a.kind, -a.digit.stride) < std::tuple(b.digit.axis, b.kind, -b.digit.stride);
  };
  std::sort(l.partials.begin(), l.partials.end(), by_stride);
  for (std::size_t k = 0; k + 1 < l.partials.size();) {
    Partial &major = l.partials[k], &minor = l.partials[k + 1];
    if (major.kind != minor.kind || !joins(major.digit, minor.digit)) {
      ++k;
      continue;
    }
    major.digit = {major.digit.axis, major.digit.size * minor.digit.size, minor.digit.stride, {}};
    l.partials.erase(l.partials.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  std::sort(l.partials.begin(), l.partials.end());
  return l;
}

std::int64_t index_count(const Axis& a) { return a.of < 0 ? a.size : static_cast<std::int64_t>(a.indices.size()); }

std::int64_t index_at(const Axis& a, std::int64_t position) {
  return a.of < 0 ? position : a.indices[static_cast<std::size_t>(position)];
}

bool is_keyed(const Layout& l) {
  return std::any_of(l.splits.begin(), l.splits.end(), [](const Split& s) { return s.part == kByKey; });
}

Layout key_layout(const Layout& keyed, int dim) {
  Layout out;
  for (const Split& s : keyed.splits)
    if (s.dim == dim && s.part != kByKey) out.splits.push_back({0, s.part, s.digits});
  return out;
}

Layout key_layout(const Layout& from, const Layout& to, const Move& m) {
  const bool given = m.kind == MoveKind::all_gather || m.part != kByKey;
  return key_layout(given ? from : to, m.part == kByKey ? m.dim : m.from_dim);
}

Interval block(std::int64_t size, std::int64_t count, std::int64_t index) {
  const std::int64_t small = size / count, larger = size % count;
  const std::int64_t begin = index * small + std::min(index, larger);
  return {begin, begin + small + (index < larger ? 1 : 0)};
}

Interval block_of(std::int64_t size, const std::vector<Digit>& digits, const Point& point) {
  return split_part(size, digits, &point);
}

std::int64_t digit_value(const Digit& d, const Point& point) {
  if (d.axis < 0 || static_cast<std::size_t>(d.axis) >= point.size()) return -1;
  const std::int64_t c = point[static_cast<std::size_t>(d.axis)];
  if (c < 0) return -1;
  const std::int64_t value = (c / d.stride) % d.size;
  if (!is_turned(d)) return value;
  const std::int64_t other = d.by < 0 ? 0 : point[static_cast<std::size_t>(d.by)];
  if (other < 0) throw std::logic_error("a turned digit where the axis that turns it has no coordinate");
  const std::int64_t turned = (d.start + d.step * value + d.turn * other + d.cross * value * other) % d.size;
  return turned < 0 ? turned + d.size : turned;
}

std::vector<std::vector<Interval>> region(const Graph& g, TensorId t, const Layout& layout, const Point& point) {
  return region_at(g, t, layout, &point);
}

std::vector<std::vector<std::vector<Interval>>> regions(const Graph& g, TensorId t, const Program& p,
                                                        const Layout& layout, Point point) {
  std::vector<AxisId> axes;
  for (const Split& s : layout.splits)
    for (const Digit& d : s.digits)
      if (d.reach == Reach::every) axes.push_back(d.axis);
  std::vector<std::vector<std::vector<Interval>>> out;
  const auto each = [&](auto&& self, std::size_t k) -> void {
    if (k == axes.size()) {
      out.push_back(region(g, t, layout, point));
      return;
    }
    for (std::int64_t i = 0; i < axis_at(p, axes[k]).size; ++i) {
      point[static_cast<std::size_t>(axes[k])] = i;
      self(self, k + 1);
    }
  };
  each(each, 0);
  return out;
}

std::vector<std::int64_t> local_sizes(const Graph& g, TensorId t, const Layout& layout, const Point& point) {
  return sizes_at(g, t, layout, &point);
}

std::vector<std::int64_t> local_sizes(const Graph& g, TensorId t, const Layout& layout) {
  return sizes_at(g, t, layout, nullptr);
}

std::int64_t local_elements(const Graph& g, TensorId t, const Layout& layout) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes_at(g, t, layout, nullptr)) n *= s;
  return n;
}

std::vector<AxisId> free_axes(const Program& p, const Place& place) {
  std::vector<AxisId> out;
  for (const AxisId a : grid_of(p, place).axes)
    if (fixed_at(place, a) < 0) out.push_back(a);
  return out;
}

std::int64_t device_count(const Program& p, const Place& place) {
  std::int64_t n = 1;
  for (const AxisId a : free_axes(p, place)) n *= axis_at(p, a).size;
  return n;
}

std::vector<int> devices(const Program& p, const Place& place) {
  std::vector<int> out;
  each_device(p, place, [&](const auto&, int device) {
    out.push_back(device);
    return true;
  });
  return out;
}

Point point_of(const Program& p, const Place& place, int device) {
  const Grid& grid = grid_of(p, place);
  std::vector<std::int64_t> at;
  bool nested = false;
  if (grid.devices.empty()) at = strided_coordinates(p, grid, device, nested);
  if (!nested)
    each_device(p, place, [&](const auto& coordinates, int d) {
      if (d == device) at = coordinates;
      return d != device;
    });
  if (at.size() != grid.axes.size() || (grid.axes.empty() && device_at(grid, p, {}) != device)) return {};
  Point point(std::max<std::size_t>(1, p.axes.size()), -1);  // never empty, even without axes
  for (std::size_t k = 0; k < grid.axes.size(); ++k) {
    const std::int64_t fixed = fixed_at(place, grid.axes[k]);
    if (fixed >= 0 && fixed != at[k]) return {};
    point[static_cast<std::size_t>(grid.axes[k])] = at[k];
  }
  return point;
}

std::vector<int> devices(const Program& p, const DeviceClass& c) {
  return c.devices.empty() ? devices(p, c.place) : c.devices;
}

std::vector<SlotRun> period(const DeviceClass& c) {
  std::vector<SlotRun> out;
  for (const Loop& loop : c.loops)
    for (std::int64_t n = 0; n < loop.count; ++n)
      for (const SlotStep& s : loop.body) {
        SlotRun run{s.segment, s.base, s.ahead};
        for (std::size_t k = 0; k < run.index.size(); ++k) run.index[k] += s.step[k] * n;
        out.push_back(std::move(run));
      }
  return out;
}

std::vector<std::vector<std::int64_t>> last_indices(const Program& p, const DeviceClass& c) {
  std::vector<std::vector<std::int64_t>> out(p.segments.size());
  std::vector<std::int64_t> ahead(p.segments.size(), -1);  // what is less ahead runs later
  for (const Loop& loop : c.loops)
    for (const SlotStep& s : loop.body) {
      std::int64_t& least = ahead[static_cast<std::size_t>(s.segment)];
      if (loop.count <= 0 || (least >= 0 && s.ahead > least)) continue;
      least = s.ahead;
      std::vector<std::int64_t>& index = out[static_cast<std::size_t>(s.segment)];
      index = s.base;
      for (std::size_t k = 0; k < index.size(); ++k) index[k] += s.step[k] * (loop.count - 1);
    }
  return out;
}

std::int64_t most_ahead(const DeviceClass& c) {
  std::int64_t most = 0;
  for (const Loop& loop : c.loops)
    for (const SlotStep& s : loop.body) most = std::max(most, s.ahead);
  return most;
}

std::int64_t most_ahead(const Program& p) {
  std::int64_t most = 0;
  for (const DeviceClass& c : p.classes) most = std::max(most, most_ahead(c));
  return most;
}

std::vector<SlotRun> slots(const DeviceClass& c, std::int64_t steps) {
  std::vector<SlotRun> once = period(c), out;
  for (std::int64_t now = -most_ahead(c); now < steps; ++now)
    for (const SlotRun& run : once) {
      const std::int64_t step = now + run.ahead;
      if (step < 0 || step >= steps) continue;
      out.push_back(run);
      out.back().step = step;
    }
  return out;
}

int class_of(const Program& p, int device) {
  for (int k = 0; k < static_cast<int>(p.classes.size()); ++k) {
    const DeviceClass& c = p.classes[static_cast<std::size_t>(k)];
    const bool in = c.devices.empty() ? !point_of(p, c.place, device).empty()
                                      : std::find(c.devices.begin(), c.devices.end(), device) != c.devices.end();
    if (in) return k;
  }
  return -1;
}

}  // namespace planscope
