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
    w.p.axes.push_back({d.axes[a].name, d.axes[a].size, -1});
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
      w.p.axes.push_back({d.axes[static_cast<std::size_t>(a.axis)].name, a.size, static_cast<GridId>(k)});
      grid.axes.push_back(id);
      grid.strides.push_back(stride);
    }
    const auto devices = static_cast<std::int64_t>(info.devices.size());
    if (info.axes.empty() && devices > 1) {  // a plain set of devices: an axis that no statement can name
      grid.axes.push_back(static_cast<AxisId>(w.p.axes.size()));
      grid.strides.push_back(1);
      w.p.axes.push_back({info.name, devices, static_cast<GridId>(k)});
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

// Units named by order rows: each operator belongs to the first that lists it.
void make_units(Work& w, std::vector<int>& unit) {
  for (const plan::OrderRow& row : w.d.order)
    for (const plan::TaskFamily& family : row.chain)
      for (const int u : family.units)
        for (const int op : w.d.units[static_cast<std::size_t>(u)].operators)
          if (unit[static_cast<std::size_t>(op)] < 0) unit[static_cast<std::size_t>(op)] = u;
}

// Operators that follow take place and unit of `source`.
void adopt(Work& w, OpId op, OpId source) {
  const auto o = static_cast<std::size_t>(op), s = static_cast<std::size_t>(source);
  w.op_place[o] = w.op_place[s];
  if (w.op_unit[o] < 0) w.op_unit[o] = w.op_unit[s];
}

}  // namespace

bool make_places(Work& w) {
  const plan::Decisions& d = w.d;
  make_axes(w);
  w.p.device_count = static_cast<int>(d.device_count);
  const std::size_t n = w.g.ops.size();
  w.op_place.assign(n, -1);
  w.op_unit.assign(n, -1);
  make_units(w, w.op_unit);
  const PlaceId everywhere = w.intern(Place{0, {}});
  bool any = false;
  for (std::size_t o = 0; o < n; ++o)
    if (d.operator_place[o] >= 0 && !w.op(static_cast<OpId>(o)).parameter_free) {
      w.op_place[o] = place_of(w, d.places[static_cast<std::size_t>(d.operator_place[o])]);
      any = true;
    }
  // An operator that an order row names and no assign places counts as named: others may join its unit.
  if (!any) std::fill(w.op_place.begin(), w.op_place.end(), everywhere);
  const auto named = [&](OpId o) {
    return !w.op(o).parameter_free && w.op_place[static_cast<std::size_t>(o)] >= 0 &&
           (any || w.op_unit[static_cast<std::size_t>(o)] >= 0);
  };
  const auto join_reader = [&](OpId o) {
    for (const Operand& out : w.op(o).outputs)
      for (const OpId r : w.g.tensors[static_cast<std::size_t>(out.tensor)].readers)
        if (named(r)) {
          adopt(w, o, r);
          return true;
        }
    return false;
  };
  const auto join_producer = [&](OpId o) {
    OpId last = -1;
    for (const Operand& in : w.op(o).inputs)
      if (const OpId producer = w.g.tensors[static_cast<std::size_t>(in.tensor)].producer;
          producer > last && named(producer))
        last = producer;
    if (last >= 0) adopt(w, o, last);
    return last >= 0;
  };
  const OpId count = static_cast<OpId>(n);
  for (bool changed = true; changed;) {
    changed = false;
    for (OpId o = count - 1; o >= 0; --o)
      if (!named(o) && !w.op(o).parameter_free) changed = join_reader(o) || changed;
    for (OpId o = 0; o < count; ++o)
      if (!named(o) && !w.op(o).parameter_free) changed = join_producer(o) || changed;
  }
  for (PlaceId& place : w.op_place)
    if (place < 0) place = everywhere;
  return true;
}

}  // namespace planscope::build
