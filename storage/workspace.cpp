#include "storage/workspace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "storage/schema.h"

namespace planscope {
namespace {

ModelRow read_model(const Row& r) { return {r.integer(0), r.text(1), r.text(2), r.text(3), r.text(4), r.integer(5)}; }
PlanRow read_plan(const Row& r) {
  return {r.integer(0), r.maybe_integer(1), r.maybe_integer(2), r.text(3), r.text(4), r.integer(5), r.text(6)};
}
ClusterRow read_cluster(const Row& r) { return {r.integer(0), r.text(1), r.text(2), r.text(3), r.integer(4)}; }
PredictionRow read_prediction(const Row& r) {
  return {r.integer(0), r.integer(1), r.integer(2), r.text(3), r.integer(4)};
}
VerificationRow read_verification(const Row& r) {
  return {r.integer(0), r.integer(1), r.text(2), r.text(3), r.integer(4)};
}
ProfileRow read_profile(const Row& r) { return {r.integer(0), r.text(1), r.text(2), r.text(3), r.integer(4)}; }

const std::string select_models = "SELECT id, digest, name, path, info, created_us FROM models ";
const std::string select_plans = "SELECT id, model, parent, name, text, created_us, path FROM plans ";
const std::string select_clusters = "SELECT id, digest, name, json, created_us FROM clusters ";
const std::string select_predictions = "SELECT id, plan, cluster, json, created_us FROM predictions ";
const std::string select_verifications = "SELECT id, plan, verdict, json, created_us FROM verifications ";
const std::string select_profiles = "SELECT id, device, signature, json, created_us FROM profiles ";

SqlValue maybe(const std::optional<RowId>& id) { return id ? SqlValue{*id} : SqlValue{nullptr}; }

// An insert with RETURNING id, for rows that are replaced where their key is known.
Result<RowId> put(Database& db, const std::string& sql, const SqlValues& values) {
  Result<std::vector<RowId>> ids = db.select<RowId>(sql, values, [](const Row& r) { return r.integer(0); });
  if (!ids.ok()) return ids.diagnostics;
  return ids->front();
}

template <class T>
Result<std::optional<T>> first(Result<std::vector<T>> rows) {
  if (!rows.ok()) return rows.diagnostics;
  if (rows->empty()) return std::optional<T>{};
  return std::optional<T>{rows->front()};
}

template <class T>
Result<std::vector<T>> list(Database& db, const std::string& select, const char* column,
                            const std::optional<RowId>& filter, T (*read)(const Row&)) {
  if (!filter) return db.select<T>(select + "ORDER BY id", {}, read);
  return db.select<T>(select + "WHERE " + column + " = ? ORDER BY id", {*filter}, read);
}

}  // namespace

namespace {

// A file that is there and may not be written, or lies in a folder where nothing may be made.
bool may_only_be_read(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(path.c_str(), R_OK) != 0) return false;
  return ::access(path.c_str(), W_OK) != 0 || ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0;
}

}  // namespace

namespace {

std::pair<std::uint64_t, std::uint64_t> identity_of(const std::string& path) {
  struct stat s = {};
  return ::stat(path.c_str(), &s) == 0 ? std::pair<std::uint64_t, std::uint64_t>(s.st_dev, s.st_ino)
                                       : std::pair<std::uint64_t, std::uint64_t>(0, 0);
}

}  // namespace

Workspace::Workspace(Database db, const Clock& clock)
    : db_(std::move(db)), clock_(&clock), identity_(identity_of(db_.path())) {}

std::int64_t Workspace::changes_by_others() const {
  const Result<std::vector<std::int64_t>> r =
      db_.select<std::int64_t>("PRAGMA data_version", {}, [](const Row& row) { return row.integer(0); });
  return r.ok() && !r->empty() ? r->front() : 0;
}

bool Workspace::is_gone() const { return identity_.second != 0 && identity_of(db_.path()) != identity_; }

Result<Workspace> Workspace::open(const std::string& path, const Clock& clock, const WorkspaceSettings& settings) {
  if (may_only_be_read(path)) {
    Result<Database> db = Database::open_read_only(path, settings.patience);
    if (!db.ok()) return db.diagnostics;
    if (Result<Done> r = check_version(*db, workspace_migrations()); !r.ok()) return r.diagnostics;
    return Workspace(std::move(*db), clock);
  }
  Result<Database> db = Database::open(path, settings.patience);
  if (!db.ok()) return db.diagnostics;
  // The order matters: nothing is written to a file before it is known to be ours, and a migration may make a table anew that
  // others refer to.
  if (Result<Done> r = db->execute("PRAGMA foreign_keys = OFF"); !r.ok()) return r.diagnostics;
  if (Result<Done> r = migrate(*db, workspace_migrations(), clock); !r.ok()) return r.diagnostics;
  if (Result<Done> r = db->execute("PRAGMA foreign_keys = ON"); !r.ok()) return r.diagnostics;
  if (Result<Done> r = db->execute("PRAGMA journal_mode = WAL"); !r.ok()) return r.diagnostics;
  if (Result<Done> r = db->execute("PRAGMA synchronous = FULL"); !r.ok()) return r.diagnostics;
  return Workspace(std::move(*db), clock);
}

Result<RowId> Workspace::put_model(const ModelRow& m) {
  return put(db_,
             "INSERT INTO models(digest, name, path, info, created_us) VALUES (?, ?, ?, ?, ?) "
             "ON CONFLICT(digest) DO UPDATE SET path = excluded.path, info = excluded.info "
             "RETURNING id",
             {m.digest, m.name, m.path, m.info, clock_->wall_us()});
}

Result<RowId> Workspace::put_cluster(const ClusterRow& c) {
  return put(db_,
             "INSERT INTO clusters(digest, name, json, created_us) VALUES (?, ?, ?, ?) "
             "ON CONFLICT(digest) DO UPDATE SET json = excluded.json RETURNING id",
             {c.digest, c.name, c.json, clock_->wall_us()});
}

Result<RowId> Workspace::put_profile(const ProfileRow& p) {
  return put(db_,
             "INSERT INTO profiles(device, signature, json, created_us) VALUES (?, ?, ?, ?) "
             "ON CONFLICT(device, signature) DO UPDATE SET json = excluded.json, created_us = excluded.created_us "
             "RETURNING id",
             {p.device, p.signature, p.json, clock_->wall_us()});
}

Result<std::string> Workspace::measurements() const {
  const Result<std::vector<std::string>> all = db_.select<std::string>(
      "SELECT count(*) || '-' || max(id) || '-' || max(created_us) FROM profiles HAVING count(*) > 0", {},
      [](const Row& r) { return r.text(0); });
  if (!all.ok()) return all.diagnostics;
  return all->empty() ? std::string() : all->front();
}

Result<std::vector<ProfiledDevice>> Workspace::profiled_devices() const {
  return db_.select<ProfiledDevice>("SELECT min(id), device, count(*) FROM profiles GROUP BY device ORDER BY device",
                                    {}, [](const Row& r) {
                                      return ProfiledDevice{r.integer(0), r.text(1), r.integer(2)};
                                    });
}

Result<RowId> Workspace::put_draft(const DraftRow& d) {
  const SqlValues values = {d.model, d.name, d.path, d.cluster, maybe(d.version), d.text, d.process.boot, d.process.pid,
                            d.process.start, clock_->wall_us(),
                            d.saved ? SqlValue(*d.saved) : SqlValue()};
  if (d.id == 0)
    return db_.insert(
        "INSERT INTO drafts(model, name, path, cluster, version, text, boot, process, process_start, written_us, saved) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        values);
  SqlValues all = values;
  all.insert(all.begin(), d.id);
  return put(db_,
             "INSERT OR REPLACE INTO drafts(id, model, name, path, cluster, version, text, boot, process, process_start, "
             "written_us, saved) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
             all);
}

Result<Done> Workspace::remove_draft(RowId id) { return db_.execute("DELETE FROM drafts WHERE id = ?", {id}); }

Result<std::vector<DraftRow>> Workspace::drafts() const {
  return db_.select<DraftRow>(
      "SELECT id, model, name, path, cluster, version, text, boot, process, process_start, written_us, saved FROM "
      "drafts ORDER BY id",
      {}, [](const Row& r) {
        return DraftRow{r.integer(0), r.text(1), r.text(2), r.text(3), r.text(4), r.maybe_integer(5), r.text(6),
                        {r.text(7), r.integer(8), r.integer(9)}, r.integer(10), r.maybe_text(11)};
      });
}

Result<RowId> Workspace::add_plan(const PlanRow& p) {
  return db_.insert("INSERT INTO plans(model, parent, name, text, created_us, path) VALUES (?, ?, ?, ?, ?, ?)",
                    {maybe(p.model), maybe(p.parent), p.name, p.text, clock_->wall_us(), p.path});
}

Result<RowId> Workspace::add_prediction(const PredictionRow& p) {
  return db_.insert("INSERT INTO predictions(plan, cluster, json, created_us) VALUES (?, ?, ?, ?)",
                    {p.plan, p.cluster, p.json, clock_->wall_us()});
}

Result<RowId> Workspace::add_verification(const VerificationRow& v) {
  return db_.insert("INSERT INTO verifications(plan, verdict, json, created_us) VALUES (?, ?, ?, ?)",
                    {v.plan, v.verdict, v.json, clock_->wall_us()});
}

bool is_locked(const std::vector<Diagnostic>& ds) {
  return std::any_of(ds.begin(), ds.end(), [](const Diagnostic& d) { return d.why == Database::locked; });
}

Result<RecordedRows> Workspace::add(const Recording& r) {
  RecordedRows rows;
  const Result<Done> done = db_.transaction([&] { return add_in_transaction(r, rows); });
  if (!done.ok()) return done.diagnostics;
  return rows;
}

Result<Done> Workspace::add_in_transaction(const Recording& r, RecordedRows& rows) {
  if (!r.model.digest.empty()) {
    const Result<RowId> id = put_model(r.model);
    if (!id.ok()) return id.diagnostics;
    rows.model = *id;
  }
  const Result<RowId> cluster = put_cluster(r.cluster);
  if (!cluster.ok()) return cluster.diagnostics;
  rows.cluster = *cluster;
  if (Result<Done> d = add_plan_of(r, rows); !d.ok()) return d;
  if (Result<Done> d = add_found(r, rows); !d.ok()) return d;
  return r.run ? add_run(r, rows) : Done{};
}

Result<Done> Workspace::add_plan_of(const Recording& r, RecordedRows& rows) {
  if (r.plan.id) {
    const Result<PlanRow> row = plan(r.plan.id);
    if (!row.ok()) return row.diagnostics;
    rows.plan = row->id;
    return Done{};
  }
  const auto known = find_plan(r.plan.name);
  if (!known.ok()) return known.diagnostics;
  const bool same_model = known->has_value() && (!rows.model || (*known)->model == rows.model);
  if (same_model && (*known)->text == r.plan.text) {
    rows.plan = (*known)->id;
  } else {
    PlanRow row = r.plan;
    if (rows.model) row.model = rows.model;
    if (same_model) row.parent = (*known)->id;
    const Result<RowId> id = add_plan(row);
    if (!id.ok()) return id.diagnostics;
    rows.plan = *id;
  }
  return Done{};
}

Result<Done> Workspace::add_found(const Recording& r, const RecordedRows& rows) {
  if (r.prediction) {
    PredictionRow row = *r.prediction;
    row.plan = rows.plan;
    row.cluster = rows.cluster;
    if (const Result<RowId> id = add_prediction(row); !id.ok()) return id.diagnostics;
  }
  if (r.verification) {
    VerificationRow row = *r.verification;
    row.plan = rows.plan;
    if (const Result<RowId> id = add_verification(row); !id.ok()) return id.diagnostics;
  }
  return Done{};
}

Result<ModelRow> Workspace::model(RowId id) const {
  return required(db_.select<ModelRow>(select_models + "WHERE id = ?", {id}, read_model), "model", id);
}
Result<PlanRow> Workspace::plan(RowId id) const {
  return required(db_.select<PlanRow>(select_plans + "WHERE id = ?", {id}, read_plan), "plan", id);
}
Result<ClusterRow> Workspace::cluster(RowId id) const {
  return required(db_.select<ClusterRow>(select_clusters + "WHERE id = ?", {id}, read_cluster), "cluster", id);
}

Result<std::optional<ModelRow>> Workspace::find_model(const std::string& key) const {
  return first(db_.select<ModelRow>(select_models + "WHERE digest = ?1 OR name = ?1 ORDER BY digest = ?1 DESC, id DESC "
                                                    "LIMIT 1",
                                    {key}, read_model));
}
Result<std::optional<ClusterRow>> Workspace::find_cluster(const std::string& name) const {
  return first(
      db_.select<ClusterRow>(select_clusters + "WHERE name = ? ORDER BY id DESC LIMIT 1", {name}, read_cluster));
}
Result<std::optional<PlanRow>> Workspace::find_plan(const std::string& name) const {
  return first(db_.select<PlanRow>(select_plans + "WHERE name = ? ORDER BY id DESC LIMIT 1", {name}, read_plan));
}
Result<std::optional<ProfileRow>> Workspace::find_profile(const std::string& device,
                                                          const std::string& signature) const {
  return first(db_.select<ProfileRow>(select_profiles + "WHERE device = ? AND signature = ?", {device, signature},
                                      read_profile));
}

Result<std::vector<ModelRow>> Workspace::models() const { return list(db_, select_models, "", {}, read_model); }
Result<std::vector<PlanRow>> Workspace::plans(std::optional<RowId> model) const {
  return list(db_, select_plans, "model", model, read_plan);
}
Result<std::vector<ClusterRow>> Workspace::clusters() const { return list(db_, select_clusters, "", {}, read_cluster); }
Result<std::vector<PredictionRow>> Workspace::predictions(std::optional<RowId> plan) const {
  return list(db_, select_predictions, "plan", plan, read_prediction);
}
Result<std::vector<VerificationRow>> Workspace::verifications(std::optional<RowId> plan) const {
  return list(db_, select_verifications, "plan", plan, read_verification);
}
Result<std::vector<ProfileRow>> Workspace::profiles(const std::string& device) const {
  return db_.select<ProfileRow>(select_profiles + "WHERE device = ? ORDER BY id", {device}, read_profile);
}

Result<std::vector<PlanRow>> Workspace::history(RowId id) const {
  if (Result<PlanRow> newest = plan(id); !newest.ok()) return newest.diagnostics;
  // A parent is stored before its child, so its id is smaller: descending ids are the line of descent.
  return db_.select<PlanRow>(
      "WITH RECURSIVE line(id, parent) AS (SELECT id, parent FROM plans WHERE id = ?1 "
      "UNION SELECT p.id, p.parent FROM plans p JOIN line ON p.id = line.parent) " +
          select_plans + "WHERE id IN (SELECT id FROM line) ORDER BY id DESC",
      {id}, read_plan);
}

Result<Done> Workspace::check() const {
  Result<std::vector<std::string>> findings =
      db_.select<std::string>("PRAGMA integrity_check(1)", {}, [](const Row& r) { return r.text(0); });
  if (!findings.ok()) return findings.diagnostics;
  if (findings->size() == 1 && findings->front() == "ok") return Done{};
  Diagnostic d = error("the workspace is damaged", findings->empty() ? "" : findings->front(),
                       "restore a copy, or move it away and start a new workspace");
  d.file = db_.path();
  return d;
}

}  // namespace planscope
