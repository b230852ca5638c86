#include "app/session/store.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "app/session/lines.h"
#include "engine/base/text.h"

namespace planscope::session {

using Json = nlohmann::json;

Result<RowId> model_row(Workspace& w, const OpenModel& m) {
  const Result<std::string> digest = file_digest(m.model->path);
  if (!digest.ok()) return digest.diagnostics;
  std::error_code ec;
  const std::string path = std::filesystem::absolute(m.model->path, ec).string();
  const Result<std::optional<ModelRow>> known = w.find_model(*digest);
  if (known.ok() && *known && (**known).path == path) return (**known).id;
  return w.put_model({.digest = *digest, .name = m.model->name, .path = path});
}

namespace {

template <class T>
std::optional<T> number(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<T>();
}

std::string text(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Figures read_figures(const Json& json) {
  Figures f;
  f.step_us = number<double>(json, "step_us");
  f.peak_bytes = number<std::int64_t>(json, "peak_bytes");
  f.memory_bytes = number<std::int64_t>(json, "memory_bytes");
  f.sent_bytes = number<std::int64_t>(json, "bytes_sent");
  f.origin = text(json, "origin");
  return f;
}

}  // namespace

namespace {

// Of each plan the newest prediction on the cluster, by the name that a session knows it by, and what that starts from.
std::map<RowId, std::pair<Figures, std::string>> figures_on(const std::vector<PredictionRow>& all, const std::string& cluster) {
  std::map<RowId, std::pair<Figures, std::string>> out;
  for (const PredictionRow& row : all) {
    const Json json = Json::parse(row.json, nullptr, false);
    if (json.is_object() && json.value("chosen_cluster", Json()) == cluster) out[row.plan] = {read_figures(json), text(json, "measurements")};
  }
  return out;
}

}  // namespace

Labels labels_of(const Workspace& w) {
  Labels out;
  if (Result<std::vector<LabelRow>> all = w.labels(); all.value)
    for (LabelRow& l : *all.value) out[{l.kind, l.id}] = std::move(l);
  return out;
}

std::vector<PlanRow> history_of(std::vector<PlanRow> plans, std::optional<RowId> one) {
  std::map<RowId, RowId> first;  // of each, the one that its history begins with; a parent stands before its children
  for (const PlanRow& p : plans) {
    const auto parent = first.find(p.parent.value_or(0));
    first[p.id] = parent == first.end() ? p.id : parent->second;
  }
  const auto wanted = first.find(one.value_or(0));
  std::erase_if(plans, [&](const PlanRow& p) { return wanted == first.end() || first[p.id] != wanted->second; });
  return plans;
}

std::optional<RowId> newest_of_file(const std::vector<PlanRow>& plans, const std::string& path, const std::string& name) {
  std::optional<RowId> out;
  for (const PlanRow& p : plans)
    if (!path.empty() && (p.path == path || (p.path.empty() && p.name == name))) out = p.id;
  return out;
}

std::vector<Version> versions_of(const Workspace& w, const std::vector<PlanRow>& plans, const std::string& cluster) {
  const Result<std::vector<PredictionRow>> predictions = w.predictions();
  const Result<std::vector<VerificationRow>> verifications = w.verifications();
  const auto figures = figures_on(predictions.ok() ? *predictions : std::vector<PredictionRow>{}, cluster);
  std::map<RowId, std::string> verdicts;
  if (verifications.ok())
    for (const VerificationRow& v : *verifications) verdicts[v.plan] = v.verdict;
  const Labels labels = labels_of(w);
  std::vector<Version> out;
  for (const PlanRow& p : plans) {
    Version v{.id = p.id, .parent = p.parent, .text = plan_text(p.text), .kept_us = p.created_us};
    if (const auto found = labels.find({EntryKind::version, p.id}); found != labels.end())
      v.name = found->second.name, v.note = found->second.note;
    const auto parent = std::find_if(out.begin(), out.end(), [&](const Version& o) { return o.id == p.parent; });
    v.change = change_between(parent == out.end() ? "" : parent->text, v.text);
    if (parent == out.end()) v.parent.reset();  // of another model
    if (const auto found = figures.find(p.id); found != figures.end()) v.figures = found->second.first, v.measurements = found->second.second, v.cluster = cluster;
    if (const auto found = verdicts.find(p.id); found != verdicts.end()) v.figures.verdict = found->second;
    out.push_back(std::move(v));
  }
  return out;
}

std::string measurements_of(const Workspace& w, std::vector<Diagnostic>& problems) {
  const Result<std::string> name = w.measurements();
  problems.insert(problems.end(), name.diagnostics.begin(), name.diagnostics.end());
  return name.ok() ? *name : std::string();
}

Result<Done> store_figures(Workspace& w, RowId version, const Picture& p) {
  if (p.state != PictureState::verified) return Done{};
  const Figures f = figures_of(p);
  const Result<RowId> cluster =
      w.put_cluster({.digest = hex(p.cluster->digest()), .name = p.cluster->name, .json = print_cluster(*p.cluster)});
  if (!cluster.ok()) return cluster.diagnostics;
  const Json prediction = {{"chosen_cluster", p.cluster_name}, {"measurements", p.measurements}, {"step_us", *f.step_us}, {"origin", f.origin}, {"peak_bytes", f.peak_bytes.value_or(0)},
                           {"memory_bytes", f.memory_bytes.value_or(0)}, {"bytes_sent", f.sent_bytes.value_or(0)}};
  const Result<RowId> row = w.add_prediction({.plan = version, .cluster = *cluster, .json = prediction.dump()});
  if (!row.ok()) return row.diagnostics;
  const VerifyReport& r = p.verified->report;
  const Json verdict = {{"verdict", f.verdict}, {"obligations", r.obligations}, {"failure_count", r.failure_count}};
  const Result<RowId> verified = w.add_verification({.plan = version, .verdict = f.verdict, .json = verdict.dump()});
  if (!verified.ok()) return verified.diagnostics;
  return Done{};
}

namespace {

// Versions of one plan (EntryKind) are one entry, the newest one's.
void add_plans(const std::vector<PlanRow>& plans, const Labels& labels, std::vector<WorkspaceEntry>& out) {
  std::map<RowId, std::pair<const PlanRow*, std::size_t>> known;  // with the entries that they are in
  std::map<std::size_t, int> versions;
  std::map<std::size_t, std::string> names;  // that versions have, by entry
  for (const PlanRow& p : plans) {
    const auto parent = known.find(p.parent.value_or(0));
    const bool goes_on = parent != known.end() && parent->second.first->name == p.name && parent->second.first->model == p.model;
    const std::size_t at = goes_on ? parent->second.second : out.size();
    if (!goes_on) out.push_back({.kind = "plan", .name = p.name});
    known[p.id] = {&p, at};
    WorkspaceEntry& e = out[at];
    e.id = p.id;
    const auto lines = line_count(p.text);
    const int count = ++versions[at];
    e.about = std::to_string(lines) + (lines == 1 ? " line" : " lines") +
              (count > 1 ? ", " + std::to_string(count) + " versions" : "");
    e.command = "open plan=" + std::to_string(p.id);
    const auto l = labels.find({EntryKind::version, p.id});
    if (l != labels.end() && !l->second.note.empty()) e.note = l->second.note;
    std::string& named = names[static_cast<std::size_t>(&e - out.data())];
    if (l != labels.end() && !l->second.name.empty()) named += (named.empty() ? ": " : ", ") + l->second.name;
    e.about += named;
  }
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "\"";
}

}  // namespace

Result<std::vector<WorkspaceEntry>> entries_of(const Workspace& w) {
  std::vector<WorkspaceEntry> out;
  const Labels labels = labels_of(w);
  const auto add = [&](EntryKind kind, RowId id, std::string name, std::string about, std::string command) {
    WorkspaceEntry e{
        .kind = std::string(to_string(kind)), .id = id, .name = std::move(name), .about = std::move(about)};
    e.command = std::move(command);
    if (const auto l = labels.find({kind, id}); l != labels.end()) {
      e.note = l->second.note;
      if (!l->second.name.empty()) e.name = l->second.name + " (" + e.name + ")";
    }
    out.push_back(std::move(e));
  };
  const auto models = w.models();
  if (!models.ok()) return models.diagnostics;
  for (const ModelRow& m : *models) add(EntryKind::model, m.id, m.name, m.path, "open model=" + quoted(m.path));
  const auto plans = w.plans();
  if (!plans.ok()) return plans.diagnostics;
  add_plans(*plans, labels, out);
  const auto runs = w.runs();
  if (!runs.ok()) return runs.diagnostics;
  for (const RunRow& r : *runs)
    add(EntryKind::run, r.id, "version " + std::to_string(r.plan),
        std::string(to_string(r.status)) + " on " + std::to_string(r.ranks) + " processes",
        "compare run:" + std::to_string(r.id));
  const auto clusters = w.clusters();
  if (!clusters.ok()) return clusters.diagnostics;
  for (const ClusterRow& c : *clusters) {
    const Result<Cluster> cluster = parse_cluster(c.json, w.file());
    add(EntryKind::cluster, c.id, c.name, cluster.ok() ? std::to_string(cluster->device_count()) + " devices" : "",
        "cluster " + quoted(c.name));
  }
  const auto devices = w.profiled_devices();
  if (!devices.ok()) return devices.diagnostics;
  for (const ProfiledDevice& d : *devices)
    add(EntryKind::profile, d.id, d.device, std::to_string(d.profiles) + " operators measured", "");
  return out;
}

Result<std::vector<LostDraft>> lost_drafts(const Workspace& w) {
  const Result<std::vector<DraftRow>> rows = w.drafts();
  if (!rows.ok()) return rows.diagnostics;
  std::vector<LostDraft> out;
  for (const DraftRow& r : *rows)
    if (!is_alive(r.process)) out.push_back({r.id, r.model, r.name, r.path, r.cluster, r.text, r.version, r.written_us, r.saved});
  return out;
}

}  // namespace planscope::session
