#include "app/session/lanes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace planscope::session {

namespace {

constexpr std::size_t kMostDevices = 64;      // of one class that is opened
constexpr std::size_t kMostParts = 500'000;  // blocks and changes of memory in all lanes of devices together

std::size_t at(int i) { return static_cast<std::size_t>(i); }
std::string device_name(int device) { return "device " + std::to_string(device); }

// As people count: `pipe=2` before `pipe=10`.
bool comes_before(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view& s) {
    const std::size_t n = std::min(s.find_first_not_of("0123456789"), s.size());
    std::string_view out = s.substr(0, n);
    s.remove_prefix(n);
    out.remove_prefix(std::min(out.find_first_not_of('0'), out.size()));
    return out;
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = number(a), y = number(b);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    } else {
      a.remove_prefix(1), b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

std::size_t parts_of(const viz::Lane& lane) {
  std::size_t n = lane.memory.size();
  for (const viz::Stream& s : lane.streams) n += s.blocks.size();
  return n;
}

// So many devices of every class that is opened fit.
std::size_t devices_that_fit(const viz::TimelineModel& model, const LaneLook& look) {
  std::size_t one_of_each = 0;
  for (const viz::Lane& lane : model.lanes)
    if (look.open.contains(lane.name)) one_of_each += parts_of(lane);
  return std::clamp<std::size_t>(kMostParts / std::max<std::size_t>(1, one_of_each), 1, kMostDevices);
}

// Devices of a class do the same: each is a lane like the one of the class.
void add_devices(const viz::Lane& of_class, const std::vector<int>& devices, std::size_t most, std::vector<viz::Lane>& out) {
  const std::size_t shown = std::min(devices.size(), most);
  for (std::size_t k = 0; k < shown; ++k) {
    viz::Lane lane = of_class;
    lane.name = device_name(devices[k]);
    lane.devices = 1;
    lane.is_device = true;
    lane.folded = lane.open = false;
    out.push_back(std::move(lane));
  }
  if (shown == devices.size()) return;
  viz::Lane rest = of_class;  // an empty lane that says so
  rest.devices = static_cast<int>(devices.size() - shown);
  rest.name = std::to_string(rest.devices) + " more, alike";
  rest.about = "the other devices of " + of_class.name + ", which do the same";
  rest.is_device = true;
  rest.folded = rest.open = false;
  for (viz::Stream& s : rest.streams) s.blocks.clear();
  rest.memory.clear(), rest.alive.clear();
  rest.peak_at = viz::Microseconds{-1};
  out.push_back(std::move(rest));
}

}  // namespace

std::optional<Window> window_of(const std::optional<std::pair<double, double>>& us) {
  if (!us) return std::nullopt;
  return Window{std::llround(us->first * 1000), std::llround(us->second * 1000)};
}

Window selected_window(const std::optional<TimeSelection>& t, const Simulation& s) {
  Window whole{0, s.step_ns};
  for (const ClassTimeline& c : s.classes) whole.to = std::max(whole.to, c.makespan);  // of steps that overlap one is drawn to its end
  const std::optional<Window> w = t ? window_of(t->us) : std::nullopt;
  if (!w) return whole;
  return {std::clamp(w->from, whole.from, whole.to), std::clamp(w->to, whole.from, whole.to)};
}

std::vector<int> selected_classes(const std::optional<TimeSelection>& t, const Evaluation& e) {
  std::vector<int> out;
  if (t)
    for (const std::string& name : t->lanes)
      if (const int c = class_of_lane(e, name); c >= 0) out.push_back(c);
  if (out.empty()) {
    out.resize(e.simulation.classes.size());
    std::iota(out.begin(), out.end(), 0);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int class_of_lane(const Evaluation& e, std::string_view name) {
  const Program& p = e.made.program;
  for (int c = 0; c < static_cast<int>(p.classes.size()); ++c)
    if (p.classes[at(c)].name == name) return c;
  for (int c = 0; c < static_cast<int>(p.classes.size()); ++c)
    for (const int d : devices(p, p.classes[at(c)]))
      if (device_name(d) == name) return c;
  return -1;
}

std::vector<int> lane_order(const Evaluation& e, const LaneLook& look) {
  const std::vector<ClassTimeline>& classes = e.simulation.classes;
  std::vector<int> out(classes.size());
  std::iota(out.begin(), out.end(), 0);
  const auto by = [&](auto&& most) {
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return most(classes[at(a)]) > most(classes[at(b)]); });
  };
  if (look.order == "name")
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return comes_before(e.made.program.classes[at(a)].name, e.made.program.classes[at(b)].name); });
  if (look.order == "work") by([](const ClassTimeline& t) { return t.compute; });
  if (look.order == "idle") by([](const ClassTimeline& t) { return t.idle.sum(); });
  if (look.order == "peak") by([](const ClassTimeline& t) { return t.peak.bytes(); });
  std::stable_partition(out.begin(), out.end(), [&](int c) { return look.pinned.contains(e.made.program.classes[at(c)].name); });
  return out;
}

viz::TimelineModel arranged(const viz::TimelineModel& model, const Evaluation& e, const LaneLook& look) {
  viz::TimelineModel out = model;
  out.lanes.clear();
  const std::size_t fit = devices_that_fit(model, look);
  std::vector<std::int32_t> now(model.lanes.size(), 0);  // lane of each class
  for (const int c : lane_order(e, look)) {
    viz::Lane lane = model.lanes[at(c)];
    lane.pinned = look.pinned.contains(lane.name);
    lane.folded = look.folded.contains(lane.name);
    lane.open = look.open.contains(lane.name);
    now[at(c)] = static_cast<std::int32_t>(out.lanes.size());
    out.lanes.push_back(std::move(lane));
    const viz::Lane of_class = out.lanes.back();
    if (of_class.open) add_devices(of_class, devices(e.made.program, e.made.program.classes[at(c)]), fit, out.lanes);
  }
  for (viz::Link& l : out.links) l.from.lane = now[at(l.from.lane)], l.to.lane = now[at(l.to.lane)];
  for (viz::PathPart& p : out.critical) p.lane = now[at(p.lane)];
  return out;
}

}  // namespace planscope::session
