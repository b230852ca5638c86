// Names, notes, search and deletion of what the workspace holds.
#include <algorithm>

#include "app/session/core.h"
#include "engine/base/text.h"
#include "engine/cluster/fields.h"

namespace planscope::session {

namespace {

struct Entry {
  EntryKind kind = EntryKind::plan;
  RowId id = 0;
  std::string words() const { return std::string(to_string(kind)) + " " + std::to_string(id); }
};

Result<Entry> entry(const Core& c, const Invocation& i) {
  if (!c.workspace) return error("there is no workspace");
  const std::optional<EntryKind> kind = entry_kind(i.get("kind"));
  if (!kind)
    return error("the workspace holds no '" + printable(i.get("kind")) + "'", "",
                 "model, plan, version, run, cluster or profile");
  return Entry{*kind, std::stoll(i.get("number"))};
}

LabelRow label_of(const Workspace& w, const Entry& e) {
  const EntryKind kind = e.kind == EntryKind::plan ? EntryKind::version : e.kind;
  if (const Result<std::vector<LabelRow>> all = w.labels(); all.ok())
    for (const LabelRow& l : *all)
      if (l.kind == kind && l.id == e.id) return l;
  return {.kind = kind, .id = e.id};
}

Result<Done> changed(Core& c, const Result<Done>& done) {
  if (!done.ok()) return c.failed(done.diagnostics);
  c.read_all();
  return Done{};
}

Result<Done> rename(Core& c, const Invocation& i) {
  const Result<Entry> e = entry(c, i);
  if (!e.ok()) return e.diagnostics;
  const std::string name(i.get("name"));
  if (e->kind == EntryKind::profile)
    return error("a profile has the name of its device", "", "note " + e->words() + " TEXT");
  if (name.empty() && e->kind != EntryKind::version && e->kind != EntryKind::run)
    return error("a " + i.get("kind") + " needs a name");
  return changed(c, c.workspace->rename(e->kind, e->id, name));
}

Result<Done> note(Core& c, const Invocation& i) {
  const Result<Entry> e = entry(c, i);
  if (!e.ok()) return e.diagnostics;
  LabelRow l = label_of(*c.workspace, *e);
  l.note = i.get("text");
  return changed(c, c.workspace->put_label(l));
}

// Of a version in the history of a document: whether the plan that is open there has its name. A document with a file is
// called as the file is, whatever its versions are called.
bool is_of_open_plan(const Core& c, const Document& d, RowId version) {
  const Result<PlanRow> its = c.workspace->plan(version), open = c.workspace->plan(d.version.value_or(0));
  return its.ok() && its->name == (open.ok() ? open->name : d.name);
}

// Why it may not be deleted now; empty: it may.
std::string in_use(const Core& c, const Entry& e) {
  for (const Document& d : c.state.documents) {
    const auto model = c.models.find(d.id);
    const bool of_model = e.kind == EntryKind::model && model != c.models.end() && model->second == e.id;
    const bool of_plan = e.kind == EntryKind::plan && find_version(d, e.id) && is_of_open_plan(c, d, e.id);
    const Result<ClusterRow> cluster = c.workspace->cluster(e.id);
    const bool of_cluster = e.kind == EntryKind::cluster && cluster.ok() && changed_name(d.cluster).base == cluster->name &&
                            !read_cluster(cluster->name).value;  // else that is a file or a preset, which stays
    const bool of_version = e.kind == EntryKind::version && d.version == e.id;
    const bool of_later = e.kind == EntryKind::version &&
                          std::any_of(d.later.begin(), d.later.end(), [&](const auto& l) { return l.first == e.id; });
    if (of_model || of_plan || of_version || of_later || of_cluster) return "it is open in document " + std::to_string(d.id);
    for (const RunEntry& r : *d.runs) {
      const bool its =
          (e.kind == EntryKind::run && r.run == e.id) || (e.kind == EntryKind::version && r.version == e.id);
      if (its && r.status == "running") return "run " + std::to_string(r.run) + " is under way";
    }
  }
  return "";
}

std::string counted(std::int64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string words(const RemovedRows& r) {
  std::vector<std::string> parts;
  if (r.versions > 0) parts.push_back(counted(r.versions, "version", "versions"));
  if (r.runs > 0) parts.push_back(counted(r.runs, "run", "runs"));
  if (r.predictions > 0) parts.push_back(counted(r.predictions, "prediction", "predictions"));
  if (r.profiles > 0) parts.push_back(counted(r.profiles, "measured operator", "measured operators"));
  return join(parts, ", ");
}

Result<Done> remove(Core& c, const Invocation& i) {
  const Result<Entry> e = entry(c, i);
  if (!e.ok()) return e.diagnostics;
  const Result<RemovedRows> with = c.workspace->goes_with(e->kind, e->id);
  if (!with.ok()) return with.diagnostics;
  if (const std::string why = in_use(c, *e); !why.empty()) return error(e->words() + " cannot be deleted now", why);
  if (i.get("discard") != "yes") {
    const std::string what = words(*with);
    return error(e->words() + " is not deleted yet",
                 what.empty() ? "it cannot be taken back" : "it would delete " + what + ", for good",
                 "delete " + e->words() + " discard=yes");
  }
  const Result<Done> done = changed(c, c.workspace->remove(e->kind, e->id));
  if (e->kind == EntryKind::profile) c.look_at_measurements();
  return done;
}

Result<Done> search(Core& c, const Invocation& i) {
  c.state.workspace_search = i.get("text");
  c.read_all();
  return Done{};
}

}  // namespace

void add_workspace_handlers(Handlers& all) {
  all["rename"] = rename;
  all["note"] = note;
  all["delete"] = remove;
  all["search"] = search;
}

}  // namespace planscope::session
