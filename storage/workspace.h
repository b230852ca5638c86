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
//   auto run = w->start_run(*plan, 4, this_process());
//   w->add_spans(*run, spans);
//   w->end_run(*run, RunStatus::done, "{\"step_us\": [1200]}");
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/diagnostic.h"
#include "storage/database.h"
#include "storage/recording.h"
#include "storage/rows.h"

namespace planscope {

struct WorkspaceSettings {
  std::chrono::milliseconds patience{2000};  // how long to wait for another program's lock
};

struct RecordedRows {
  RowId model = 0, plan = 0, cluster = 0;  // 0: not known
  RowId run = 0;
};

// Whether another program has the workspace: it may be free later.
bool is_locked(const std::vector<Diagnostic>&);

class Workspace {
 public:
  // Creates the file if there is none; brings an older one up to date. One that may only be read is read; nothing can be added. The clock must outlive the workspace.
  static Result<Workspace> open(const std::string& path, const Clock& clock, const WorkspaceSettings& settings = {});

  // put: adds the row or, where the key is known, replaces the rest of it; the id stays, and the name, which may have been changed.
  Result<RowId> put_model(const ModelRow&);
  Result<RowId> put_cluster(const ClusterRow&);
  Result<RowId> put_profile(const ProfileRow&);

  Result<RowId> add_plan(const PlanRow&);
  Result<RowId> add_prediction(const PredictionRow&);
  Result<RowId> add_verification(const VerificationRow&);

  // A draft without an id is added; with one, replaced. Returns the id.
  Result<RowId> put_draft(const DraftRow&);
  Result<Done> remove_draft(RowId);  // fine where there is none
  Result<std::vector<DraftRow>> drafts() const;  // oldest first

  // All of a recording, or nothing of it: the model and the cluster are put; the plan is added unless the newest of its name is the
  // same, as a child of that; the rest is added. A run that has an id is ended.
  Result<RecordedRows> add(const Recording&);

  Result<RowId> start_run(RowId plan, int ranks, const ProcessIdentity&);
  Result<Done> add_spans(RowId run, const std::vector<SpanRow>& spans);  // one transaction; call it with thousands
  Result<Done> end_run(RowId run, RunStatus status, const std::string& result_json);
  // Runs whose process is gone without having ended them become `interrupted`; their spans stay. Returns how many.
  Result<std::int64_t> close_abandoned_runs(const std::function<bool(const ProcessIdentity&)>& is_alive);

  // A row that must be there: an error otherwise.
  Result<ModelRow> model(RowId) const;
  Result<PlanRow> plan(RowId) const;
  Result<ClusterRow> cluster(RowId) const;
  Result<RunRow> run(RowId) const;

  // A row that may be there: an empty optional otherwise. By name the newest counts.
  Result<std::optional<ModelRow>> find_model(const std::string& digest_or_name) const;
  Result<std::optional<PlanRow>> find_plan(const std::string& name) const;
  Result<std::optional<ClusterRow>> find_cluster(const std::string& name) const;
  Result<std::optional<ProfileRow>> find_profile(const std::string& device, const std::string& signature) const;

  // Lists, oldest first; an empty filter means all.
  Result<std::vector<ModelRow>> models() const;
  Result<std::vector<PlanRow>> plans(std::optional<RowId> model = {}) const;
  Result<std::vector<ClusterRow>> clusters() const;
  Result<std::vector<PredictionRow>> predictions(std::optional<RowId> plan = {}) const;
  Result<std::vector<VerificationRow>> verifications(std::optional<RowId> plan = {}) const;
  Result<std::vector<RunRow>> runs(std::optional<RowId> plan = {}) const;
  Result<std::vector<SpanRow>> spans(RowId run) const;  // by rank, then by start
  Result<std::vector<SpanRow>> spans(RowId run, int step) const;  // of one step
  Result<std::vector<ProfileRow>> profiles(const std::string& device) const;

  Result<std::vector<ProfiledDevice>> profiled_devices() const;
  Result<std::string> measurements() const;  // a short name of all profiles as they are now; empty: there are none

  // Names and notes. A label without a name and a note is removed. To rename a model, a plan or a cluster changes its own name; of a
  // plan, that of all its versions. Errors: the row is not there; another plan of the model, or another cluster, has the name.
  Result<Done> put_label(const LabelRow&);
  Result<std::vector<LabelRow>> labels() const;
  Result<Done> rename(EntryKind, RowId, const std::string& name);

  // Deletes a row with all that belongs to it: of a model its plans, of a plan its versions, of a version its runs, predictions and
  // verdicts (versions that were edited from it are then of the one before it), of a cluster the predictions on it.
  Result<RemovedRows> goes_with(EntryKind, RowId) const;  // what would be deleted, the row itself counted
  Result<Done> remove(EntryKind, RowId);

  Result<std::vector<PlanRow>> history(RowId plan) const;  // the plan, its parent, … to the first

  const std::string& file() const { return db_.path(); }
  bool is_gone() const;  // the file was deleted, moved or replaced since it was opened: what is written now is lost
  std::int64_t changes_by_others() const;  // another number once another connection has written to the file
  Result<Done> check() const;  // reads the whole file; an error if it is damaged

 private:
  Workspace(Database db, const Clock& clock);
  template <class T>
  Result<T> required(Result<std::vector<T>> rows, const char* what, RowId id) const {
    if (!rows.ok()) return rows.diagnostics;
    if (!rows->empty()) return rows->front();
    Diagnostic d = error(std::string("there is no ") + what + " " + std::to_string(id));
    d.file = db_.path();
    return d;
  }

  Result<Done> insert_spans(RowId run, const std::vector<SpanRow>&);
  Result<std::vector<RowId>> versions_with(EntryKind, RowId) const;
  Result<Done> remove_versions(const std::vector<RowId>&);
  Result<Done> add_in_transaction(const Recording&, RecordedRows&);
  Result<Done> add_plan_of(const Recording&, RecordedRows&);
  Result<Done> add_found(const Recording&, const RecordedRows&);
  Result<Done> add_run(const Recording&, RecordedRows&);

  mutable Database db_;
  const Clock* clock_;
  std::pair<std::uint64_t, std::uint64_t> identity_;  // of the file: device and inode
};

}  // namespace planscope
