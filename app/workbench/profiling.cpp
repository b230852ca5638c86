#include "app/workbench/profiling.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/base/temporary_folder.h"
#include "engine/base/text.h"
#include "engine/launch/profile_job.h"
#include "engine/plan/parser.h"
#include "engine/program/program_json.h"
#include "planner/cost/communication_cost.h"

namespace planscope {

namespace {

using Json = nlohmann::json;
using Key = std::pair<std::string, std::string>;  // ProfileItem::key, shapes

// As the kernel names it; where it has no name, one for all.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "unknown processor" : line.substr(begin);
  }
  return "unknown processor";
}

// The device of a process that has a core for itself.
DeviceType process_of_this_host() {
  PresetRequest request;
  request.devices = 1;
  return read_cluster("local", request)->device(0);
}

std::optional<Diagnostic> not_measurable(const Cluster& cluster) {
  const DeviceType here = process_of_this_host();
  const auto other = std::find_if(cluster.kinds.begin(), cluster.kinds.end(),
                                  [&](const DeviceKind& kind) { return kind.type != here; });
  if (other == cluster.kinds.end()) return std::nullopt;
  if (other->type.name != here.name)
    return error("'" + cluster.name + "' has devices that cannot be measured here: " + other->type.name,
                 "the worker measures processes of this host", "--cluster local");
  return error(
      "the processes of '" + cluster.name + "' share cores",
      "an operator is measured on a core of its own, which says nothing about processes that wait for each other",
      "take a cluster of at most " + std::to_string(std::max(1u, std::thread::hardware_concurrency())) + " devices");
}

constexpr const char* link_signature = "link between processes";
constexpr Collective measured_kinds[] = {Collective::send, Collective::all_reduce, Collective::all_gather,
                                         Collective::reduce_scatter, Collective::all_to_all};

std::optional<Collective> measured_kind(const std::string& name) {
  for (const Collective kind : measured_kinds)
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

// What was measured of the link, with what its fit says of it.
void add_link(Profile& profile, const Json& row) {
  const LinkFit fit{{row.value("latency_us", 0.0)}, row.value("bandwidth_bytes_per_s", 0.0)};
  if (fit.bandwidth <= 0 || !row.contains("samples") || !row["samples"].is_array()) return;
  for (const Json& sample : row["samples"]) {
    if (!sample.is_array() || sample.size() != 3 || !sample[0].is_string() || !sample[1].is_number() ||
        !sample[2].is_number())
      continue;
    const std::optional<Collective> kind = measured_kind(sample[0]);
    const Bytes bytes{sample[1].get<std::int64_t>()};
    if (!kind) continue;
    add(profile, link_key(*kind),
        {std::to_string(bytes.count) + " bytes", fitted_time(fit, *kind, bytes).count, sample[2].get<double>()});
  }
}

struct Measured {
  Profile operators, links;
};

Result<Measured> read_profile(const Workspace& workspace, const std::string& device) {
  const Result<std::vector<ProfileRow>> rows = workspace.profiles(device);
  if (!rows.ok()) return rows.diagnostics;
  Measured out;
  for (const ProfileRow& row : *rows) {
    const Json json = Json::parse(row.json, nullptr, false);
    if (json.is_object() && row.signature == link_signature) add_link(out.links, json);
    if (!json.is_object() || !json.contains("measured_us")) continue;
    add(out.operators, json.value("key", ""),
        {json.value("shapes", ""), json.value("modelled_us", 0.0), json.value("measured_us", 0.0)});
  }
  return out;
}

const ProfileSample* find(const Profile& profile, const ProfileItem& item) {
  const auto known = profile.samples.find(item.key);
  if (known == profile.samples.end()) return nullptr;
  const auto sample = std::find_if(known->second.begin(), known->second.end(),
                                   [&](const ProfileSample& s) { return s.shapes == item.shapes; });
  return sample == known->second.end() ? nullptr : &*sample;
}

class Run {
 public:
  Run(const ProfilingSpec& spec, Workspace& workspace, const std::function<void(int, int)>& progress,
      const std::atomic<bool>& stop, std::vector<Diagnostic>& diagnostics)
      : spec_(spec), workspace_(workspace), progress_(progress), stop_(stop), diagnostics_(diagnostics) {}

  Profiling measure(const std::vector<Materials>& all) {
    std::error_code ec;
    const bool worker = std::filesystem::exists(spec_.worker, ec);
    for (const Materials& m : all) {
      if (std::optional<Diagnostic> problem = not_measurable(m.cluster)) return fail({*problem});
      device_ = profiled_device(m.cluster.device(0));
      if (!worker) return fail({error("'" + spec_.worker + "' is not there", "planscope was built without LibTorch")});
      const Result<Measured> known = read_profile(workspace_, device_);
      if (!known.ok()) return fail(known.diagnostics);
      const std::set<std::string> missing = one(m, known->operators, {});
      if (out_.status == LaunchStatus::done && !missing.empty()) whole_operators(m, known->operators, missing);
      if (out_.status != LaunchStatus::done) break;
    }
    return std::move(out_);
  }

 private:
  Profiling fail(const std::vector<Diagnostic>& problems) {
    diagnostics_.insert(diagnostics_.end(), problems.begin(), problems.end());
    out_.status = LaunchStatus::failed;
    return std::move(out_);
  }

  // Operators of which no shard can be measured: as a whole.
  void whole_operators(const Materials& m, const Profile& known, const std::set<std::string>& keys) {
    Materials whole{.model = m.model,
                    .plan = *plan::parse_plan(one_device(m.result.program.sizes), ""),
                    .cluster = m.cluster,
                    .result = {}};
    Result<Materialized> made = materialize(m.model.graph, whole.plan, m.cluster);
    diagnostics_.insert(diagnostics_.end(), made.diagnostics.begin(), made.diagnostics.end());
    if (!made.value || made.has_errors()) return;
    whole.result = std::move(*made);
    one(whole, known, keys);
  }

  static std::string one_device(const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
    std::string text = "devices 1\n";
    if (!sizes.empty()) text += "model";
    for (const auto& [name, size] : sizes) text += " " + name + "=" + std::to_string(size);
    return text + "\n";
  }

  // All that the plan runs, or what has one of these keys. Returns the keys of which nothing is known then.
  std::set<std::string> one(const Materials& m, const Profile& known, const std::set<std::string>& only) {
    const Program& program = m.result.program;
    std::set<std::string> missing = keys_left_out(*m.result.graph, program);
    std::erase_if(missing, [&](const std::string& key) { return known.samples.contains(key); });
    std::vector<std::size_t> open;  // into out_.operators
    ProfileJob job;
    std::vector<ProfileItem> items = profile_items(*m.result.graph, program, m.cluster.device(0), {});
    for (ProfileItem& memory : memory_items(m.cluster.device(0), {})) items.push_back(std::move(memory));
    for (ProfileItem& item : items) {
      missing.erase(item.key);
      if (!only.empty() && !only.contains(item.key)) continue;
      if (!seen_.emplace(item.key, item.shapes).second) continue;
      ProfiledOperator o;
      if (const ProfileSample* sample = find(known, item)) {
        o.measured_us = sample->measured_us;
        o.reused = true;
        ++out_.reused;
      } else {
        open.push_back(out_.operators.size());
        if (item.piece >= 0)
          job.items.push_back({item.piece, item.op, item.backward});
        else
          job.memory.push_back({item.bytes, item.state});
      }
      o.item = std::move(item);
      out_.operators.push_back(std::move(o));
    }
    if (!open.empty()) ask_worker(m, std::move(job), open);
    return missing;
  }

  void ask_worker(const Materials& m, ProfileJob job, const std::vector<std::size_t>& open) {
    const TemporaryFolder folder("profile");
    job.model = std::filesystem::absolute(m.model.model->path).string();
    job.sizes = m.result.program.sizes;
    job.program = folder / "program.json";
    job.seed = spec_.seed;
    if (const Result<Done> written = write_file(job.program, to_json(m.result.program)); written.has_errors()) {
      fail(written.diagnostics);
      return;
    }
    LaunchSpec launch_spec{.program = spec_.worker, .ranks = 1, .job = print(job), .cores = {available_cores().back()}};
    LaunchEvents events;
    events.on_report = [&](int, const std::string& text) {
      const Result<OperatorMeasurement> r = parse_operator_measurement(text);
      if (r.ok() && r->item >= 0 && r->item < static_cast<int>(open.size()))
        take(out_.operators[open[static_cast<std::size_t>(r->item)]], *r);
      if (progress_ && r.ok()) progress_(r->item + 1, static_cast<int>(open.size()));
    };
    PosixProcesses processes;
    const SystemClock clock;
    const LaunchResult ended = launch(launch_spec, events, stop_, processes, clock);
    out_.status = ended.status;
    if (ended.failure) out_.failure = ended.failure->reason;
  }

  void take(ProfiledOperator& o, const OperatorMeasurement& m) {
    o.problem = m.problem;
    if (!m.problem.empty()) return;
    o.measured_us = m.time.count;
    ++out_.measured;
    const Result<RowId> stored = store(workspace_, device_, o.item, m.time, m.repeats);
    diagnostics_.insert(diagnostics_.end(), stored.diagnostics.begin(), stored.diagnostics.end());
  }

  const ProfilingSpec& spec_;
  Workspace& workspace_;
  const std::function<void(int, int)>& progress_;
  const std::atomic<bool>& stop_;
  std::vector<Diagnostic>& diagnostics_;
  std::string device_;
  std::set<Key> seen_;
  Profiling out_;
};

}  // namespace

std::string profiled_device(const DeviceType& type) {
  Cluster device;
  device.kinds[0].type = type;
  return type.name + " " + hex(device.digest()) + " on " + processor_name();
}

std::string profiled_device(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const int kind : cluster.kinds_in(0, cluster.device_count()))
    names.push_back(profiled_device(cluster.kinds[static_cast<std::size_t>(kind)].type));
  return join(names, ", ");
}

CostModel stored_costs(const Workspace* workspace, const Cluster& cluster, std::vector<Diagnostic>& diagnostics) {
  CostModel out;
  if (!workspace) return out;
  for (const DeviceKind& kind : cluster.kinds) {
    Result<Measured> measured = read_profile(*workspace, profiled_device(kind.type));
    diagnostics.insert(diagnostics.end(), measured.diagnostics.begin(), measured.diagnostics.end());
    if (!measured.value) continue;
    if (!measured->operators.samples.empty()) out.profiles[kind.type.name] = std::move(measured->operators);
    if (cluster.kinds.size() == 1) out.links = std::move(measured->links);  // between two devices of one kind
  }
  return out;
}

Result<RowId> store(Workspace& workspace, const std::string& device, const ProfileItem& item, Microseconds measured,
                    int repeats) {
  ProfileRow row;
  row.device = device;
  row.signature = item.key + ": " + item.shapes;
  row.json = Json{
      {"key", item.key},
      {"shapes", item.shapes},
      {"modelled_us", item.modelled_us},
      {"measured_us", measured.count},
      {"repeats",
       repeats}}.dump();
  return workspace.put_profile(row);
}

Result<LinkProfile> profile_links(const ProfilingSpec& spec, Workspace& workspace,
                                  const std::function<void(int done, int of)>& progress, const std::atomic<bool>& stop) {
  if (available_cores().size() < 2)
    return error("the link between two processes cannot be measured", "they would share the only core");
  ProfileJob job;
  job.task = ProfileTask::links;
  LinkProfile out;
  std::vector<Diagnostic> problems;
  LaunchEvents events;
  events.on_report = [&](int, const std::string& text) {
    const Result<LinkMeasurement> m = parse_link_measurement(text);
    problems.insert(problems.end(), m.diagnostics.begin(), m.diagnostics.end());
    const std::optional<Collective> kind = m.ok() ? measured_kind(m->kind) : std::nullopt;
    if (kind) out.samples.push_back({*kind, m->bytes, m->time});
    if (progress) progress(static_cast<int>(out.samples.size()), static_cast<int>(std::size(measured_kinds) * std::size(link_sizes)));
  };
  PosixProcesses processes;
  const SystemClock clock;
  const LaunchResult ended =
      launch({.program = spec.worker, .ranks = 2, .job = print(job)}, events, stop, processes, clock);
  if (ended.failure) return error("the link could not be measured", ended.failure->reason);
  if (ended.status != LaunchStatus::done) return error("the link was not measured: interrupted");
  const std::optional<LinkFit> fit = fit_link(out.samples);
  if (!fit)
    return error("the measured times of the link fit no latency and bandwidth", "they do not grow with the size");
  out.fit = *fit;
  Json samples = Json::array();
  for (const LinkSample& s : out.samples) samples.push_back({to_string(s.kind), s.bytes.count, s.time.count});
  Cluster here;
  here.kinds[0].type = process_of_this_host();
  ProfileRow row;
  row.device = profiled_device(here);
  row.signature = link_signature;
  row.json =
      Json{{"latency_us", fit->latency.count}, {"bandwidth_bytes_per_s", fit->bandwidth}, {"samples", samples}}.dump();
  if (const Result<RowId> stored = workspace.put_profile(row); !stored.ok()) return stored.diagnostics;
  return out;
}

Cluster with_stored_link(Cluster cluster, const Workspace& workspace, std::vector<Diagnostic>& diagnostics) {
  if (cluster.kinds.size() != 1 || cluster.device(0) != process_of_this_host() || cluster.levels.size() != 1)
    return cluster;
  const Result<std::optional<ProfileRow>> row = workspace.find_profile(profiled_device(cluster), link_signature);
  diagnostics.insert(diagnostics.end(), row.diagnostics.begin(), row.diagnostics.end());
  if (!row.ok() || !row->has_value()) return cluster;
  const Json json = Json::parse((*row)->json, nullptr, false);
  if (!json.is_object() || json.value("bandwidth_bytes_per_s", 0.0) <= 0) return cluster;
  cluster.levels[0].latency = {json.value("latency_us", 0.0)};
  cluster.levels[0].bandwidth = json["bandwidth_bytes_per_s"].get<double>();
  return cluster;
}

Profiling profile(const std::vector<Materials>& materials, const ProfilingSpec& spec, Workspace& workspace,
                  const std::function<void(int, int)>& progress, const std::atomic<bool>& stop,
                  std::vector<Diagnostic>& diagnostics) {
  return Run(spec, workspace, progress, stop, diagnostics).measure(materials);
}

}  // namespace planscope
