#include "app/cli/command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "engine/base/text.h"
#include "storage/pending.h"

namespace planscope::cli {

std::atomic<bool> interrupted{false};

void report(const std::vector<Diagnostic>& ds) { std::cerr << to_string(ds) << std::flush; }

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Answer bad_input(const std::vector<Diagnostic>& ds) {
  report(ds);
  Answer a;
  a.status = kBadInput;
  a.json["errors"] = Json::array();
  for (const Diagnostic& d : ds)
    if (d.severity == Severity::error)
      a.json["errors"].push_back({{"file", d.file}, {"line", d.line}, {"text", to_string(d)}});
  return a;
}

Answer bad_input(std::string reason) {
  while (reason.ends_with('\n')) reason.pop_back();
  return bad_input({error(std::move(reason))});
}

Result<std::string> inputs_option(const Options& o) {
  if (o.inputs.empty() || o.inputs == "drawn" || o.inputs == "archive") return o.inputs;
  std::error_code ec;
  if (!std::filesystem::is_regular_file(o.inputs, ec))
    return error("--inputs '" + o.inputs + "' is no file", "", "archive, drawn, or a file that torch.save wrote");
  return std::filesystem::absolute(o.inputs, ec).string();
}

std::optional<Workspace> open_workspace(const Options& o) {
  static const SystemClock clock;
  if (o.workspace.empty()) return std::nullopt;
  std::error_code ec;
  const auto folder = std::filesystem::path(o.workspace).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ec);
  Result<Workspace> w = Workspace::open(o.workspace, clock);
  report(w.diagnostics);
  if (!w.value) return std::nullopt;
  report(take_in(*w.value).diagnostics);
  report(w->close_abandoned_runs(is_alive).diagnostics);
  return std::move(*w.value);
}

std::vector<Diagnostic> wrong_session_cluster(const Options& o) {
  if (o.session_cluster.empty()) return {};
  const std::optional<Workspace> workspace = open_workspace(o);
  const Result<Cluster> cluster = open_cluster(o.session_cluster, 1, workspace ? &*workspace : nullptr);
  return cluster.ok() ? std::vector<Diagnostic>{} : cluster.diagnostics;
}

bool record(const Options& o, std::optional<Workspace>& workspace, const Recording& found) {
  std::vector<Diagnostic> problems;
  const Kept kept = keep(o.workspace, workspace ? &*workspace : nullptr, found, {}, problems);
  report(problems);
  return kept.recorded;
}

Answer unsettled(const Settled& s) {
  Answer a;
  const bool impossible = s.status == CompletionStatus::impossible;
  a.status = impossible ? kNo : kUnknown;
  a.json = {{"status", to_string(s.status)}, {"conflicts", conflicts_json(s.conflicts)}};
  a.json["all_conflicts"] = impossible ? Json(s.all_conflicts) : Json();
  if (!s.reason.empty()) a.json["reason"] = s.reason;
  a.text = "# " + std::string(to_string(s.status)) + (s.reason.empty() ? "" : " (" + s.reason + ")") + "\n" +
           conflicts_text(s.conflicts, impossible, s.all_conflicts);
  return a;
}

}  // namespace planscope::cli
