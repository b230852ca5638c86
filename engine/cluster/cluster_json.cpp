#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/json_reader.h"
#include "engine/cluster/cluster.h"

namespace planscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema_name = "planscope-cluster";
constexpr int schema_version = 1;
constexpr int max_levels = 16;
constexpr std::int64_t max_devices = 1 << 24;
constexpr std::size_t most_kinds = 1024;

constexpr std::int64_t most_bytes = 1'000'000'000'000'000'000;
constexpr double most_rate = 1e21;
constexpr double most_us = 1e9;

DeviceType read_device(const JsonValue& json) {
  json.only({"name", "memory_bytes", "flops", "memory_bandwidth_bytes_per_s", "launch_us"}, Severity::error);
  DeviceType device;
  device.name = json.field("name").text();
  device.memory = {json.field("memory_bytes").whole(1, most_bytes)};
  device.memory_bandwidth = json.field("memory_bandwidth_bytes_per_s").number(1, most_rate);
  device.launch = {json.field("launch_us").number(0, most_us)};
  const JsonValue rates = json.field("flops");
  rates.field("float32");
  std::map<std::string, double> sorted;
  for (const std::string& dtype : rates.keys()) sorted[dtype] = rates.field(dtype).number(1, most_rate);
  device.flops.assign(sorted.begin(), sorted.end());
  return device;
}

// Neighbours of one kind are one run. Returns how many devices there are.
std::int64_t read_kinds(const JsonValue& list, Cluster& cluster) {
  if (list && (list.size() == 0 || list.size() > most_kinds))
    list.fail("is not a list of 1 to " + std::to_string(most_kinds) + " kinds of devices");
  cluster.kinds.clear();
  std::int64_t first = 0;
  for (const JsonValue item : list) {
    item.only({"count", "device"}, Severity::error);
    const std::int64_t count = item.field("count").whole(1, max_devices);
    const JsonValue device = item.field("device");
    DeviceKind kind{device ? read_device(device) : DeviceType{}, first};
    first += count;
    for (const DeviceKind& other : cluster.kinds)
      if (device && other.type.name == kind.type.name && other.type != kind.type)
        device.find("name").fail("is the name of other devices, too", "devices of one name have equal figures");
    if (cluster.kinds.empty() || cluster.kinds.back().type != kind.type) cluster.kinds.push_back(std::move(kind));
  }
  return first;
}

// Returns how many devices are listed; nothing: they are all equal.
std::optional<std::int64_t> read_devices(const JsonValue& json, Cluster& cluster) {
  const JsonValue list = json.find("devices");
  if (list && json.find("device")) list.fail("stands beside 'device'", "'device' is for equal devices");
  if (list) return read_kinds(list.as_list(), cluster);
  if (const JsonValue device = json.field("device")) cluster.kinds = {{read_device(device), 0}};
  return std::nullopt;
}

Level read_level(const JsonValue& json) {
  json.only({"name", "arity", "latency_us", "bandwidth_bytes_per_s", "sharing"}, Severity::error);
  Level level;
  level.name = json.field("name").text();
  level.arity = static_cast<int>(json.field("arity").whole(1, max_devices));
  level.latency = {json.field("latency_us").number(0, most_us)};
  level.bandwidth = json.field("bandwidth_bytes_per_s").number(1, most_rate);
  if (const JsonValue sharing = json.find("sharing")) level.sharing = static_cast<int>(sharing.whole(1, max_devices));
  return level;
}

void read_levels(const JsonValue& json, Cluster& cluster) {
  const JsonValue levels = json.list("levels");
  if (!levels) return;
  if (levels.size() == 0 || levels.size() > max_levels)
    return levels.fail("is not a list of 1 to " + std::to_string(max_levels) + " levels");
  double devices = 1;
  for (const JsonValue level : levels) {
    cluster.levels.push_back(read_level(level));
    devices *= cluster.levels.back().arity;
  }
  if (devices > static_cast<double>(max_devices))
    json.fail("has more than " + std::to_string(max_devices) + " devices");
}

Json print_device(const DeviceType& d) {
  Json out;
  out["name"] = d.name;
  out["memory_bytes"] = d.memory.count;
  out["flops"] = Json::object();
  for (const auto& [dtype, rate] : d.flops) out["flops"][dtype] = rate;
  out["memory_bandwidth_bytes_per_s"] = d.memory_bandwidth;
  out["launch_us"] = d.launch.count;
  return out;
}

}  // namespace

Result<Cluster> parse_cluster(std::string_view text, const std::string& file) {
  JsonReader reader("the cluster", file);
  const JsonValue json = reader.parse(text);
  json.only({"schema", "version", "name", "device", "devices", "host", "background_communication", "levels"},
            Severity::error);
  const JsonValue schema = json.field("schema");
  if (const std::string name = schema.text(); schema && name != schema_name)
    schema.fail("is '" + name + "'", std::string("a cluster file says \"schema\": \"") + schema_name + "\"");
  const JsonValue version = json.field("version");
  if (const std::int64_t n = version.whole(1, 1'000'000); n > schema_version)
    version.fail("is " + std::to_string(n), "this program reads up to version " + std::to_string(schema_version));
  Cluster cluster;
  cluster.name = json.field("name").text();
  const std::optional<std::int64_t> listed = read_devices(json, cluster);
  if (const JsonValue host = json.find("host")) {
    host.only({"memory_bytes", "latency_us", "bandwidth_bytes_per_s"}, Severity::error);
    cluster.host.memory = {host.field("memory_bytes").whole(1, most_bytes)};
    cluster.host.latency = {host.field("latency_us").number(0, most_us)};
    cluster.host.bandwidth = host.field("bandwidth_bytes_per_s").number(1, most_rate);
  }
  if (const JsonValue background = json.find("background_communication")) cluster.background = background.flag();
  read_levels(json, cluster);
  if (!reader.failed() && listed && *listed != cluster.device_count())
    json.find("devices").fail("counts " + std::to_string(*listed) + " devices, and the levels hold " +
                              std::to_string(cluster.device_count()));
  if (reader.failed()) return reader.diagnostics();
  return cluster;
}

std::string print_cluster(const Cluster& c) {
  Json json;
  json["schema"] = schema_name;
  json["version"] = schema_version;
  json["name"] = c.name;
  if (c.kinds.size() == 1) json["device"] = print_device(c.kinds[0].type);
  for (std::size_t k = 0; c.kinds.size() > 1 && k < c.kinds.size(); ++k) {
    const std::int64_t end = k + 1 < c.kinds.size() ? c.kinds[k + 1].first : c.device_count();
    json["devices"].push_back({{"count", end - c.kinds[k].first}, {"device", print_device(c.kinds[k].type)}});
  }
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
