#include "app/workbench/keep.h"

#include <filesystem>

#include "engine/base/text.h"
#include "engine/plan/printer.h"

namespace planscope {

Recording recording_of(const OpenModel& model, const plan::Plan& plan, const Cluster& cluster) {
  Recording out;
  if (const Result<std::string> digest = file_digest(model.model->path); digest.ok()) {
    out.model.digest = *digest;
    out.model.name = model.model->name;
    std::error_code ec;
    out.model.path = std::filesystem::absolute(model.model->path, ec).string();
  }
  const std::string name = std::filesystem::path(plan.file).stem().string();
  out.plan.name = name.empty() ? "plan" : name;
  out.plan.text = plan::print(plan);
  out.cluster.digest = hex(cluster.digest());
  out.cluster.name = cluster.name;
  out.cluster.json = print_cluster(cluster);
  return out;
}

namespace {

Result<RecordedRows> add(const std::string& file, Workspace* workspace, const Recording& r) {
  if (workspace) return workspace->add(r);
  static const SystemClock clock;
  Result<Workspace> opened = Workspace::open(file, clock);
  if (!opened.ok()) return opened.diagnostics;
  return opened->add(r);
}

}  // namespace

Kept keep(const std::string& file, Workspace* workspace, const Recording& r, const Patience& patience,
          std::vector<Diagnostic>& diagnostics) {
  if (file.empty() && !workspace) return {};
  const auto begin = std::chrono::steady_clock::now();
  const auto waits = [&] {
    return std::chrono::steady_clock::now() - begin < patience.most && !(patience.stop && *patience.stop);
  };
  Result<RecordedRows> rows = add(file, workspace, r);
  if (is_locked(rows.diagnostics) && waits() && patience.on_wait) patience.on_wait();
  while (is_locked(rows.diagnostics) && waits()) rows = add(file, workspace, r);
  if (rows.ok()) return {true, *rows};
  if (!is_locked(rows.diagnostics)) {
    diagnostics.insert(diagnostics.end(), rows.diagnostics.begin(), rows.diagnostics.end());
    return {};
  }
  const std::string where = workspace ? workspace->file() : file;
  std::vector<Diagnostic> problems = leave(where, r);
  if (problems.empty()) problems = {not_stored_yet(where, "another program has locked it")};
  diagnostics.insert(diagnostics.end(), problems.begin(), problems.end());
  return {};
}

}  // namespace planscope
