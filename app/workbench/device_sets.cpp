#include "app/workbench/device_sets.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"

namespace planscope {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

// The components of an axis between the places where one of the digits begins or ends.
std::vector<Component> components(const Axis& axis, AxisId id, const std::vector<Digit>& digits) {
  std::set<std::int64_t> borders = {1, axis.size};
  for (const Digit& d : digits) borders.insert({d.stride, std::min(axis.size, d.stride * d.size)});
  std::vector<Component> out;
  for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
    if (*std::next(border) % *border != 0) return {{id, axis.size, 1}};
    out.push_back({id, *std::next(border) / *border, *border});
  }
  return out;
}

bool belongs(const Component& c, const Digit& d) {
  return c.axis == d.axis && c.stride >= d.stride && c.stride < d.stride * d.size;
}

std::string ordered_axis_text(std::int64_t first, std::int64_t run) {
  return run == 1 ? std::to_string(first) : std::to_string(first) + "–" + std::to_string(first + run - 1);
}

}  // namespace

Coordinates::Coordinates(const Program& p, const Place& place, const std::vector<Digit>& digits)
    : program_(p), place_(place) {
  for (const AxisId a : free_axes(p, place)) {
    std::vector<Digit> here;
    for (const Digit& d : digits) {
      if (d.axis == a) here.push_back(d);
      if (d.by == a) here.push_back({a, at(p.axes, a).size});
    }
    std::vector<Component> all = components(at(p.axes, a), a, here);
    std::reverse(all.begin(), all.end());  // major to minor
    for (const Component& c : all) {
      if (c.size == 1) continue;
      const bool told = std::any_of(here.begin(), here.end(), [&](const Digit& d) { return belongs(c, d); });
      (told || (!here.empty() && c.size == at(p.axes, a).size) ? told_ : free_).push_back(c);
    }
  }
}

int Coordinates::find(const Digit& d) const {
  const auto found = std::find_if(told_.begin(), told_.end(), [&](const Component& c) { return belongs(c, d); });
  return found == told_.end() ? -1 : static_cast<int>(found - told_.begin());
}

std::int64_t Coordinates::stride_of(AxisId axis) const {
  const Grid& g = at(program_.grids, place_.grid);
  const auto k = static_cast<std::size_t>(std::find(g.axes.begin(), g.axes.end(), axis) - g.axes.begin());
  if (g.devices.empty()) return g.strides[k];
  std::int64_t stride = 1;  // of positions in the list, the last axis fastest
  for (std::size_t j = k + 1; j < g.axes.size(); ++j) stride *= at(program_.axes, g.axes[j]).size;
  return stride;
}

DeviceGroup Coordinates::devices(const std::vector<Range>& ranges) const {
  const Grid& g = at(program_.grids, place_.grid);
  DeviceGroup out;
  out.first = g.devices.empty() ? g.first : 0;
  for (const auto& [axis, value] : place_.fixed) out.first += value * stride_of(axis);
  for (std::size_t k = 0; k < told_.size(); ++k) {
    const std::int64_t stride = told_[k].stride * stride_of(told_[k].axis);
    out.first += ranges[k].first * stride;
    if (ranges[k].count > 1) out.axes.push_back({ranges[k].count, stride});
  }
  for (const Component& c : free_) out.axes.push_back({c.size, c.stride * stride_of(c.axis)});
  if (g.devices.empty()) return out;
  DeviceGroup listed;
  for (const std::int64_t position : members(out, out.size()))
    listed.listed.push_back(at(g.devices, static_cast<int>(position)));
  std::sort(listed.listed.begin(), listed.listed.end());
  listed.first = listed.listed.front();
  return listed;
}

std::vector<DeviceGroup> Coordinates::groups() const {
  Coordinates others = *this;
  std::swap(others.told_, others.free_);
  std::vector<DeviceGroup> out;
  std::vector<Range> at_others(others.told_.size());
  for (bool more = true; more;) {
    out.push_back(others.devices(at_others));
    more = false;
    for (std::size_t k = at_others.size(); k-- > 0 && !more;) {
      more = ++at_others[k].first < others.told_[k].size;
      if (!more) at_others[k].first = 0;
    }
  }
  return out;
}

Point Coordinates::point(const std::vector<std::int64_t>& coordinates) const {
  Point out(program_.axes.size(), -1);
  for (const AxisId a : at(program_.grids, place_.grid).axes) out[static_cast<std::size_t>(a)] = 0;
  for (const auto& [axis, value] : place_.fixed) out[static_cast<std::size_t>(axis)] = value;
  for (std::size_t k = 0; k < told_.size(); ++k)
    out[static_cast<std::size_t>(told_[k].axis)] += coordinates[k] * told_[k].stride;
  return out;
}

std::int64_t Coordinates::copies() const {
  std::int64_t out = 1;
  for (const Component& c : free_) out *= c.size;
  return out;
}

std::string Coordinates::text(const std::vector<std::int64_t>& coordinates) const {
  const Point here = point(coordinates);
  std::vector<std::string> out;
  for (const AxisId a : at(program_.grids, place_.grid).axes) {
    const bool fixed = std::any_of(place_.fixed.begin(), place_.fixed.end(),
        [&](const auto& f) { return f.first == a; });
    const bool partly = std::any_of(free_.begin(), free_.end(), [&](const Component& c) { return c.axis == a; });
    if (!fixed && partly) continue;
    if (at(program_.axes, a).size > 1)
      out.push_back(at(program_.axes, a).name + "=" + std::to_string(here[static_cast<std::size_t>(a)]));
  }
  return join(out, ", ");
}

std::vector<std::int64_t> members(const DeviceGroup& g, std::int64_t most) {
  if (!g.listed.empty())
    return {g.listed.begin(), g.listed.begin() + static_cast<std::ptrdiff_t>(std::min<std::int64_t>(most, g.size()))};
  std::vector<GroupAxis> axes = g.axes;
  std::sort(axes.begin(), axes.end(), [](const GroupAxis& a, const GroupAxis& b) { return a.stride < b.stride; });
  std::vector<std::int64_t> out = {g.first};
  for (const GroupAxis& a : axes) {
    const std::size_t before = out.size();
    for (std::int64_t c = 1; c < a.size && std::ssize(out) < most; ++c)
      for (std::size_t k = 0; k < before && std::ssize(out) < most; ++k) out.push_back(out[k] + c * a.stride);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool contains(const DeviceGroup& g, std::int64_t device) {
  if (!g.listed.empty()) return std::binary_search(g.listed.begin(), g.listed.end(), device);
  std::vector<GroupAxis> axes = g.axes;
  std::sort(axes.begin(), axes.end(), [](const GroupAxis& a, const GroupAxis& b) { return a.stride > b.stride; });
  std::int64_t rest = device - g.first;
  if (rest < 0) return false;
  for (const GroupAxis& a : axes) rest -= std::min(a.size - 1, rest / a.stride) * a.stride;
  return rest == 0;
}

std::string devices_text(const std::vector<DeviceGroup>& groups) {
  constexpr std::int64_t listed = 16;
  constexpr std::size_t ranges_shown = 6;
  std::int64_t count = 0;
  for (const DeviceGroup& g : groups) count += g.size();
  const auto runs = [](std::vector<std::int64_t> all) {
    std::sort(all.begin(), all.end());
    std::vector<std::string> out;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && all[end] == all[end - 1] + 1) ++end;
      out.push_back(ordered_axis_text(all[i], static_cast<std::int64_t>(end - i)));
      i = end;
    }
    return out;
  };
  const auto lists = [](const DeviceGroup& g) { return !g.listed.empty(); };
  if (count <= listed || std::any_of(groups.begin(), groups.end(), lists)) {
    std::vector<std::int64_t> all;
    for (const DeviceGroup& g : groups)
      for (const std::int64_t d : members(g, g.size())) all.push_back(d);
    std::vector<std::string> out = runs(std::move(all));
    if (out.size() <= ranges_shown || count <= listed / 2) return join(out, ", ");
    return out[0] + ", " + out[1] + ", …, " + out.back();
  }
  std::vector<std::string> out;
  for (const DeviceGroup& g : groups) {
    std::vector<GroupAxis> axes = g.axes;
    std::sort(axes.begin(), axes.end(), [](const GroupAxis& a, const GroupAxis& b) { return a.stride < b.stride; });
    std::int64_t run = 1, last = g.first;
    std::vector<GroupAxis> apart;
    for (const GroupAxis& a : axes) {
      last += (a.size - 1) * a.stride;
      if (apart.empty() && a.stride == run)
        run *= a.size;
      else if (a.size > 1)
        apart.push_back(a);
    }
    std::string text = ordered_axis_text(g.first, run);
    if (!apart.empty()) {
      text += ", " + ordered_axis_text(g.first + apart[0].stride, run);
      if (g.size() > 2 * run) text += ", …, " + ordered_axis_text(last - run + 1, run);
    }
    out.push_back(std::move(text));
  }
  if (out.size() > ranges_shown) out = {out[0], out[1], "…", out.back()};
  return join(out, "; ");
}

}  // namespace planscope
