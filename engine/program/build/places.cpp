// Axes, grids, and the place of every operator: by statement, else with its first user, else with its last producer.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

void make_axes(Work& w) {
  const plan::Decisions& d = w.d;
  w.free_axis_ids.assign(d.axes.size(), -1);
  for (std::size_t a = 0; a < d.axes.size(); ++a) {
    if (!d.axes[a].free) continue;
    w.free_axis_ids[a] = static_cast<AxisId>(w.p.axes.size());
    w.p.axes.push_back({.name = d.axes[a].name, .size = d.axes[a].size});
  }
  for (std::size_t k = 0; k < d.grids.size(); ++k) {
    const plan::GridInfo& info = d.grids[k];
    Grid grid;
    grid.name = info.name;
    w.axis_ids.emplace_back(d.axes.size(), -1);
    std::int64_t count = 1;
    for (const plan::GridAxis& a : info.axes) count *= a.size;
    std::int64_t stride = count;
    for (const plan::GridAxis& a : info.axes) {
      stride /= a.size;
      const AxisId id = static_cast<AxisId>(w.p.axes.size());
      w.axis_ids[k][static_cast<std::size_t>(a.axis)] = id;
      w.p.axes.push_back(
          {.name = d.axes[static_cast<std::size_t>(a.axis)].name, .size = a.size, .grid = static_cast<GridId>(k)});
      grid.axes.push_back(id);
      grid.strides.push_back(stride);
    }
    const auto devices = static_cast<std::int64_t>(info.devices.size());
    if (info.axes.empty() && devices > 1) {  // a plain set of devices: an axis that no statement can name
      grid.axes.push_back(static_cast<AxisId>(w.p.axes.size()));
      grid.strides.push_back(1);
      w.p.axes.push_back({.name = info.name, .size = devices, .grid = static_cast<GridId>(k)});
      count = devices;
    }
    bool regular = true;
    for (std::size_t i = 0; i < info.devices.size() && regular; ++i)
      regular = info.devices[i] == info.devices[0] + static_cast<int>(i);
    regular = regular && devices == count;
    if (regular)
      grid.first = info.devices.empty() ? 0 : info.devices[0];
    else
      grid.devices = info.devices;
    w.p.grids.push_back(std::move(grid));
  }
}

PlaceId place_of(Work& w, const plan::PlaceInfo& info) {
  Place place;
  place.grid = info.grid;
  for (const auto& f : info.fixed)
    place.fixed.emplace_back(w.axis_ids[static_cast<std::size_t>(info.grid)][static_cast<std::size_t>(f.axis)],
                             f.value);
  std::sort(place.fixed.begin(), place.fixed.end());
  return w.intern(place);
}

// Units named by order rows: each operator belongs to the first that lists it. Tasks of parameters have units of their own.
void make_units(Work& w, std::vector<int>& unit) {
  for (const plan::OrderRow& row : w.d.order)
    for (const plan::TaskFamily& family : row.chain) {
      if (plan::of_parameters(family.phase) || plan::of_parameters(family.of)) continue;
      for (const int u : family.units)
        for (const int op : w.d.units[static_cast<std::size_t>(u)].operators)
          if (unit[static_cast<std::size_t>(op)] < 0) unit[static_cast<std::size_t>(op)] = u;
    }
}

// The places of all operators for one combination of classes of the divided axes; units, and how old the parameters are
// that they read, follow with them.
class Follow {
 public:
  Follow(Work& w, const std::vector<std::int64_t>& index) : w_(w), places_(w.g.ops.size(), -1) {
    for (OpId o = 0; o < count(); ++o)
      if (const int p = stated(o, index); p >= 0 && !w.op(o).parameter_free) {
        place(o) = place_of(w, w.d.places[static_cast<std::size_t>(p)]);
        any_ = true;
      }
    everywhere_ = w.intern(Place{0, {}});
    // An operator that an order row names and no assign places counts as named: others may join its unit.
    if (!any_) std::fill(places_.begin(), places_.end(), everywhere_);
  }

  std::vector<PlaceId> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (OpId o = count() - 1; o >= 0; --o)
        if (!named(o) && !w_.op(o).parameter_free) changed = join_reader(o) || changed;
      for (OpId o = 0; o < count(); ++o)
        if (!named(o) && !w_.op(o).parameter_free) changed = join_producer(o) || changed;
    }
    std::replace(places_.begin(), places_.end(), -1, everywhere_);
    return std::move(places_);
  }

 private:
  OpId count() const { return static_cast<OpId>(w_.g.ops.size()); }
  PlaceId& place(OpId o) { return places_[static_cast<std::size_t>(o)]; }
  int& unit(OpId o) { return w_.op_unit[static_cast<std::size_t>(o)]; }

  // By statement, at an index of every free axis.
  int stated(OpId o, const std::vector<std::int64_t>& index) const {
    const int indexed = w_.d.operator_indexed[static_cast<std::size_t>(o)];
    if (indexed < 0) return w_.d.operator_place[static_cast<std::size_t>(o)];
    const plan::IndexedPlaces& x = w_.d.indexed_places[static_cast<std::size_t>(indexed)];
    std::size_t at = 0;
    for (const int a : x.axes)
      at = at * static_cast<std::size_t>(w_.d.axes[static_cast<std::size_t>(a)].size) +
           static_cast<std::size_t>(index[static_cast<std::size_t>(a)]);
    return x.places[at];
  }

  bool named(OpId o) { return !w_.op(o).parameter_free && place(o) >= 0 && (any_ || unit(o) >= 0); }

  // Operators that follow take place and unit of `source`.
  void adopt(OpId o, OpId source) {
    place(o) = place(source);
    if (unit(o) < 0) unit(o) = unit(source);
    plan::Lag &lag = w_.op_lag[static_cast<std::size_t>(o)], &of = w_.op_lag[static_cast<std::size_t>(source)];
    if (lag.statement < 0) lag = of;
  }

  bool join_reader(OpId o) {
    for (const Operand& out : w_.op(o).outputs)
      for (const OpId r : w_.g.tensors[static_cast<std::size_t>(out.tensor)].readers)
        if (named(r)) {
          adopt(o, r);
          return true;
        }
    return false;
  }

  bool join_producer(OpId o) {
    OpId last = -1;
    for (const Operand& in : w_.op(o).inputs)
      if (const OpId producer = w_.g.tensors[static_cast<std::size_t>(in.tensor)].producer;
          producer > last && named(producer))
        last = producer;
    if (last >= 0) adopt(o, last);
    return last >= 0;
  }

  Work& w_;
  std::vector<PlaceId> places_;
  PlaceId everywhere_ = 0;
  bool any_ = false;
};

// `mb[0:4:2]`, `mb[3]`, `mb[0,1,5]`
std::string part_name(const std::string& axis, const std::vector<std::int64_t>& indices) {
  if (indices.size() == 1) return axis + "[" + std::to_string(indices[0]) + "]";
  const std::int64_t step = indices[1] - indices[0];
  bool even = true;
  for (std::size_t i = 1; i < indices.size(); ++i) even = even && indices[i] - indices[i - 1] == step;
  std::string out;
  if (even) {
    out = std::to_string(indices[0]) + ":" + std::to_string(indices.back() + 1);
    if (step > 1) out += ":" + std::to_string(step);
  } else {
    for (const std::int64_t i : indices) out += (out.empty() ? "" : ",") + std::to_string(i);
  }
  return axis + "[" + out + "]";
}

// For every index of a free axis: where operators placed by index are, at all indices of the other axes.
std::vector<std::vector<PlaceId>> places_by_index(Work& w, int axis) {
  const plan::Decisions& d = w.d;
  std::vector<std::vector<PlaceId>> out(static_cast<std::size_t>(d.axes[static_cast<std::size_t>(axis)].size));
  std::set<int> used(d.operator_indexed.begin(), d.operator_indexed.end());
  used.erase(-1);
  for (const int id : used) {
    const plan::IndexedPlaces& x = d.indexed_places[static_cast<std::size_t>(id)];
    const auto found = std::find(x.axes.begin(), x.axes.end(), axis);
    if (found == x.axes.end()) continue;
    std::size_t inner = 1;
    for (auto a = found + 1; a != x.axes.end(); ++a)
      inner *= static_cast<std::size_t>(d.axes[static_cast<std::size_t>(*a)].size);
    for (std::size_t i = 0; i < x.places.size(); ++i)
      out[i / inner % out.size()].push_back(
          x.places[i] < 0 ? -1 : place_of(w, d.places[static_cast<std::size_t>(x.places[i])]));
  }
  return out;
}

// Divides the free axes that statements place by index: indices at which all operators are at the same places are one
// class.
std::vector<std::vector<std::int64_t>> divide_axes(Work& w) {
  std::vector<std::vector<std::int64_t>> first;  // index of every class, by divided axis
  for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a) {
    if (!w.d.axes[static_cast<std::size_t>(a)].free) continue;
    const std::vector<std::vector<PlaceId>> places = places_by_index(w, a);
    std::map<std::vector<PlaceId>, std::vector<std::int64_t>> same;
    for (std::size_t i = 0; i < places.size(); ++i) same[places[i]].push_back(static_cast<std::int64_t>(i));
    if (same.size() < 2) continue;
    std::vector<std::vector<std::int64_t>> classes;
    for (auto& [at, indices] : same) classes.push_back(std::move(indices));
    std::sort(classes.begin(), classes.end());
    DividedAxis divided{a, {}};
    first.emplace_back();
    const AxisId whole = w.free_axis_ids[static_cast<std::size_t>(a)];
    for (const auto& indices : classes) {
      first.back().push_back(indices[0]);
      divided.classes.push_back(static_cast<AxisId>(w.p.axes.size()));
      const Axis of = w.p.axes[static_cast<std::size_t>(whole)];
      w.p.axes.push_back({part_name(of.name, indices), of.size, -1, whole, indices});
    }
    w.divided.push_back(std::move(divided));
  }
  return first;
}

}  // namespace

bool make_places(Work& w) {
  make_axes(w);
  w.p.device_count = static_cast<int>(w.d.device_count);
  w.op_unit.assign(w.g.ops.size(), -1);
  make_units(w, w.op_unit);
  w.op_lag = w.d.operator_lag;
  const std::vector<std::vector<std::int64_t>> first = divide_axes(w);
  std::vector<std::int64_t> index(w.d.axes.size(), 0);
  const auto recurse = [&](auto&& self, std::size_t k) -> void {
    if (k == w.divided.size()) {
      w.class_places.push_back(Follow(w, index).run());
      return;
    }
    for (const std::int64_t i : first[k]) {
      index[static_cast<std::size_t>(w.divided[k].axis)] = i;
      self(self, k + 1);
    }
  };
  recurse(recurse, 0);
  w.op_place = w.class_places[0];
  return true;
}

}  // namespace planscope::build
