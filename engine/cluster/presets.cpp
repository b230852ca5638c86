#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "engine/base/file_text.h"
#include "engine/base/text.h"
#include "engine/cluster/cluster.h"

namespace planscope {
namespace {

constexpr std::int64_t GiB = std::int64_t{1} << 30;
constexpr double giga = 1e9;
constexpr double tera = 1e12;
constexpr int max_units = 1 << 20;

// Peak dense rates of the data sheets; what a kernel reaches of them is the cost model's business. Link bandwidths are
// what large messages reach in one direction: NVLink from public nccl-tests bus bandwidths, network 85-90 % of the
// line.
struct Node {
  const char* name;
  const char* about;
  DeviceType device;
  HostMemory host;
  Level inside;
  Level network;
};

std::vector<Node> node_presets() {
  return {
      {"dgx1-v100",
       "8 V100-SXM2-32GB on NVLink, 1 x 100 Gb/s InfiniBand per node",
       {"V100-SXM2-32GB",
        {32 * GiB},
        {{"float16", 125 * tera}, {"float32", 15.7 * tera}, {"float64", 7.8 * tera}},
        900 * giga,
        {5.0}},
       {{60 * GiB}, {10.0}, 6 * giga},
       {"nvlink", 8, {5.0}, 110 * giga, 1},
       {"infiniband", 1, {14.0}, 11 * giga, 8}},
      {"dgx2-v100",
       "16 V100-SXM3-32GB on NVSwitch, 8 x 100 Gb/s InfiniBand per node",
       {"V100-SXM3-32GB",
        {32 * GiB},
        {{"float16", 125 * tera}, {"float32", 15.7 * tera}, {"float64", 7.8 * tera}},
        900 * giga,
        {5.0}},
       {{90 * GiB}, {10.0}, 6 * giga},
       {"nvswitch", 16, {4.0}, 120 * giga, 1},
       {"infiniband", 1, {14.0}, 11 * giga, 2}},
      {"dgx-a100",
       "8 A100-SXM4-80GB on NVSwitch, 8 x 200 Gb/s InfiniBand per node",
       {"A100-SXM4-80GB",
        {80 * GiB},
        {{"bfloat16", 312 * tera}, {"float16", 312 * tera}, {"float32", 19.5 * tera}, {"float64", 9.7 * tera}},
        2039 * giga,
        {4.5}},
       {{240 * GiB}, {10.0}, 24 * giga},
       {"nvswitch", 8, {3.5}, 235 * giga, 1},
       {"infiniband", 1, {12.0}, 22 * giga, 1}},
      {"dgx-h100",
       "8 H100-SXM5-80GB on NVSwitch, 8 x 400 Gb/s InfiniBand per node",
       {"H100-SXM5-80GB",
        {80 * GiB},
        {{"bfloat16", 989 * tera},
         {"float16", 989 * tera},
         {"float32", 67 * tera},
         {"float64", 34 * tera},
         {"float8_e4m3fn", 1979 * tera}},
        3350 * giga,
        {4.0}},
       {{240 * GiB}, {10.0}, 50 * giga},
       {"nvswitch", 8, {3.0}, 360 * giga, 1},
       {"infiniband", 1, {12.0}, 45 * giga, 1}},
  };
}

Cluster local_cluster(int processes, int cores) {
  // One core with vector units, and shared memory between processes, as planscope-bench-transport measured it for blocks
  // of up to 1 MiB on two cores. Profiles of this host replace the figures; more processes than cores share them, and wait
  // for a core before they answer.
  const double share = cores > 0 ? std::min(1.0, static_cast<double>(cores) / processes) : 1.0;
  Cluster c;
  c.name = "localx" + std::to_string(processes);
  c.kinds[0].type = {"process",
                     {4 * GiB},
                     {{"float32", 40 * giga * share}, {"float64", 20 * giga * share}},
                     8 * giga * share,
                     {15.0 / share}};
  c.levels = {{"shared memory", processes, {share < 1 ? 30.0 : 2.0}, 4 * giga * share, 1}};
  c.background = false;
  return c;
}

Cluster nodes_cluster(const Node& node, int nodes) {
  Cluster c;
  c.name = std::string(node.name) + "x" + std::to_string(nodes);
  c.kinds[0].type = node.device;
  c.host = node.host;
  c.levels = {node.inside, node.network};
  c.levels[1].arity = nodes;
  return c;
}

// `dgx-a100x2` -> {"dgx-a100", 2}; without a number {name, 0}; {"", -1} for a number that is out of range.
std::pair<std::string, int> split_count(const std::string& name) {
  const std::size_t x = name.rfind('x');
  if (x == std::string::npos || x + 1 == name.size()) return {name, 0};
  const char* begin = name.data() + x + 1;
  const char* end = name.data() + name.size();
  int count = 0;
  const auto [rest, code] = std::from_chars(begin, end, count);
  if (rest != end) return {name, 0};
  if (code != std::errc{} || count < 1 || count > max_units) return {name.substr(0, x), -1};
  return {name.substr(0, x), count};
}

Result<Cluster> read_preset(const std::string& where, const PresetRequest& request) {
  const auto [name, count] = split_count(where);
  std::vector<std::string> names;
  for (const PresetInfo& preset : cluster_presets()) names.push_back(preset.name);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string near = nearest(name, names);
    return error("there is no cluster named '" + where + "'", "it is neither a file nor a preset",
                 near.empty() ? "presets: " + join(names, ", ") : "did you mean '" + near + "'?");
  }
  if (count < 0) {
    return error("'" + where + "' asks for an impossible number of units",
                 "the number after 'x' is 1 to " + std::to_string(max_units));
  }
  if (name == "local") return local_cluster(count > 0 ? count : std::max(1, request.devices), request.cores);
  for (const Node& node : node_presets()) {
    if (name != node.name) continue;
    const int needed = (std::max(1, request.devices) + node.inside.arity - 1) / node.inside.arity;
    return nodes_cluster(node, count > 0 ? count : needed);
  }
  return {};
}

// Of two links that which gives a device less, with the larger latency.
Level slower(const Level& a, const Level& b) {
  Level out = b.bandwidth / b.sharing < a.bandwidth / a.sharing ? b : a;
  out.name = a.name == b.name ? a.name : a.name + "+" + b.name;
  out.latency = std::max(a.latency, b.latency);
  return out;
}

// Nodes of `b` behind those of `a`, on one network.
Cluster joined(const Cluster& a, const Cluster& b) {
  Cluster out = a;
  out.name += "+" + b.name;
  for (const DeviceKind& kind : b.kinds)
    if (kind.type != out.kinds.back().type) out.kinds.push_back({kind.type, a.device_count() + kind.first});
  for (std::size_t i = 0; i < out.levels.size(); ++i) out.levels[i] = slower(a.levels[i], b.levels[i]);
  out.levels.back().arity = a.levels.back().arity + b.levels.back().arity;
  out.host = {std::min(a.host.memory, b.host.memory), std::max(a.host.latency, b.host.latency),
              std::min(a.host.bandwidth, b.host.bandwidth)};
  return out;
}

// `dgx-a100x2+dgx1-v100x2`.
Result<Cluster> read_joined(const std::string& where) {
  std::optional<Cluster> out;
  for (const std::string& name : split(where, '+')) {
    Result<Cluster> c = read_preset(name, {});
    if (!c.ok()) return c;
    const std::string told = "'" + where + "' cannot be made of '" + name + "'";
    if (c->levels.size() != 2) return error(told, "it is not made of nodes", "nodes of a kind: dgx-a100x2");
    if (split_count(name).second == 0)
      return error(told, "it does not say how many nodes there are of that kind", name + "x1");
    if (out && out->levels[0].arity != c->levels[0].arity)
      return error(told, "its nodes have " + std::to_string(c->levels[0].arity) + " devices, those before it " +
                             std::to_string(out->levels[0].arity));
    if (out && c->levels[1].arity > max_units - out->levels[1].arity)
      return error("'" + where + "' has more than " + std::to_string(max_units) + " nodes");
    out = out ? joined(*out, *c) : std::move(*c);
  }
  return *out;
}

}  // namespace

std::vector<PresetInfo> cluster_presets() {
  std::vector<PresetInfo> presets = {{"local", "processes on this host, one core each, shared memory between them"}};
  for (const Node& node : node_presets()) presets.push_back({node.name, node.about});
  return presets;
}

Result<Cluster> read_cluster(const std::string& where, const PresetRequest& request) {
  const bool preset = where.find('/') == std::string::npos && !where.ends_with(".json");
  if (preset && where.find('+') != std::string::npos) return read_joined(where);
  if (preset) return read_preset(where, request);
  Diagnostic d;
  d.file = where;
  std::error_code code;
  if (!std::filesystem::is_regular_file(where, code)) {
    d.what = "cannot read the cluster";
    d.why = std::filesystem::exists(where, code) ? "it is not a file" : "there is no such file";
    return d;
  }
  constexpr std::uintmax_t most_bytes = 1 << 20;
  if (std::filesystem::file_size(where, code) > most_bytes || code) {
    d.what = "cannot read the cluster";
    d.why = "the file is larger than 1 MiB";
    return d;
  }
  const Result<std::string> text = file_text(where);
  if (!text.ok()) return text.diagnostics;
  return parse_cluster(*text, where);
}

}  // namespace planscope
