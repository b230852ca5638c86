#include "engine/program/build/work.h"

#include <algorithm>

#include "engine/plan/printer.h"

namespace planscope::build {

// Of what mostly tells layouts apart.
std::size_t LayoutHash::operator()(const Layout& l) const {
  std::uint64_t h = l.splits.size() << 8 | l.partials.size();
  const auto mix = [&](std::uint64_t n) { h = mixed(h, static_cast<std::int64_t>(n)); };
  const auto digit = [&](const Digit& d) {
    mix(static_cast<std::uint64_t>(d.axis) << 32 ^ static_cast<std::uint64_t>(d.size) << 16 ^
        static_cast<std::uint64_t>(d.stride));
  };
  for (const Split& s : l.splits) {
    mix(static_cast<std::uint64_t>(s.dim) << 8 ^ static_cast<std::uint64_t>(s.part));
    for (const Digit& d : s.digits) digit(d);
  }
  for (const Partial& p : l.partials) digit(p.digit);
  return static_cast<std::size_t>(h);
}

LayoutId Work::intern(const Layout& l) {
  const auto [it, fresh] = layout_ids_.try_emplace(l, static_cast<LayoutId>(p.layouts.size()));
  if (fresh) p.layouts.push_back(l);
  return it->second;
}

int Work::intern(const AxisBinding& b) {
  std::uint64_t h = static_cast<std::uint64_t>(b.statement) << 32 ^ static_cast<std::uint64_t>(b.pass);
  for (const FactorBinding& f : b.factors) h = mixed(mixed(mixed(h, f.digit.axis), f.factor), f.part);
  const auto [begin, end] = known_bindings_.equal_range(static_cast<std::size_t>(h));
  for (auto known = begin; known != end; ++known)
    if (axis_bindings[static_cast<std::size_t>(known->second)] == b) return known->second;
  if (b == axis_bindings[0]) return 0;
  axis_bindings.push_back(b);
  const int id = static_cast<int>(axis_bindings.size()) - 1;
  known_bindings_.emplace(static_cast<std::size_t>(h), id);
  return id;
}

PlaceId Work::intern(const Place& place) {
  const auto [it, fresh] =
      place_ids_.emplace(std::make_pair(place.grid, place.fixed), static_cast<PlaceId>(p.places.size()));
  if (fresh) p.places.push_back(place);
  return it->second;
}

std::string Work::statement_text(int s) const {
  return s < 0 ? std::string() : plan::print_code(d.plan.statements[static_cast<std::size_t>(s)]);
}

int Work::statement(int s) {
  if (s < 0) return -1;
  const auto [it, fresh] = statement_ids_.emplace(s, static_cast<int>(p.statements.size()));
  if (fresh)
    p.statements.push_back({d.plan.statements[static_cast<std::size_t>(s)].line, d.plan.file, statement_text(s)});
  return it->second;
}

bool Work::reached(OpId o) {
  if (reached_.empty()) {
    for (const Op& op : g.ops)
      reached_.push_back(std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) {
        const OpId producer = g.tensors[static_cast<std::size_t>(in.tensor)].producer;
        return producer < 0 ? kind(in.tensor) == ValueKind::parameter : reached_[static_cast<std::size_t>(producer)];
      }));
  }
  return reached_[static_cast<std::size_t>(o)];
}

AxisId Work::axis_at(PlaceId place, int axis) const {
  if (d.axes[static_cast<std::size_t>(axis)].free) return free_axis_ids[static_cast<std::size_t>(axis)];
  const Place& at = p.places[static_cast<std::size_t>(place)];
  const AxisId id = axis_ids[static_cast<std::size_t>(at.grid)][static_cast<std::size_t>(axis)];
  if (id < 0) return -1;
  for (const auto& [a, value] : at.fixed)
    if (a == id) return -1;
  return id;
}

std::int64_t Work::size_at(PlaceId place, int axis) const {
  const AxisId id = axis_at(place, axis);
  return id < 0 ? 1 : p.axes[static_cast<std::size_t>(id)].size;
}

PlaceId Work::place_of(OpId o, const Classes& classes) const {
  std::size_t at = 0;
  for (std::size_t k = 0; k < divided.size(); ++k)
    at = at * divided[k].classes.size() + static_cast<std::size_t>(std::max(classes[k], 0));
  return class_places[at][static_cast<std::size_t>(o)];
}

std::optional<Digit> Work::digit_at(PlaceId place, const LogicalDigit& l, const Classes& classes) const {
  AxisId id = axis_at(place, l.axis);
  if (id < 0) return std::nullopt;
  for (std::size_t k = 0; k < classes.size(); ++k)
    if (divided[k].axis == l.axis && classes[k] >= 0) id = divided[k].classes[static_cast<std::size_t>(classes[k])];
  const std::int64_t size = p.axes[static_cast<std::size_t>(id)].size;
  const bool listed = static_cast<std::int64_t>(l.sizes.size()) == size;
  if (l.size == 0) {
    if (size <= 1) return std::nullopt;
    Digit digit{id, size, 1, listed ? l.sizes : decltype(l.sizes){}};
    digit.reach = l.reach;
    turn(digit, place, l.turn, classes);
    return digit;
  }
  if (l.size * l.stride > size) return std::nullopt;
  return Digit{id, l.size, l.stride, {}};
}

// A coordinate that the place fixes is a constant; where the grid lacks the axis there is one block along it.
void Work::turn(Digit& digit, PlaceId place, const plan::Turn& t, const Classes& classes) const {
  digit.step = t.step;
  digit.start = t.start;
  if (t.by < 0) return;
  digit.by = size_at(place, t.by) > 1 ? axis_at(place, t.by) : -1;
  if (digit.by >= 0) {
    for (std::size_t k = 0; k < classes.size(); ++k)
      if (divided[k].axis == t.by && classes[k] >= 0)
        digit.by = divided[k].classes[static_cast<std::size_t>(classes[k])];
    digit.turn = t.turn;
    digit.cross = t.cross;
    return;
  }
  if (d.axes[static_cast<std::size_t>(t.by)].free) return;
  const Place& at = p.places[static_cast<std::size_t>(place)];
  const AxisId id = axis_ids[static_cast<std::size_t>(at.grid)][static_cast<std::size_t>(t.by)];
  for (const auto& [a, value] : at.fixed)
    if (a == id) {
      digit.start = (digit.start + t.turn * value) % digit.size;
      digit.step = (digit.step + t.cross * value) % digit.size;
    }
}

ProgramValueId Work::new_value(TensorId t, Role role, LayoutId layout, PlaceId place, AxisSet set,
                               ProgramValueId refills) {
  ProgramValue& v = p.values.emplace_back();
  v.tensor = t;
  v.role = role;
  v.layout = layout;
  v.place = place;
  v.indexed = std::move(set);
  v.refills = refills;
  return static_cast<ProgramValueId>(p.values.size()) - 1;
}

}  // namespace planscope::build
