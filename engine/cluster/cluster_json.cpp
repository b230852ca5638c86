#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/text.h"
#include "engine/cluster/cluster.h"

namespace planscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema_name = "planscope-cluster";
constexpr int schema_version = 1;
constexpr int max_levels = 16;
constexpr double max_devices = 1 << 24;

// A limit as a reader writes it: "1", "1e+18".
std::string plain(double x) {
  std::ostringstream out;
  out << std::setprecision(10) << x;
  return out.str();
}

// One JSON object with the place where it stands; collects every error instead of stopping at the first.
class Fields {
 public:
  Fields(const Json& object, std::string place, std::string file, std::vector<Diagnostic>& errors)
      : object_(object), place_(std::move(place)), file_(std::move(file)), errors_(errors) {
    if (!object_.is_object()) fail("is not an object");
  }

  void only(const std::vector<std::string>& known) const {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string near = nearest(key, known);
      fail("has an unknown field '" + key + "'",
           near.empty() ? "known fields: " + join(known, ", ") : "did you mean '" + near + "'?");
    }
  }

  std::string text(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    fail("field '" + key + "' is not text");
    return {};
  }

  double number(const std::string& key, double least, double most) const {
    const Json* value = find(key);
    if (value == nullptr) return least;
    if (!value->is_number()) {
      fail("field '" + key + "' is not a number");
      return least;
    }
    const double x = value->get<double>();
    if (x >= least && x <= most) return x;
    fail("field '" + key + "' is " + value->dump() + ", outside " + plain(least) + " to " + plain(most));
    return least;
  }

  std::int64_t whole(const std::string& key, double least, double most) const {
    const double x = number(key, least, most);
    if (std::floor(x) == x) return static_cast<std::int64_t>(x);
    fail("field '" + key + "' is not a whole number");
    return static_cast<std::int64_t>(least);
  }

  bool flag(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail("field '" + key + "' is neither true nor false");
    return value->is_boolean() && value->get<bool>();
  }

  const Json* find(const std::string& key) const {
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    fail("field '" + key + "' is missing");
    return nullptr;
  }

  bool has(const std::string& key) const { return object_.is_object() && object_.contains(key); }
  Fields inside(const std::string& key, const Json& value) const {
    return {value, place_.empty() ? key : place_ + "." + key, file_, errors_};
  }
  void fail(const std::string& what, const std::string& hint = {}) const {
    Diagnostic d = error((place_.empty() ? "the cluster " : "'" + place_ + "' ") + what, {}, hint);
    d.file = file_;
    errors_.push_back(std::move(d));
  }

 private:
  const Json& object_;
  std::string place_;
  std::string file_;
  std::vector<Diagnostic>& errors_;
};

constexpr double most_bytes = 1e18;
constexpr double most_rate = 1e21;
constexpr double most_us = 1e9;

DeviceType read_device(const Fields& f) {
  f.only({"name", "memory_bytes", "flops", "memory_bandwidth_bytes_per_s", "launch_us"});
  DeviceType device;
  device.name = f.text("name");
  device.memory = {f.whole("memory_bytes", 1, most_bytes)};
  device.memory_bandwidth = f.number("memory_bandwidth_bytes_per_s", 1, most_rate);
  device.launch = {f.number("launch_us", 0, most_us)};
  const Json* rates = f.find("flops");
  if (rates == nullptr) return device;
  const Fields rate = f.inside("flops", *rates);
  rate.find("float32");
  if (rates->is_object()) {
    std::map<std::string, double> sorted;
    for (const auto& [dtype, value] : rates->items()) sorted[dtype] = rate.number(dtype, 1, most_rate);
    device.flops.assign(sorted.begin(), sorted.end());
  }
  return device;
}

Level read_level(const Fields& f) {
  f.only({"name", "arity", "latency_us", "bandwidth_bytes_per_s", "sharing"});
  Level level;
  level.name = f.text("name");
  level.arity = static_cast<int>(f.whole("arity", 1, max_devices));
  level.latency = {f.number("latency_us", 0, most_us)};
  level.bandwidth = f.number("bandwidth_bytes_per_s", 1, most_rate);
  level.sharing = f.has("sharing") ? static_cast<int>(f.whole("sharing", 1, max_devices)) : 1;
  return level;
}

void read_levels(const Fields& f, Cluster& cluster) {
  const Json* levels = f.find("levels");
  if (levels == nullptr) return;
  if (!levels->is_array() || levels->empty() || levels->size() > max_levels) {
    f.fail("field 'levels' is not a list of 1 to " + std::to_string(max_levels) + " levels");
    return;
  }
  double devices = 1;
  for (std::size_t i = 0; i < levels->size(); ++i) {
    cluster.levels.push_back(read_level(f.inside("levels[" + std::to_string(i) + "]", (*levels)[i])));
    devices *= cluster.levels.back().arity;
  }
  if (devices > max_devices) {
    f.fail("has more than " + std::to_string(static_cast<int>(max_devices)) + " devices");
  }
}

int line_of(std::string_view text, std::size_t byte) {
  byte = std::min(byte, text.size());
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n'));
}

}  // namespace

Result<Cluster> parse_cluster(std::string_view text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    Diagnostic d = error("this is not JSON", "a syntax error near byte " + std::to_string(e.byte));
    d.file = file;
    d.line = line_of(text, e.byte == 0 ? 0 : e.byte - 1);
    return d;
  }
  std::vector<Diagnostic> errors;
  const Fields f(json, "", file, errors);
  f.only({"schema", "version", "name", "device", "host", "background_communication", "levels"});
  if (const std::string schema = f.text("schema"); json.is_object() && f.has("schema") && schema != schema_name) {
    f.fail("has the schema '" + schema + "'", std::string("a cluster file says \"schema\": \"") + schema_name + "\"");
  }
  const std::int64_t version = f.whole("version", 1, 1e6);
  if (version > schema_version) {
    f.fail("is written in version " + std::to_string(version) + " of the schema",
           "this program reads up to version " + std::to_string(schema_version));
  }
  Cluster cluster;
  cluster.name = f.text("name");
  if (const Json* device = f.find("device")) cluster.device = read_device(f.inside("device", *device));
  if (f.has("host")) {
    const Fields host = f.inside("host", json["host"]);
    host.only({"memory_bytes", "latency_us", "bandwidth_bytes_per_s"});
    cluster.host.memory = {host.whole("memory_bytes", 1, most_bytes)};
    cluster.host.latency = {host.number("latency_us", 0, most_us)};
    cluster.host.bandwidth = host.number("bandwidth_bytes_per_s", 1, most_rate);
  }
  if (f.has("background_communication")) cluster.background = f.flag("background_communication");
  read_levels(f, cluster);
  if (!errors.empty()) return errors;
  return cluster;
}

std::string print_cluster(const Cluster& c) {
  Json json;
  json["schema"] = schema_name;
  json["version"] = schema_version;
  json["name"] = c.name;
  Json& device = json["device"];
  device["name"] = c.device.name;
  device["memory_bytes"] = c.device.memory.count;
  device["flops"] = Json::object();
  for (const auto& [dtype, rate] : c.device.flops) device["flops"][dtype] = rate;
  device["memory_bandwidth_bytes_per_s"] = c.device.memory_bandwidth;
  device["launch_us"] = c.device.launch.count;
  if (c.host.memory.count > 0) {
    json["host"] = {{"memory_bytes", c.host.memory.count},
                    {"latency_us", c.host.latency.count},
                    {"bandwidth_bytes_per_s", c.host.bandwidth}};
  }
  if (!c.background) json["background_communication"] = false;
  json["levels"] = Json::array();
  for (const Level& level : c.levels) {
    json["levels"].push_back({{"name", level.name},
                              {"arity", level.arity},
                              {"latency_us", level.latency.count},
                              {"bandwidth_bytes_per_s", level.bandwidth},
                              {"sharing", level.sharing}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace planscope
