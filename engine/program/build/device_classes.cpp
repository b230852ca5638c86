// Device classes: devices that are in the same places, and so run the same segments.
#include <algorithm>
#include <map>
#include <set>

#include "engine/program/build/schedule.h"

namespace planscope::build {

namespace {

class Grouping {
 public:
  explicit Grouping(Program& p) : p_(p) {}

  std::vector<std::vector<int>> run() {
    make_classes();
    return std::move(members_);
  }

 private:
  void make_classes() {
    std::set<GridId> grids;
    for (const Segment& s : p_.segments) grids.insert(p_.places[static_cast<std::size_t>(s.place)].grid);
    if (grids.empty()) grids.insert(0);
    if (grids.size() == 1)
      classes_of_grid(*grids.begin());
    else
      classes_of_devices();
  }

  void classes_of_grid(GridId grid) {
    std::set<AxisId> fixed;
    for (const Segment& s : p_.segments)
      for (const auto& [a, v] : p_.places[static_cast<std::size_t>(s.place)].fixed) fixed.insert(a);
    const std::vector<AxisId> axes(fixed.begin(), fixed.end());
    std::vector<std::int64_t> at(axes.size(), 0);
    for (;;) {
      DeviceClass c;
      c.place.grid = grid;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        c.place.fixed.emplace_back(axes[k], at[k]);
        c.name += (k ? "," : "") + p_.axes[static_cast<std::size_t>(axes[k])].name + "=" + std::to_string(at[k]);
      }
      if (c.name.empty()) c.name = p_.grids[static_cast<std::size_t>(grid)].name;
      p_.classes.push_back(std::move(c));
      int k = static_cast<int>(axes.size()) - 1;
      while (k >= 0 && ++at[static_cast<std::size_t>(k)] ==
                           p_.axes[static_cast<std::size_t>(axes[static_cast<std::size_t>(k)])].size)
        at[static_cast<std::size_t>(k--)] = 0;
      if (k < 0) break;
    }
    members_.resize(p_.segments.size());
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      for (std::size_t c = 0; c < p_.classes.size(); ++c)
        if (inside(p_.classes[c].place, p_.places[static_cast<std::size_t>(p_.segments[s].place)]))
          members_[s].push_back(static_cast<int>(c));
  }

  static bool inside(const Place& cls, const Place& place) {
    for (const auto& f : place.fixed)
      if (std::find(cls.fixed.begin(), cls.fixed.end(), f) == cls.fixed.end()) return false;
    return true;
  }

  // Ascending numbers as the plan language writes them: `3`, `0:4`, `0:8:2, 11`.
  static std::string indices(const std::vector<int>& all) {
    std::string out;
    for (std::size_t i = 0; i < all.size();) {
      const int step = i + 1 < all.size() ? all[i + 1] - all[i] : 1;
      std::size_t end = i + 1;
      while (end < all.size() && all[end] - all[end - 1] == step) ++end;
      if (step > 1 && end - i < 3) end = i + 1;  // two of them are no row
      const std::string range = end - i == 1 ? "" : ":" + std::to_string(all[end - 1] + 1) + (step > 1 ? ":" + std::to_string(step) : "");
      out += (out.empty() ? "" : ", ") + std::to_string(all[i]) + range;
      i = end;
    }
    return out;
  }

  void classes_of_devices() {
    std::vector<PlaceId> places;
    for (const Segment& s : p_.segments)
      if (std::find(places.begin(), places.end(), s.place) == places.end()) places.push_back(s.place);
    std::map<int, std::vector<PlaceId>> in;
    for (const PlaceId place : places)
      for (const int d : devices(p_, p_.places[static_cast<std::size_t>(place)])) in[d].push_back(place);
    std::map<std::vector<PlaceId>, int> ids;
    for (const auto& [d, list] : in) {
      const auto [it, fresh] = ids.emplace(list, static_cast<int>(p_.classes.size()));
      if (fresh) {
        DeviceClass c;
        c.place.grid = -1;
        if (list.size() == 1) c.place = p_.places[static_cast<std::size_t>(list[0])];
        p_.classes.push_back(std::move(c));
      }
      p_.classes[static_cast<std::size_t>(it->second)].devices.push_back(d);
    }
    for (DeviceClass& c : p_.classes) c.name = "devices " + indices(c.devices);
    members_.resize(p_.segments.size());
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      for (const auto& [list, c] : ids)
        if (std::find(list.begin(), list.end(), p_.segments[s].place) != list.end()) members_[s].push_back(c);
    for (auto& m : members_) std::sort(m.begin(), m.end());
  }

  Program& p_;
  std::vector<std::vector<int>> members_;
};

}  // namespace

std::vector<std::vector<int>> make_classes(Program& p) { return Grouping(p).run(); }

}  // namespace planscope::build
