// Names, notes and deletion of what is in a workspace.
#include <array>

#include "storage/workspace.h"

namespace planscope {
namespace {

constexpr std::array<std::string_view, 6> kind_names = {"model", "plan", "version", "run", "cluster", "profile"};

// As labels know it: a plan is noted at its versions.
std::string label_kind(EntryKind k) { return std::string(to_string(k == EntryKind::plan ? EntryKind::version : k)); }

Result<std::vector<RowId>> ids(Database& db, const std::string& sql, const SqlValues& values) {
  return db.select<RowId>(sql, values, [](const Row& r) { return r.integer(0); });
}

Result<std::int64_t> count(Database& db, const std::string& sql, const SqlValues& values) {
  const Result<std::vector<RowId>> n = ids(db, "SELECT count(*) FROM " + sql, values);
  if (!n.ok()) return n.diagnostics;
  return n->front();
}

const char* table_of(EntryKind k) {
  switch (k) {
    case EntryKind::model:
      return "models";
    case EntryKind::plan:
    case EntryKind::version:
      return "plans";
    case EntryKind::run:
      return "runs";
    case EntryKind::cluster:
      return "clusters";
    case EntryKind::profile:
      return "profiles";
  }
  return "plans";
}

Result<Done> in_order(Database& db, const std::vector<std::pair<const char*, SqlValues>>& statements) {
  for (const auto& [sql, values] : statements)
    if (Result<Done> done = db.execute(sql, values); !done.ok()) return done;
  return Done{};
}

// The row must be there.
Result<Done> known(Database& db, EntryKind kind, RowId id) {
  const Result<std::int64_t> rows = count(db, std::string(table_of(kind)) + " WHERE id = ?", {id});
  if (!rows.ok()) return rows.diagnostics;
  if (*rows == 1) return Done{};
  Diagnostic d = error("there is no " + std::string(to_string(kind)) + " " + std::to_string(id));
  d.file = db.path();
  return d;
}

Result<Done> remove_run(Database& db, RowId id) {
  return in_order(db, {{"DELETE FROM spans WHERE run = ?", {id}},
                       {"DELETE FROM labels WHERE kind = 'run' AND id = ?", {id}},
                       {"DELETE FROM runs WHERE id = ?", {id}}});
}

Result<Done> remove_version(Database& db, RowId id) {
  const Result<std::vector<RowId>> runs = ids(db, "SELECT id FROM runs WHERE plan = ?", {id});
  if (!runs.ok()) return runs.diagnostics;
  for (const RowId run : *runs)
    if (Result<Done> done = remove_run(db, run); !done.ok()) return done;
  return in_order(db, {{"UPDATE drafts SET version = NULL WHERE version = ?", {id}},
                       {"UPDATE plans SET parent = (SELECT parent FROM plans WHERE id = ?1) WHERE parent = ?1", {id}},
                       {"DELETE FROM predictions WHERE plan = ?", {id}},
                       {"DELETE FROM verifications WHERE plan = ?", {id}},
                       {"DELETE FROM labels WHERE kind = 'version' AND id = ?", {id}},
                       {"DELETE FROM plans WHERE id = ?", {id}}});
}

}  // namespace

std::string_view to_string(EntryKind k) { return kind_names[static_cast<std::size_t>(k)]; }

std::optional<EntryKind> entry_kind(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (name == kind_names[i]) return static_cast<EntryKind>(i);
  return std::nullopt;
}

Result<Done> Workspace::put_label(const LabelRow& l) {
  if (Result<Done> row = known(db_, l.kind, l.id); !row.ok()) return row;
  const std::string kind = label_kind(l.kind);
  if (l.name.empty() && l.note.empty())
    return db_.execute("DELETE FROM labels WHERE kind = ? AND id = ?", {kind, l.id});
  return db_.execute("INSERT OR REPLACE INTO labels(kind, id, name, note) VALUES (?, ?, ?, ?)",
                     {kind, l.id, l.name, l.note});
}

Result<std::vector<LabelRow>> Workspace::labels() const {
  return db_.select<LabelRow>("SELECT kind, id, name, note FROM labels ORDER BY kind, id", {}, [](const Row& r) {
    return LabelRow{entry_kind(r.text(0)).value_or(EntryKind::version), r.integer(1), r.text(2), r.text(3)};
  });
}

Result<Done> Workspace::rename(EntryKind kind, RowId id, const std::string& name) {
  return db_.transaction([&]() -> Result<Done> {
    if (Result<Done> row = known(db_, kind, id); !row.ok()) return row;
    if (kind == EntryKind::model) return db_.execute("UPDATE models SET name = ? WHERE id = ?", {name, id});
    const bool of_cluster = kind == EntryKind::cluster;
    if (of_cluster || kind == EntryKind::plan) {
      const std::string others =
          of_cluster ? "clusters WHERE name = ?1 AND id != ?2"
                     : "plans WHERE name = ?1 AND EXISTS (SELECT 1 FROM plans p WHERE p.id = ?2 AND p.model IS "
                       "plans.model AND p.name != ?1)";
      const Result<std::int64_t> taken = count(db_, others, {name, id});
      if (!taken.ok()) return taken.diagnostics;
      if (*taken > 0)
        return error("there is a " + std::string(to_string(kind)) + " '" + name + "' already", "",
                     "choose another name");
      if (of_cluster) return db_.execute("UPDATE clusters SET name = ? WHERE id = ?", {name, id});
      const Result<std::vector<RowId>> versions = versions_with(kind, id);
      if (!versions.ok()) return versions.diagnostics;
      return db_.execute_many("UPDATE plans SET name = ? WHERE id = ?", versions->size(),
                              [&](std::size_t i) -> SqlValues {
                                return {name, (*versions)[i]};
                              });
    }
    return db_.execute(
        "INSERT INTO labels(kind, id, name, note) VALUES (?, ?, ?, '') ON CONFLICT(kind, id) DO UPDATE SET name = "
        "excluded.name",
        {label_kind(kind), id, name});
  });
}

// The versions that go with a row; ascending.
Result<std::vector<RowId>> Workspace::versions_with(EntryKind kind, RowId id) const {
  if (kind == EntryKind::version) return std::vector<RowId>{id};
  if (kind == EntryKind::plan)
    return ids(db_,
               "WITH RECURSIVE same(id, name, model, parent) AS (SELECT id, name, model, parent FROM plans WHERE id = ? "
               "UNION SELECT v.id, v.name, v.model, v.parent FROM plans v JOIN same s ON v.name = s.name AND v.model IS s.model "
               "AND (v.parent = s.id OR v.id = s.parent)) SELECT id FROM same ORDER BY id",
               {id});
  if (kind == EntryKind::model) return ids(db_, "SELECT id FROM plans WHERE model = ? ORDER BY id", {id});
  return std::vector<RowId>{};
}

Result<RemovedRows> Workspace::goes_with(EntryKind kind, RowId id) const {
  if (const Result<Done> row = known(db_, kind, id); !row.ok()) return row.diagnostics;
  const Result<std::vector<RowId>> versions = versions_with(kind, id);
  if (!versions.ok()) return versions.diagnostics;
  RemovedRows out;
  out.versions = static_cast<std::int64_t>(versions->size());
  const auto add = [&](std::int64_t& to, const std::string& sql, const SqlValues& values) -> Result<Done> {
    const Result<std::int64_t> n = count(db_, sql, values);
    if (!n.ok()) return n.diagnostics;
    to += *n;
    return Done{};
  };
  for (const RowId v : *versions) {
    if (Result<Done> d = add(out.runs, "runs WHERE plan = ?", {v}); !d.ok()) return d.diagnostics;
    if (Result<Done> d = add(out.predictions, "predictions WHERE plan = ?", {v}); !d.ok()) return d.diagnostics;
  }
  Result<Done> d = Done{};
  if (kind == EntryKind::run) out.runs = 1;
  if (kind == EntryKind::cluster) d = add(out.predictions, "predictions WHERE cluster = ?", {id});
  if (kind == EntryKind::profile)
    d = add(out.profiles, "profiles WHERE device = (SELECT device FROM profiles WHERE id = ?)", {id});
  if (!d.ok()) return d.diagnostics;
  return out;
}

Result<Done> Workspace::remove_versions(const std::vector<RowId>& versions) {
  for (auto v = versions.rbegin(); v != versions.rend(); ++v)
    if (Result<Done> done = remove_version(db_, *v); !done.ok()) return done;
  return Done{};
}

Result<Done> Workspace::remove(EntryKind kind, RowId id) {
  return db_.transaction([&]() -> Result<Done> {
    if (Result<Done> row = known(db_, kind, id); !row.ok()) return row;
    if (kind == EntryKind::run) return remove_run(db_, id);
    if (kind == EntryKind::cluster)
      return in_order(db_, {{"DELETE FROM predictions WHERE cluster = ?", {id}},
                            {"DELETE FROM labels WHERE kind = 'cluster' AND id = ?", {id}},
                            {"DELETE FROM clusters WHERE id = ?", {id}}});
    if (kind == EntryKind::profile)
      return in_order(db_, {{"DELETE FROM labels WHERE kind = 'profile' AND id = ?", {id}},
                            {"DELETE FROM profiles WHERE device = (SELECT device FROM profiles WHERE id = ?)", {id}}});
    const Result<std::vector<RowId>> versions = versions_with(kind, id);
    if (!versions.ok()) return versions.diagnostics;
    if (Result<Done> done = remove_versions(*versions); !done.ok() || kind != EntryKind::model) return done;
    return in_order(
        db_, {{"DELETE FROM labels WHERE kind = 'model' AND id = ?", {id}}, {"DELETE FROM models WHERE id = ?", {id}}});
  });
}

}  // namespace planscope
