#pragma once
// A cluster: devices, numbered from 0, that stand in units of units (a node holds 8 devices, the cluster holds 4
// nodes). It is a value: read from JSON or a preset, printed, compared, digested. It says what the hardware is; how
// long an operator takes is the cost model's business (planner/cost), and how long communication takes is in
// communication.h.
//
// Mostly all devices are equal. Where they are of several kinds, those of one kind have neighbouring numbers, a run of
// them or several. Links are equal everywhere: one figure for each level.
//
// Levels are listed innermost first. Unit 0 is a device; a unit of level i holds `arity` units of level i-1. Devices of
// one unit have neighbouring numbers: device d stands in unit d / devices_per_unit(i) of level i.
//
// Files: docs/cluster.md is the schema. Errors: a missing or unreadable file, text that is not JSON, unknown, missing
// or mistyped fields, figures that are not positive, kinds that are not as many devices as there are; each with the place
// in the file. A preset's name is `NAME` or `NAMExNODES` (`dgx-h100x8`); `local` stands for processes on this host,
// `localx4` for four of them. `dgx-a100x2+dgx1-v100x2` are nodes of two presets on one network: as many devices in each
// node; what the nodes differ in of links and host memory is the slower's, and the smaller's, for all.
//
//   Result<Cluster> c = read_cluster("dgx-a100x2", {});
//   c->device_count();             // 16
//   c->levels[1].bandwidth;        // bytes per second of one network link
//   c->device(15).memory;          // of the last device
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"

namespace planscope {

struct DeviceType {
  std::string name;
  Bytes memory;
  std::vector<std::pair<std::string, double>> flops;  // dtype name ("float32", "bfloat16") -> FLOP/s; sorted by name
  double memory_bandwidth = 0;                        // bytes per second
  Microseconds launch;                                // host time to start one kernel

  double rate(std::string_view dtype) const;  // FLOP/s: that of float32 for a type that is not listed
  bool operator==(const DeviceType&) const = default;
};

// Devices of one kind: from number `first` up to the first one of the next kind.
struct DeviceKind {
  DeviceType type;
  std::int64_t first = 0;
  bool operator==(const DeviceKind&) const = default;
};

struct Level {
  std::string name;      // "nvlink", "infiniband"
  int arity = 1;         // units of the level below in one unit of this one
  Microseconds latency;  // of one message between neighbours, both ends included
  double bandwidth = 0;  // bytes per second and direction of one link
  int sharing = 1;       // devices that share one link; 2: two devices on one network card

  bool operator==(const Level&) const = default;
};

// Memory of the host that a device can offload to: each device's share, and its way there.
struct HostMemory {
  Bytes memory;  // per device; 0: the cluster has none to offload to
  Microseconds latency;
  double bandwidth = 0;  // bytes per second and direction for one device
  bool operator==(const HostMemory&) const = default;
};

struct Cluster {
  std::string name;
  std::vector<DeviceKind> kinds = std::vector<DeviceKind>(1);  // ascending, from device 0 on; mostly one
  std::vector<Level> levels;                                   // innermost first; at least one
  HostMemory host;
  // Communication goes on while a device computes. False: the thread that computes also copies what it sends and
  // receives, half when it issues and half when it waits.
  bool background = true;

  std::int64_t device_count() const;
  std::int64_t devices_per_unit(int level) const;  // devices in one unit of levels[level]
  const DeviceType& device(std::int64_t number) const;
  // Indices into `kinds`, ascending, each kind once, by its first run: of the devices [first, end), or of these.
  std::vector<int> kinds_in(std::int64_t first, std::int64_t end) const;
  std::vector<int> kinds_of(const std::vector<int>& devices) const;
  Bytes least_memory(const std::vector<int>& kinds) const;  // of the devices of these kinds
  Cluster of_kind(int kind) const;                          // all devices are of that kind
  std::uint64_t digest() const;                             // of everything but the name

  bool operator==(const Cluster&) const = default;
};

// What a preset may be asked for. Both counts are hints: they matter only where the name leaves the number open.
struct PresetRequest {
  int devices = 1;  // `local`: this many processes; `dgx-…` without a node count: as many nodes as hold them
  int cores = 0;    // `local`: cores of the host, shared by the processes; 0: one for each process
};

// `where` is a preset's name or the path of a JSON file. A name that ends with ".json" or holds a '/' is a path.
Result<Cluster> read_cluster(const std::string& where, const PresetRequest& request = {});

Result<Cluster> parse_cluster(std::string_view json, const std::string& file);
std::string print_cluster(const Cluster&);  // parse_cluster(print_cluster(c)) == c, to the last bit

struct PresetInfo {
  std::string name;
  std::string about;
};
std::vector<PresetInfo> cluster_presets();

}  // namespace planscope
