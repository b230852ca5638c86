#include "storage/schema.h"

namespace planscope {
namespace {

constexpr Migration migrations[] = {
    {1, "models, plans, clusters, predictions, verifications, runs, spans, profiles", R"sql(
CREATE TABLE models(
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,           -- of the file's content
  name TEXT NOT NULL,
  path TEXT NOT NULL,                    -- where it was last seen
  info TEXT NOT NULL CHECK(json_valid(info)),
  created_us INTEGER NOT NULL
) STRICT;
CREATE TABLE plans(
  id INTEGER PRIMARY KEY,
  model INTEGER REFERENCES models(id),
  parent INTEGER REFERENCES plans(id),   -- the plan that this one was edited from
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX plans_by_name ON plans(name, id);
CREATE INDEX plans_by_parent ON plans(parent);
CREATE TABLE clusters(
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  json TEXT NOT NULL CHECK(json_valid(json)),
  created_us INTEGER NOT NULL
) STRICT;
CREATE TABLE predictions(
  id INTEGER PRIMARY KEY,
  plan INTEGER NOT NULL REFERENCES plans(id),
  cluster INTEGER NOT NULL REFERENCES clusters(id),
  json TEXT NOT NULL CHECK(json_valid(json)),
  created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX predictions_by_plan ON predictions(plan);
CREATE TABLE verifications(
  id INTEGER PRIMARY KEY,
  plan INTEGER NOT NULL REFERENCES plans(id),
  verdict TEXT NOT NULL,
  json TEXT NOT NULL CHECK(json_valid(json)),
  created_us INTEGER NOT NULL
) STRICT;
CREATE INDEX verifications_by_plan ON verifications(plan);
CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  plan INTEGER NOT NULL REFERENCES plans(id),
  ranks INTEGER NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('running', 'done', 'failed', 'interrupted')),
  process INTEGER NOT NULL,              -- id of the process that runs it
  started_us INTEGER NOT NULL,
  ended_us INTEGER,
  result TEXT CHECK(result IS NULL OR json_valid(result))
) STRICT;
CREATE INDEX runs_by_plan ON runs(plan);
CREATE TABLE spans(
  run INTEGER NOT NULL REFERENCES runs(id),
  rank INTEGER NOT NULL,
  step INTEGER NOT NULL,
  instruction INTEGER NOT NULL,
  kind TEXT NOT NULL,
  start_us REAL NOT NULL,                -- since the run began
  dur_us REAL NOT NULL
) STRICT;
CREATE INDEX spans_by_run ON spans(run, rank, start_us);
CREATE TABLE profiles(
  id INTEGER PRIMARY KEY,
  device TEXT NOT NULL,
  signature TEXT NOT NULL,               -- of the operator: target, shapes, types
  json TEXT NOT NULL CHECK(json_valid(json)),
  created_us INTEGER NOT NULL,
  UNIQUE(device, signature)
) STRICT;
)sql"},
    {2, "which process a run belongs to: its number is given to others later", R"sql(
ALTER TABLE runs ADD COLUMN boot TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN process_start INTEGER NOT NULL DEFAULT 0;
)sql"},
    {3, "what is being edited and not kept yet", R"sql(
CREATE TABLE drafts(
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,                   -- path
  name TEXT NOT NULL,                    -- of the plan
  path TEXT NOT NULL,                    -- of its file
  cluster TEXT NOT NULL,
  version INTEGER REFERENCES plans(id),  -- the kept plan that it was edited from
  text TEXT NOT NULL,
  boot TEXT NOT NULL,                    -- of the process that edits it, with the next two
  process INTEGER NOT NULL,
  process_start INTEGER NOT NULL,
  written_us INTEGER NOT NULL
) STRICT;
)sql"},
    {4, "names and notes that a person gives to what is in the workspace", R"sql(
CREATE TABLE labels(
  kind TEXT NOT NULL CHECK(kind IN ('model', 'version', 'run', 'cluster', 'profile')),
  id INTEGER NOT NULL,                   -- of the row; of a profile: of the device's first one
  name TEXT NOT NULL,                    -- of versions and runs, that have no other one
  note TEXT NOT NULL,
  PRIMARY KEY(kind, id)
) STRICT;
)sql"},
    {5, "what a draft's file held when the draft began from it", R"sql(
ALTER TABLE drafts ADD COLUMN saved TEXT;  -- NULL: there was no file
)sql"},
    // What another program has open by its number must not become something else. Foreign keys are not enforced here.
    {6, "the number of a deleted plan or run is never given to another one; a plan has the file that it was kept of", R"sql(
CREATE TABLE new_plans(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  model INTEGER REFERENCES models(id),
  parent INTEGER REFERENCES plans(id) CHECK(parent < id),  -- the plan that this one was edited from
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  path TEXT NOT NULL DEFAULT ''          -- of the file that it was kept of; empty: of none, or that is not known
) STRICT;
INSERT INTO new_plans SELECT id, model, iif(parent < id, parent, NULL), name, text, created_us, '' FROM plans;
DROP TABLE plans;
ALTER TABLE new_plans RENAME TO plans;
CREATE INDEX plans_by_name ON plans(name, id);
CREATE INDEX plans_by_parent ON plans(parent);
CREATE TABLE new_runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  plan INTEGER NOT NULL REFERENCES plans(id),
  ranks INTEGER NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('running', 'done', 'failed', 'interrupted')),
  process INTEGER NOT NULL,              -- id of the process that runs it, with the last two
  started_us INTEGER NOT NULL,
  ended_us INTEGER,
  result TEXT CHECK(result IS NULL OR json_valid(result)),
  boot TEXT NOT NULL DEFAULT '',
  process_start INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO new_runs SELECT id, plan, ranks, status, process, started_us, ended_us, result, boot, process_start FROM runs;
DROP TABLE runs;
ALTER TABLE new_runs RENAME TO runs;
CREATE INDEX runs_by_plan ON runs(plan);
)sql"},
};

Result<std::int64_t> scalar(Database& db, const std::string& sql) {
  Result<std::vector<std::int64_t>> r = db.select<std::int64_t>(sql, {}, [](const Row& row) { return row.integer(0); });
  if (!r.ok()) return r.diagnostics;
  return r->empty() ? 0 : r->front();
}

Diagnostic refusal(const Database& db, std::string why, std::string hint) {
  Diagnostic d = error("the workspace cannot be used", std::move(why), std::move(hint));
  d.file = db.path();
  return d;
}

Result<Done> apply(Database& db, const Migration& m, const Clock& clock) {
  if (Result<Done> r = db.execute_script(m.sql); !r.ok()) return r;
  if (Result<Done> r = db.execute("INSERT INTO migrations(version, about, applied_us) VALUES (?, ?, ?)",
                                  {std::int64_t{m.version}, std::string(m.about), clock.wall_us()});
      !r.ok()) {
    return r;
  }
  return db.execute("PRAGMA user_version = " + std::to_string(m.version));
}

// Inside the transaction: what kind of file is this, and which version does it have?
Result<Done> bring_up_to_date(Database& db, std::span<const Migration> list, const Clock& clock) {
  const Result<std::int64_t> application = scalar(db, "PRAGMA application_id");
  const Result<std::int64_t> version = scalar(db, "PRAGMA user_version");
  const Result<std::int64_t> tables = scalar(db, "SELECT count(*) FROM sqlite_schema");
  for (const auto* r : {&application, &version, &tables}) {
    if (!r->ok()) return r->diagnostics;
  }
  const bool is_new = *tables == 0 && *application == 0 && *version == 0;
  if (!is_new && *application != workspace_application_id) {
    return refusal(db, "it is a SQLite file of another program", "choose another file name");
  }
  const int newest = list.back().version;
  if (*version > newest) {
    return refusal(
        db, "it has version " + std::to_string(*version) + ", this program knows up to " + std::to_string(newest),
        "use a newer planscope");
  }
  if (is_new) {
    Result<Done> r = db.execute_script("PRAGMA application_id = " + std::to_string(workspace_application_id) +
                                       ";CREATE TABLE migrations(version INTEGER PRIMARY KEY, about TEXT NOT NULL, "
                                       "applied_us INTEGER NOT NULL) STRICT");
    if (!r.ok()) return r;
  }
  for (const Migration& m : list) {
    if (m.version <= *version) continue;
    if (Result<Done> r = apply(db, m, clock); !r.ok()) return r;
  }
  return Done{};
}

}  // namespace

std::span<const Migration> workspace_migrations() { return migrations; }

Result<Done> check_version(Database& db, std::span<const Migration> list) {
  const Result<std::int64_t> application = scalar(db, "PRAGMA application_id");
  const Result<std::int64_t> version = scalar(db, "PRAGMA user_version");
  for (const auto* r : {&application, &version})
    if (!r->ok()) return r->diagnostics;
  if (*application != workspace_application_id)
    return refusal(db, "it is a SQLite file of another program", "choose another file name");
  const std::string newest = std::to_string(list.back().version);
  if (*version > list.back().version)
    return refusal(db, "it has version " + std::to_string(*version) + ", this program knows up to " + newest,
                   "use a newer planscope");
  if (*version < list.back().version)
    return refusal(db, "it has version " + std::to_string(*version) + " and may not be written, so that it cannot become version " + newest,
                   "use a copy of it");
  return Done{};
}

Result<Done> migrate(Database& db, std::span<const Migration> list, const Clock& clock) {
  if (check_version(db, list).ok()) return Done{};  // whoever only reads needs no lock
  return db.transaction([&] { return bring_up_to_date(db, list, clock); });
}

}  // namespace planscope
