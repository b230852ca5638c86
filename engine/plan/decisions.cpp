// Questions about Decisions.
#include <algorithm>

#include "engine/plan/within.h"

namespace planscope::plan {

bool is_final(const Decisions& d, int statement) {
  return std::none_of(d.deferred.begin(), d.deferred.end(), [&](int waiting) {
    const StatementBody& body = d.plan.statements[static_cast<std::size_t>(waiting)].body;
    return waiting > statement && !std::holds_alternative<RequireStatement>(body) &&
           !std::holds_alternative<ForbidStatement>(body);
  });
}

namespace {

// Any of the statements that wait is a T of which this holds.
template <class T, class F>
bool any_waiting(const Decisions& d, F&& holds) {
  return std::any_of(d.deferred.begin(), d.deferred.end(), [&](int waiting) {
    const auto* body = std::get_if<T>(&d.plan.statements[static_cast<std::size_t>(waiting)].body);
    return body && holds(waiting, *body);
  });
}

}  // namespace

bool waits_for_sizes(const Decisions& d) {
  return any_waiting<ModelStatement>(d, [](int, const ModelStatement&) { return true; });
}

bool may_be_split_anew(const Decisions& d, int statement, int axis) {
  return any_waiting<TransStatement>(d, [&](int waiting, const TransStatement& s) {
    const auto& groups = s.units.groups;
    const bool of_operators =
        std::any_of(groups.begin(), groups.end(), [](const Group& g) { return g.form != Group::Form::phase; });
    return waiting > statement && of_operators && std::any_of(s.axes.begin(), s.axes.end(), [&](const Choice& c) {
             return std::any_of(c.words.begin(), c.words.end(), [&](const std::string& word) {
               const int named = find_axis(d, word);
               return named < 0 || named == axis;  // a let, or any
             });
           });
  });
}

bool may_be_fixed(const Decisions& d, int axis) {
  const AxisInfo& info = d.axes[static_cast<std::size_t>(axis)];
  if (info.free) return false;
  return any_waiting<AssignStatement>(d, [&](int, const AssignStatement& s) {
    return std::any_of(s.places.begin(), s.places.end(), [&](const Place& p) {
      return p.form != Place::Form::axes ||
             std::any_of(p.axes.begin(), p.axes.end(), [&](const AxisSub& a) { return a.axis == info.name; });
    });
  });
}

int find_axis(const Decisions& d, std::string_view name) {
  for (std::size_t i = 0; i < d.axes.size(); ++i)
    if (d.axes[i].name == name) return static_cast<int>(i);
  return -1;
}

std::optional<std::int64_t> axis_size(const Decisions& d, const PlaceInfo& place, int axis) {
  const AxisInfo& info = d.axes[static_cast<std::size_t>(axis)];
  if (info.free) return info.size;
  for (const auto& f : place.fixed)
    if (f.axis == axis) return 1;
  for (const GridAxis& g : d.grids[static_cast<std::size_t>(place.grid)].axes)
    if (g.axis == axis) return g.size;
  return std::nullopt;
}

namespace {
bool has_axis(const Decisions& d, int op, int axis) {
  const int p = d.operator_place[static_cast<std::size_t>(op)];
  return p < 0 || d.places[static_cast<std::size_t>(p)].open() ||
         axis_size(d, d.places[static_cast<std::size_t>(p)], axis).has_value();
}
}  // namespace

bool open_split(const Decisions& d, int op, int axis) {
  return d.split(op, axis).factor == kOpen && has_axis(d, op, axis);
}

bool has_axis(const Decisions& d, const ModelInfo& model, Phase phase, int row, int axis) {
  if (phase == Phase::forward) return has_axis(d, row, axis);
  const std::vector<int>& readers = model.parameters[static_cast<std::size_t>(row)].readers;
  return std::any_of(readers.begin(), readers.end(), [&](int op) { return has_axis(d, op, axis); });
}

namespace {
std::vector<int> ordered_axes(const Decisions& d, const std::vector<Split>& table, int row, int factor) {
  std::vector<int> axes;
  const auto split = [&](int axis) -> const Split& { return table[d.cell(row, axis)]; };
  for (const bool free : {true, false})
    for (int a = 0; a < static_cast<int>(d.axes.size()); ++a)
      if (d.axes[static_cast<std::size_t>(a)].free == free && split(a).statement >= 0 && split(a).factor == factor)
        axes.push_back(a);
  // Axes of one statement take their places among themselves as they were listed.
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int statement = split(axes[i]).statement;
    for (std::size_t k = i + 1; k < axes.size(); ++k)
      if (split(axes[k]).statement == statement && split(axes[k]).position < split(axes[i]).position)
        std::swap(axes[i], axes[k]);
  }
  return axes;
}
}  // namespace

std::vector<int> split_axes(const Decisions& d, int op, int factor) {
  return ordered_axes(d, d.operator_splits, op, factor);
}

std::vector<int> parameter_split_axes(const Decisions& d, Phase phase, int parameter, int factor) {
  return ordered_axes(d, d.splits(phase), parameter, factor);
}

bool overlap(const std::vector<AxisIndices>& a, const std::vector<AxisIndices>& b) {
  for (const AxisIndices& x : a)
    for (const AxisIndices& y : b)
      if (x.axis == y.axis &&
          std::find_first_of(x.indices.begin(), x.indices.end(), y.indices.begin(), y.indices.end()) == x.indices.end())
        return false;
  return true;
}

namespace {
std::vector<int> indexed_places(const Decisions& d, const IndexedPlaces& x, const std::vector<AxisIndices>& at) {
  if (at.empty()) return x.places;
  std::vector<int> out;
  for (std::size_t i = 0; i < x.places.size(); ++i) {
    std::vector<AxisIndices> here;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t k = x.axes.size(); k-- > 0;) {
      const std::int64_t size = d.axes[static_cast<std::size_t>(x.axes[k])].size;
      here.push_back({x.axes[k], {rest % size}});
      rest /= size;
    }
    if (overlap(here, at)) out.push_back(x.places[i]);
  }
  return out;
}
}  // namespace

std::vector<int> places_of(const Decisions& d, int op, const std::vector<AxisIndices>& at) {
  const int indexed = d.operator_indexed[static_cast<std::size_t>(op)];
  std::vector<int> out = indexed >= 0 ? indexed_places(d, d.indexed_places[static_cast<std::size_t>(indexed)], at)
                                      : std::vector<int>{d.operator_place[static_cast<std::size_t>(op)]};
  std::erase(out, -1);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<int> devices_of(const Decisions& d, const PlaceInfo& place) {
  const GridInfo& grid = d.grids[static_cast<std::size_t>(place.grid)];
  if (place.fixed.empty()) return grid.devices;
  std::vector<int> out;
  for (std::size_t i = 0; i < grid.devices.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    bool inside = true;
    for (std::size_t a = grid.axes.size(); a-- > 0 && inside;) {
      const std::int64_t size = std::max<std::int64_t>(grid.axes[a].size, 1), at = rest % size;
      rest /= size;
      for (const auto& f : place.fixed)
        if (f.axis == grid.axes[a].axis) inside = f.value == at;
    }
    if (inside) out.push_back(grid.devices[i]);
  }
  return out;
}

bool within(const Decisions& d, const PlaceInfo& place, const PlaceInfo& other) {
  if (place.open() || other.open()) return false;
  std::vector<int> here = devices_of(d, place), there = devices_of(d, other);
  std::sort(here.begin(), here.end());
  std::sort(there.begin(), there.end());
  return !here.empty() && std::includes(there.begin(), there.end(), here.begin(), here.end());
}

}  // namespace planscope::plan
