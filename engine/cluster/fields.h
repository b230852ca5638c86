#pragma once
// The figures of a cluster one by one, by the names that they have in a cluster file, so that a person can change them:
//
//   for (const ClusterField& f : cluster_fields(cluster)) f.id, f.title, f.text;   // levels.0.latency_us, nvlink: latency, 3.5 us
//   Result<Cluster> c = with_field(cluster, "levels.0.latency_us", "2 us");
//   with_fields(cluster, "levels.0.latency_us=2,device.memory_bytes=40e9");
//
// Fields: device.memory_bytes, .memory_bandwidth_bytes_per_s, .launch_us, .flops.DTYPE (of several kinds devices.K.…);
// levels.N.arity, .latency_us, .bandwidth_bytes_per_s, .sharing; host.memory_bytes, .latency_us,
// .bandwidth_bytes_per_s; background_communication. The arity of the level behind the last one adds a level, with the
// links of the one before it; the arity 0 of the last one takes it away.
//
// Values are numbers in the unit of the field's name, or have a unit behind them: `40 GiB`, `235 GB/s`, `312 TFLOP/s`,
// `2 ms`.
//
// Errors: no such field (with the nearest), no number, a number out of its bounds (which are said), what no cluster
// file may say.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cluster/cluster.h"

namespace planscope {

struct ClusterField {
  std::string id, title;
  std::string text;    // as a person reads it, and may write it: `80 GiB`
  std::string value;   // as a cluster file has it: `85899345920`; empty: of a level that is not there
  std::string bounds;  // that a value has: `from 1 B to 1 PiB`
  std::vector<std::string> choices = {};
};

std::vector<ClusterField> cluster_fields(const Cluster&);
Result<Cluster> with_field(const Cluster&, const std::string& id, std::string_view value);
Result<Cluster> with_fields(Cluster, std::string_view changes);

// A cluster that is another one with changes: `dgx-h100x2:levels.1.bandwidth_bytes_per_s=5e+10`. Changes are empty
// where the name has none.
struct ChangedName {
  std::string base;
  std::vector<std::pair<std::string, std::string>> changes;  // field, value
};
ChangedName changed_name(std::string_view name);
std::string print(const ChangedName&);

}  // namespace planscope
