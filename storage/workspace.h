#pragma once
// The workspace: one SQLite file with everything that a user made or measured. Rows are plain structs; texts and JSON
// are stored as they are given and not looked into (JSON columns refuse what is not JSON).
//
// Every call that changes something is one transaction and is on disk when it returns: a kill -9 of this program, or of
// the machine, loses nothing that was recorded before. Several programs may use one file at a time (write-ahead log);
// a writer waits `patience` for another one. One Workspace per thread.
//
// Errors (diagnostics, never exceptions): the file is damaged, is not a workspace, is of a newer version, is locked,
// cannot be written; a row that is asked for is not there; a row names another one that is not there.
//
//   SystemClock clock;
//   Result<Workspace> w = Workspace::open("work.planscope", clock);
//   auto model = w->put_model({.digest = "9f…", .name = "gpt2", .path = "gpt2.pt2", .info = "{}"});
//   auto plan = w->add_plan({.model = *model, .name = "data", .text = "devices 4 as data=4\n"});
//   auto run = w->start_run(*plan, 4, getpid());
//   w->add_spans(*run, spans);
//   w->end_run(*run, RunStatus::done, "{\"step_us\": [1200]}");
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/diagnostic.h"
#include "storage/database.h"

namespace planscope {

using RowId = std::int64_t;  // from 1; 0: not stored yet

struct ModelRow {
  RowId id = 0;
  std::string digest = {};  // of the file's content; the key
  std::string name = {};
  std::string path = {};  // where it was last seen
  std::string info = "{}";
  std::int64_t created_us = 0;  // wall time; set by the workspace, as in all rows
  bool operator==(const ModelRow&) const = default;
};

struct PlanRow {
  RowId id = 0;
  std::optional<RowId> model = {};
  std::optional<RowId> parent = {};  // the plan that this one was edited from
  std::string name = {};
  std::string text = {};
  std::int64_t created_us = 0;
  bool operator==(const PlanRow&) const = default;
};

struct ClusterRow {
  RowId id = 0;
  std::string digest = {};  // the key
  std::string name = {};
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const ClusterRow&) const = default;
};

struct PredictionRow {
  RowId id = 0;
  RowId plan = 0;
  RowId cluster = 0;
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const PredictionRow&) const = default;
};

struct VerificationRow {
  RowId id = 0;
  RowId plan = 0;
  std::string verdict = {};
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const VerificationRow&) const = default;
};

enum class RunStatus { running, done, failed, interrupted };
std::string_view to_string(RunStatus);

struct RunRow {
  RowId id = 0;
  RowId plan = 0;
  int ranks = 0;
  RunStatus status = RunStatus::running;
  std::int64_t process = 0;  // id of the process that runs it
  std::int64_t started_us = 0;
  std::optional<std::int64_t> ended_us = {};
  std::string result = {};  // JSON; empty while running
  bool operator==(const RunRow&) const = default;
};

struct SpanRow {
  int rank = 0;
  int step = 0;
  std::int64_t instruction = 0;  // index in the rank's instruction list
  std::string kind = {};         // "compute", "all_reduce", "wait", …
  double start_us = 0;           // since the run began
  double dur_us = 0;
  bool operator==(const SpanRow&) const = default;
};

struct ProfileRow {
  RowId id = 0;
  std::string device = {};     // key, with the signature
  std::string signature = {};  // of the operator: target, shapes, types
  std::string json = {};
  std::int64_t created_us = 0;
  bool operator==(const ProfileRow&) const = default;
};

struct WorkspaceSettings {
  std::chrono::milliseconds patience{2000};  // how long to wait for another program's lock
};

class Workspace {
 public:
  // Creates the file if there is none; brings an older one up to date. The clock must outlive the workspace.
  static Result<Workspace> open(const std::string& path, const Clock& clock, const WorkspaceSettings& settings = {});

  // put: adds the row or, where the key is known, replaces the rest of it; the id stays.
  Result<RowId> put_model(const ModelRow&);
  Result<RowId> put_cluster(const ClusterRow&);
  Result<RowId> put_profile(const ProfileRow&);

  Result<RowId> add_plan(const PlanRow&);
  Result<RowId> add_prediction(const PredictionRow&);
  Result<RowId> add_verification(const VerificationRow&);

  Result<RowId> start_run(RowId plan, int ranks, std::int64_t process);
  Result<Done> add_spans(RowId run, const std::vector<SpanRow>& spans);  // one transaction; call it with thousands
  Result<Done> end_run(RowId run, RunStatus status, const std::string& result_json);
  // Runs whose process is gone without having ended them become `interrupted`; their spans stay. Returns how many.
  Result<std::int64_t> close_abandoned_runs(const std::function<bool(std::int64_t process)>& is_alive);

  // A row that must be there: an error otherwise.
  Result<ModelRow> model(RowId) const;
  Result<PlanRow> plan(RowId) const;
  Result<ClusterRow> cluster(RowId) const;
  Result<RunRow> run(RowId) const;

  // A row that may be there: an empty optional otherwise. By name the newest counts.
  Result<std::optional<ModelRow>> find_model(const std::string& digest_or_name) const;
  Result<std::optional<PlanRow>> find_plan(const std::string& name) const;
  Result<std::optional<ProfileRow>> find_profile(const std::string& device, const std::string& signature) const;

  // Lists, oldest first; an empty filter means all.
  Result<std::vector<ModelRow>> models() const;
  Result<std::vector<PlanRow>> plans(std::optional<RowId> model = {}) const;
  Result<std::vector<ClusterRow>> clusters() const;
  Result<std::vector<PredictionRow>> predictions(std::optional<RowId> plan = {}) const;
  Result<std::vector<VerificationRow>> verifications(std::optional<RowId> plan = {}) const;
  Result<std::vector<RunRow>> runs(std::optional<RowId> plan = {}) const;
  Result<std::vector<SpanRow>> spans(RowId run) const;  // by rank, then by start
  Result<std::vector<ProfileRow>> profiles(const std::string& device) const;

  Result<std::vector<PlanRow>> history(RowId plan) const;  // the plan, its parent, … to the first

  Result<Done> check() const;  // reads the whole file; an error if it is damaged

 private:
  Workspace(Database db, const Clock& clock) : db_(std::move(db)), clock_(&clock) {}
  template <class T>
  Result<T> required(Result<std::vector<T>> rows, const char* what, RowId id) const {
    if (!rows.ok()) return rows.diagnostics;
    if (!rows->empty()) return rows->front();
    Diagnostic d = error(std::string("there is no ") + what + " " + std::to_string(id));
    d.file = db_.path();
    return d;
  }

  mutable Database db_;
  const Clock* clock_;
};

}  // namespace planscope
