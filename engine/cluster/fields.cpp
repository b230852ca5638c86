#include "engine/cluster/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "engine/base/text.h"

namespace planscope {

namespace {

enum class Kind { bytes, rate, flops, time, count, yes_no };

struct Bounds {
  double low, high;
};

Bounds bounds_of(Kind k) {
  switch (k) {
    case Kind::bytes:
      return {1, 0x1p50};
    case Kind::rate:
      return {1, 1e18};
    case Kind::flops:
      return {1, 1e21};
    case Kind::time:
      return {0, 1e9};
    case Kind::count:
      return {1, 1 << 20};
    case Kind::yes_no:
      return {0, 1};
  }
  return {0, 0};
}

std::string shortest(double v) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

std::string scaled(double v, double base, const std::vector<const char*>& units) {
  std::size_t k = 0;
  while (k + 1 < units.size() && std::abs(v) >= base) v /= base, ++k;
  return shortest(std::round(v * 1e6) / 1e6) + " " + units[k];
}

std::string text_of(Kind k, double v) {
  switch (k) {
    case Kind::bytes:
      return scaled(v, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
    case Kind::rate:
      return scaled(v, 1000, {"B/s", "KB/s", "MB/s", "GB/s", "TB/s", "PB/s"});
    case Kind::flops:
      return scaled(v, 1000, {"FLOP/s", "KFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"});
    case Kind::time:
      return shortest(v) + " us";
    case Kind::count:
      return shortest(v);
    case Kind::yes_no:
      return v != 0 ? "yes" : "no";
  }
  return "";
}

// By what a number is to be multiplied that has this unit behind it; nothing: it has no such unit.
std::optional<double> factor(Kind k, std::string_view unit) {
  if (unit.empty()) return 1;
  if (k == Kind::time) {
    for (const auto& [name, f] : std::initializer_list<std::pair<std::string_view, double>>{
             {"ns", 1e-3}, {"us", 1}, {"µs", 1}, {"ms", 1e3}, {"s", 1e6}})
      if (unit == name) return f;
    return std::nullopt;
  }
  if (k == Kind::count || k == Kind::yes_no) return std::nullopt;
  const std::vector<std::string_view> ends = k == Kind::bytes ? std::vector<std::string_view>{"B", ""}
                                             : k == Kind::rate
                                                 ? std::vector<std::string_view>{"B/s", ""}
                                                 : std::vector<std::string_view>{"FLOP/s", "FLOPS", "FLOPs", ""};
  const std::string_view letters = "KMGTPE";
  for (const std::string_view end : ends) {
    if (!unit.ends_with(end)) continue;
    std::string_view prefix = unit.substr(0, unit.size() - end.size());
    if (prefix.empty()) return end.empty() ? std::nullopt : std::optional(1.0);
    const bool binary = prefix.size() == 2 && prefix[1] == 'i' && k != Kind::flops;
    const std::size_t at = letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(prefix[0]))));
    if (at == std::string_view::npos || (prefix.size() != 1 && !binary)) continue;
    return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(at + 1));
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

std::optional<double> read(Kind k, std::string_view text) {
  text = trimmed(text);
  if (k == Kind::yes_no) {
    if (text == "yes" || text == "true" || text == "1") return 1;
    if (text == "no" || text == "false" || text == "0") return 0;
    return std::nullopt;
  }
  double v = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (problem != std::errc{} || !std::isfinite(v)) return std::nullopt;
  const std::optional<double> f = factor(k, trimmed(text.substr(static_cast<std::size_t>(end - text.data()))));
  if (!f || (k == Kind::count && v != std::floor(v))) return std::nullopt;
  const double out = v * *f;
  return k == Kind::bytes ? std::round(out) : out;
}

struct Slot {
  std::string id, title;
  Kind kind;
  std::optional<double> value;  // nothing: of a level that is not there
  std::function<void(Cluster&, double)> set;
  double low = -1;  // instead of the kind's
};

std::vector<Slot> slots_of(const Cluster& c) {
  std::vector<Slot> out;
  const auto add = [&](std::string id, std::string title, Kind kind, std::optional<double> value,
                       std::function<void(Cluster&, double)> set, double low = -1) {
    out.push_back({std::move(id), std::move(title), kind, value, std::move(set), low});
  };
  const auto bytes = [](double v) { return Bytes{static_cast<std::int64_t>(v)}; };
  std::vector<std::string> seen;  // devices of one name have equal figures, wherever they stand
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const DeviceType& d = c.kinds[k].type;
    if (std::find(seen.begin(), seen.end(), d.name) != seen.end()) continue;
    seen.push_back(d.name);
    const std::string id = c.kinds.size() == 1 ? "device." : "devices." + std::to_string(k) + ".";
    const auto device = [name = d.name](std::function<void(DeviceType&, double)> set) {
      return [name, set = std::move(set)](Cluster& to, double v) {
        for (DeviceKind& kind : to.kinds)
          if (kind.type.name == name) set(kind.type, v);
      };
    };
    add(id + "memory_bytes", d.name + ": memory", Kind::bytes, static_cast<double>(d.memory.count),
        device([bytes](DeviceType& t, double v) { t.memory = bytes(v); }));
    add(id + "memory_bandwidth_bytes_per_s", d.name + ": bandwidth of its memory", Kind::rate, d.memory_bandwidth,
        device([](DeviceType& t, double v) { t.memory_bandwidth = v; }));
    for (const auto& [dtype, rate] : d.flops)
      add(id + "flops." + dtype, d.name + ": " + dtype, Kind::flops, rate,
          device([dtype = dtype](DeviceType& t, double v) {
            for (auto& [name, flops] : t.flops)
              if (name == dtype) flops = v;
          }));
    add(id + "launch_us", d.name + ": launch of a kernel", Kind::time, d.launch.count,
        device([](DeviceType& t, double v) { t.launch = {v}; }));
  }
  for (std::size_t n = 0; n < c.levels.size(); ++n) {
    const Level& l = c.levels[n];
    const std::string id = "levels." + std::to_string(n) + ".";
    const bool last = n > 0 && n + 1 == c.levels.size();
    add(
        id + "arity", l.name + ": units in one", Kind::count, l.arity,
        [n, last](Cluster& to, double v) {
          if (last && v == 0)
            to.levels.pop_back();
          else
            to.levels[n].arity = static_cast<int>(v);
        },
        last ? 0 : -1);
    add(id + "latency_us", l.name + ": latency", Kind::time, l.latency.count,
        [n](Cluster& to, double v) { to.levels[n].latency = {v}; });
    add(id + "bandwidth_bytes_per_s", l.name + ": bandwidth of a link", Kind::rate, l.bandwidth,
        [n](Cluster& to, double v) { to.levels[n].bandwidth = v; });
    add(id + "sharing", l.name + ": devices that share a link", Kind::count, l.sharing,
        [n](Cluster& to, double v) { to.levels[n].sharing = static_cast<int>(v); });
  }
  const std::size_t next = c.levels.size();
  if (next > 0 && next < 16)
    add("levels." + std::to_string(next) + ".arity", "another level: units in one", Kind::count, std::nullopt,
        [next](Cluster& to, double v) {
          Level l = to.levels.back();
          l.name = "level " + std::to_string(next);
          l.arity = static_cast<int>(v);
          to.levels.push_back(std::move(l));
        });
  add(
      "host.memory_bytes", "host memory for each device", Kind::bytes, static_cast<double>(c.host.memory.count),
      [bytes](Cluster& to, double v) { to.host.memory = bytes(v); }, 0);
  add("host.latency_us", "host memory: latency", Kind::time, c.host.latency.count,
      [](Cluster& to, double v) { to.host.latency = {v}; });
  add("host.bandwidth_bytes_per_s", "host memory: bandwidth", Kind::rate, c.host.bandwidth,
      [](Cluster& to, double v) { to.host.bandwidth = v; });
  add("background_communication", "communication goes on while a device computes", Kind::yes_no, c.background ? 1 : 0,
      [](Cluster& to, double v) { to.background = v != 0; });
  return out;
}

std::string bounds_text(const Slot& s) {
  const Bounds b = bounds_of(s.kind);
  if (s.kind == Kind::yes_no) return "yes or no";
  return "from " + text_of(s.kind, s.low >= 0 ? s.low : b.low) + " to " + text_of(s.kind, b.high);
}

}  // namespace

std::vector<ClusterField> cluster_fields(const Cluster& c) {
  std::vector<ClusterField> out;
  for (const Slot& s : slots_of(c)) {
    ClusterField f{s.id, s.title, s.value ? text_of(s.kind, *s.value) : "", "", bounds_text(s)};
    if (s.value) f.value = s.kind == Kind::yes_no ? f.text : shortest(*s.value);
    if (s.kind == Kind::yes_no) f.choices = {"yes", "no"};
    out.push_back(std::move(f));
  }
  return out;
}

Result<Cluster> with_field(const Cluster& c, const std::string& id, std::string_view value) {
  const std::vector<Slot> slots = slots_of(c);
  const auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.id == id; });
  if (slot == slots.end()) {
    std::vector<std::string> ids;
    for (const Slot& s : slots) ids.push_back(s.id);
    const std::string near = nearest(id, ids);
    return error("a cluster has no field '" + printable(id) + "'", "there are " + join(ids, ", "),
                 near.empty() ? "" : "did you mean '" + near + "'?");
  }
  const std::optional<double> v = read(slot->kind, value);
  if (!v) return error(id + ": '" + printable(std::string(value)) + "' is no value for it", "", bounds_text(*slot));
  const Bounds b = bounds_of(slot->kind);
  if (*v < (slot->low >= 0 ? slot->low : b.low) || *v > b.high)
    return error(id + ": " + text_of(slot->kind, *v) + " is out of its bounds", "", bounds_text(*slot));
  Cluster out = c;
  slot->set(out, *v);
  const Result<Cluster> read_back = parse_cluster(print_cluster(out), "");  // whatever else a cluster must be
  if (!read_back.ok()) {
    std::vector<Diagnostic> why = read_back.diagnostics;
    for (Diagnostic& d : why)
      d.subject = id + "=" + std::string(trimmed(value)) + (d.subject.empty() ? "" : ": " + d.subject);
    return why;
  }
  return out;
}

Result<Cluster> with_fields(Cluster c, std::string_view changes) {
  for (const auto& [field, value] : changed_name(":" + std::string(changes)).changes) {
    Result<Cluster> next = with_field(c, field, value);
    if (!next.ok()) return next;
    c = std::move(*next);
  }
  return c;
}

ChangedName changed_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  ChangedName out{std::string(name), {}};
  if (colon == std::string_view::npos) return out;
  ChangedName changed{std::string(name.substr(0, colon)), {}};
  for (const std::string& part : split(std::string(name.substr(colon + 1)), ',')) {
    const std::size_t equal = part.find('=');
    if (equal == std::string::npos || equal == 0) return out;
    changed.changes.emplace_back(part.substr(0, equal), part.substr(equal + 1));
  }
  return changed;
}

std::string print(const ChangedName& n) {
  std::string out = n.base;
  for (std::size_t k = 0; k < n.changes.size(); ++k)
    out += (k ? "," : ":") + n.changes[k].first + "=" + n.changes[k].second;
  return out;
}

}  // namespace planscope
