// What the workspace knows of runs.
#include <algorithm>

#include "app/session/panel.h"
#include "app/session/store.h"
#include "engine/launch/watch.h"

namespace planscope::session {

namespace {

template <class T>
std::vector<T> numbers(const Json& j, const char* name) {
  std::vector<T> out;
  if (j.contains(name) && j[name].is_array())
    for (const Json& v : j[name])
      if (v.is_number()) out.push_back(v.get<T>());
  return out;
}

std::string text(const Json& j, const char* name) { return j.contains(name) && j[name].is_string() ? j[name].get<std::string>() : ""; }

}  // namespace

RunEntry run_entry_of(const RunRow& row) {
  RunEntry r{.run = row.id, .version = row.plan, .status = std::string(to_string(row.status)), .procs = row.ranks};
  r.started_us = row.started_us;
  const Json j = Json::parse(row.result, nullptr, false);
  if (!j.is_object()) return r;
  std::vector<double> steps = numbers<double>(j, "step_us");
  r.steps = static_cast<int>(steps.size());
  if (!steps.empty()) {
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    r.step_us = *middle;
  }
  if (j.contains("predicted_step_us") && j["predicted_step_us"].is_number()) r.predicted_step_us = j["predicted_step_us"];
  r.peak_bytes = numbers<std::int64_t>(j, "peak_bytes");
  r.predicted_peak_bytes = numbers<std::int64_t>(j, "predicted_peak_bytes");
  r.losses = numbers<double>(j, "losses");
  r.optimizer = text(j, "optimizer"), r.inputs = text(j, "inputs"), r.cluster = text(j, "cluster");
  if (j.contains("seed") && j["seed"].is_number_unsigned()) r.seed = j["seed"].get<std::uint64_t>();
  r.oversubscribed = j.value("oversubscribed", false);
  if (j.contains("check") && j["check"].is_object()) {
    const Json& c = j["check"];
    if (!c.contains("not_finite") || c["not_finite"].is_null()) r.equal = c.value("equal", false);
    else r.reason = "the one-device run holds no numbers in " + text(c, "not_finite");
    if (c.contains("max_relative_error") && c["max_relative_error"].is_number()) r.max_relative_error = c["max_relative_error"];
    r.worst = text(c, "tensor");
  }
  if (j.contains("failure") && j["failure"].is_object()) {
    const Json& f = j["failure"];
    const std::string rank = rank_text(f.value("rank", -1), f.value("instruction", -1));
    r.reason = (rank.empty() ? "" : rank + ": ") + text(f, "reason");
  }
  return r;
}

Result<std::vector<RunEntry>> runs_of(const Workspace& w, const std::vector<Version>& versions) {
  const Result<std::vector<RunRow>> rows = w.runs();
  if (!rows.ok()) return rows.diagnostics;
  const Labels labels = labels_of(w);
  std::vector<RunEntry> out;
  for (const RunRow& r : *rows) {
    if (std::none_of(versions.begin(), versions.end(), [&](const Version& v) { return v.id == r.plan; })) continue;
    RunEntry e = run_entry_of(r);
    if (const auto l = labels.find({EntryKind::run, r.id}); l != labels.end())
      e.name = l->second.name, e.note = l->second.note;
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace planscope::session
