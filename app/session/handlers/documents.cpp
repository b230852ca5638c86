// Opening, saving and closing documents, and the drafts that other programs have left.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/session/core.h"
#include "app/workbench/plan_file.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// What is selected, and the part of the step that is looked at, are of one document.
void select_nothing(Core& c) {
  c.state.selection = {};
  c.state.time.reset();
  c.state.brush.time_us.reset();
}

// A plan of the workspace by its number; by its name the newest one of this model, else of any.
std::optional<PlanRow> kept_for(const std::string& where, const Workspace* w, const std::optional<RowId>& model) {
  std::optional<PlanRow> row = kept_plan(where, w);
  if (!row || row->name != where || !model || row->model == model) return row;
  const Result<std::vector<PlanRow>> all = w->plans(*model);
  if (all.ok())
    for (const PlanRow& p : *all)
      if (p.name == where) row = p;
  return row;
}

// The row of a document's model, if the workspace has one. It reads the whole file.
std::optional<RowId> known_model(const Workspace* w, const Document& d) {
  const Result<std::string> digest = file_digest(d.model->model->path);
  if (!w || !digest.ok()) return std::nullopt;
  const Result<std::optional<ModelRow>> row = w->find_model(*digest);
  return row.ok() && *row ? std::optional((*row)->id) : std::nullopt;
}

// A file, or a plan of the workspace.
Result<Done> read_plan(const std::string& where, const Workspace* w, Document& d, std::string& text) {
  std::error_code ec;
  if (!std::filesystem::exists(where, ec)) {
    const std::optional<PlanRow> row = kept_for(where, w, known_model(w, d));
    if (!row) return open_plan(where, w).diagnostics;
    text = row->text;
    d.name = row->name;
    d.version = row->id;
    return Done{};
  }
  Result<PlanFile> read = read_plan_file(where);
  if (!read.ok()) return read.diagnostics;
  d.line_end = read->line_end;
  text = d.saved = std::move(read->text);
  d.path = where;
  d.name = std::filesystem::path(where).stem().string();
  return Done{};
}

Result<Done> add(Core& c, Document d) {
  d.id = ++c.documents;
  if (const Result<std::string> digest = file_digest(d.model->model->path); digest.ok()) d.digest = *digest;
  d.versions = std::make_shared<const std::vector<Version>>();
  if (c.workspace) {
    const Result<RowId> row = model_row(*c.workspace, *d.model);
    c.say(row.diagnostics);
    if (row.value) c.models[d.id] = *row.value;
    if (d.version && c.workspace->plan(*d.version)->model != row.value) d.version.reset();  // it was kept for another model
    c.read_versions(d);
    c.look_around();
  }
  for (const Version& v : *d.versions)
    if (!d.version && v.text == d.draft.kept()) d.version = v.id;
  c.state.documents.push_back(std::move(d));
  c.state.current = static_cast<int>(c.state.documents.size()) - 1;
  select_nothing(c);
  return Done{};
}

// That of the command, of the document whose model is opened again, the one that was chosen before anything was open, that
// of the program's arguments, or the preferred one: what somebody has said is never given up for what is preferred.
std::string cluster_of(const Core& c, const Invocation& i) {
  if (!i.get("cluster").empty()) return i.get("cluster");
  if (!i.has("model") && c.state.document()) return c.state.document()->cluster;
  if (!c.state.next_cluster.empty()) return c.state.next_cluster;
  return c.settings.cluster.empty() ? c.state.preferences.get("cluster") : c.settings.cluster;
}

Diagnostic cluster_has_gone(const std::string& name, const std::vector<Diagnostic>& why, const std::string& other) {
  Diagnostic d = warning("the cluster '" + name + "' is not there any more", "", "choose one: cluster NAME");
  if (!why.empty()) d.why = why.front().what;
  d.why += (d.why.empty() ? "" : "; ") + ("the plan is predicted on '" + other + "'");
  return d;
}

// Chooses the cluster of a new document. One that the command or the program's arguments name has to be there; the name of
// another one may have been kept for longer than the cluster, and then a warning says so.
Result<Done> choose_cluster(const Core& c, const Invocation& i, Document& d) {
  Result<Done> out(Done{});
  d.cluster = cluster_of(c, i);
  const bool named = d.cluster == i.get("cluster") || d.cluster == c.settings.cluster;
  Result<Cluster> cluster = open_cluster(d.cluster, 1, c.readable());
  if (!cluster.ok() && named) return cluster.diagnostics;
  if (!cluster.ok()) {
    out.diagnostics.push_back(cluster_has_gone(d.cluster, cluster.diagnostics, "local"));
    d.cluster = "local";
    cluster = open_cluster(d.cluster, 1, c.readable());
  }
  if (cluster.ok()) d.chosen = std::make_shared<const Cluster>(std::move(*cluster.value));
  return out;
}

// As long as it lives, others may look at the state.
class Unlocked {
 public:
  explicit Unlocked(std::mutex& m) : mutex_(m) { mutex_.unlock(); }
  ~Unlocked() { mutex_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::mutex& mutex_;
};

// A large file takes seconds, in which panels of other documents are asked for.
Result<OpenModel> read_model(Core& c, const std::string& where) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(where, ec)) return open_model(where, c.readable());
  const Unlocked meanwhile(c.mutex);
  return open_model(where, nullptr);
}

// A plan's file that is open already for the same model; -1: it is not.
int open_already(const State& s, const Document& wanted) {
  std::error_code ec;
  const auto same = [&](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && (a == b || std::filesystem::equivalent(a, b, ec));
  };
  for (std::size_t k = 0; k < s.documents.size(); ++k) {
    const Document& d = s.documents[k];
    if (same(d.path, wanted.path) && same(d.model->model->path, wanted.model->model->path)) return static_cast<int>(k);
  }
  return -1;
}

// Until a plan has been evaluated, the picture of the one that was open before stays, where it is of the same model.
void keep_picture(Document& d, const Document* before) {
  if (!before || d.draft.text().empty() || !before->shown) return;
  const Model &a = *d.model->model, &b = *before->model->model;
  if (a.digest != b.digest || a.path != b.path) return;
  d.shown = before->shown;
  d.shown_of = before->shown_of.empty() ? before->name : before->shown_of;
}

std::string path_of_model(const Core& c, const std::optional<PlanRow>& kept) {
  const Result<ModelRow> model = kept && kept->model ? c.workspace->model(*kept->model) : Result<ModelRow>(ModelRow{});
  return model.ok() ? model->path : "";
}

// The model that a plan was opened with last, or is kept for in the workspace; empty: that is not known.
std::string model_of_plan(const Core& c, const std::string& plan) {
  if (const Recent* r = find_recent(c.state.recent, plan)) return r->model;
  return path_of_model(c, kept_plan(plan, c.readable()));
}

// That of a plan of the workspace, where it is another one than that of the open document; else empty.
std::string another_model(Core& c, const std::string& plan) {
  std::error_code ec;
  const auto here = c.models.find(c.document()->id);
  if (here == c.models.end() || std::filesystem::exists(plan, ec)) return "";
  const std::optional<PlanRow> kept = kept_for(plan, c.readable(), here->second);
  return kept && kept->model && kept->model != here->second ? path_of_model(c, kept) : "";
}

// What the file holds now, where another program has written to it: an edit, or, beside edits of one's own, a message.
void take_change(Core& c, Document& open, const Document& read) {
  if (read.saved == open.saved) return;
  Diagnostic d = note("the file has been changed by another program");
  d.file = open.path;
  if (open.modified()) {
    d.severity = Severity::warning;
    d.why = "what is shown is the text that is edited here";
    d.hint = "save it under another name, and open the file again";
  } else {
    d.why = "what it holds now is shown";
    d.hint = "undo goes back to what it held";
    open.draft.pause();
    (void)write_draft(open, read.saved);
    open.saved = read.saved;
  }
  c.say({d});
}

Result<Done> open(Core& c, const Invocation& i) {
  if (i.has("link")) return open_link(c, i.get("link"));
  if (i.has("plan") && !i.has("model")) {
    Invocation whole = i;
    whole.arguments["model"] = c.document() ? another_model(c, i.get("plan")) : model_of_plan(c, i.get("plan"));
    if (!whole.get("model").empty()) return open(c, whole);
  }
  if (i.has("plan") && !i.has("model") && !c.document()) {
    Diagnostic d = error("a plan is opened on its model, and this one's is not known", "no model is open",
                         "open or drop the model (.pt2) first, or both together");
    d.file = i.get("plan");
    return d;
  }
  Document d;
  Result<Done> opened = choose_cluster(c, i, d);
  if (!opened.ok()) return c.failed(opened.diagnostics);
  const Workspace* w = c.readable();
  if (i.has("model")) {
    Result<OpenModel> model = read_model(c, i.get("model"));
    if (!model.value || model.has_errors()) return c.failed(model.diagnostics);
    c.say(model.diagnostics);
    d.model = std::make_shared<const OpenModel>(std::move(*model.value));
    d.modules = std::make_shared<const std::vector<ModuleNode>>(module_tree(d.model->graph));
    d.graph = look_at(d.model);
  } else if (const Document* now = c.document()) {
    d.model = now->model;
    d.modules = now->modules;
    d.graph = now->graph;
  } else {
    return error("'open' needs a model", "no model is open", "model=FILE");
  }
  d.name = "plan";
  std::string text;
  if (i.has("plan")) {
    const Result<Done> read = read_plan(i.get("plan"), w, d, text);
    if (!read.ok()) return c.failed(read.diagnostics);
  }
  if (const int known = open_already(c.state, d); known >= 0) {  // with what has been edited there
    c.state.current = known;
    select_nothing(c);
    take_change(c, *c.document(), d);
    return i.get("cluster").empty() ? Done{} : run_command(c, {"cluster", {{"name", i.get("cluster")}}});
  }
  c.say(opened.diagnostics);
  c.state.next_cluster.clear();
  d.draft = Draft(text);
  keep_picture(d, c.document());
  const Result<Done> added = add(c, std::move(d));
  return added.ok() ? opened : added;
}

Result<Done> go_to(Core& c, const Invocation& i) {
  const int number = std::stoi(i.get("number"));
  for (std::size_t k = 0; k < c.state.documents.size(); ++k)
    if (c.state.documents[k].id == number) {
      c.state.current = static_cast<int>(k);
      select_nothing(c);
      return Done{};
    }
  return error("there is no document " + i.get("number"));
}

Result<Done> close(Core& c, const Invocation& i) {
  Document& d = *c.document();
  if (d.draft.edited() && d.modified() && i.get("discard") != "yes")
    return error("the plan '" + d.name + "' has edits that are neither kept nor saved", "",
                 "keep it, save it, drop it, or close discard=yes");
  c.evaluator->forget(key_of_text(d.id));
  c.evaluator->forget(key_of_base(d.id));
  c.say(c.drafts.remove(c.writable(), d.id));
  c.asked.erase(d.id);
  c.typing.erase(d.id);
  c.models.erase(d.id);
  c.state.documents.erase(c.state.documents.begin() + c.state.current);
  c.state.current = std::min(c.state.current, static_cast<int>(c.state.documents.size()) - 1);
  select_nothing(c);
  return Done{};
}

// The plan under another name, with its versions: all of them where it had no file, and so no name of its own; else a copy of
// the one that is open, as saving under another name copies the file.
Result<Done> give_name(Core& c, Document& d, const std::string& name, bool copies) {
  if (name == d.name && !copies) return Done{};
  const std::string before = std::exchange(d.name, name);
  if (!c.workspace || !d.version) {
    c.read_versions(d);
    return Done{};
  }
  const bool renamed = !copies && c.workspace->rename(EntryKind::plan, *d.version, name).ok();
  if (!renamed) {
    const Result<RowId> copy = c.workspace->add_plan(
        {.model = c.models[d.id], .parent = d.version, .name = name, .text = d.draft.kept(), .path = file_of(d)});
    if (!copy.ok()) return d.name = before, c.failed(copy.diagnostics);
    d.version = *copy;
    d.later.clear();
  }
  c.read_versions(d);
  c.look_around();
  return Done{};
}

Result<Done> save(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const std::string path = i.has("path") ? i.get("path") : d.path;
  if (path.empty()) return error("the plan has no file yet", "", "save PATH");
  if (printable(path) != path) return error("'" + printable(path) + "' is no name for a file");
  if (path.ends_with(".pt2")) return error("'" + path + "' is the name of a model", "a plan is no model", "save it as NAME.plan");
  std::error_code ec;
  if (i.get("overwrite") != "yes" && std::filesystem::exists(path, ec)) {
    const Result<std::string> now = read_file(path);
    if (path == d.path && now.ok() && plan_text(*now.value) != d.saved) {
      Diagnostic changed = error("the file has been changed by another program since it was opened", "",
                                 "save it elsewhere, or with overwrite=yes");
      changed.file = path;
      return changed;
    }
    if (path != d.path && now.ok() && plan_text(*now.value) != d.draft.text()) {
      Diagnostic exists = error("there is a file already", "", "overwrite=yes replaces it");
      exists.file = path;
      return exists;
    }
  }
  const Result<Done> written = write_file(path, with_line_ends(d.draft.text(), d.line_end));
  if (!written.ok()) return c.failed(written.diagnostics);
  d.saved = d.draft.text();
  d.draft.pause();  // undo comes back to what was saved
  const bool copies = !d.path.empty() && d.path != path;
  d.path = path;
  if (const Result<Done> named = give_name(c, d, std::filesystem::path(path).stem().string(), copies); !named.ok()) return named;
  return c.state.preferences.get("keep_on_save") == "yes" && c.workspace ? keep_version(c, d) : Done{};
}

void restore_into(Core& c, Document& d, const LostDraft& l) {
  d.name = l.name;
  if (d.path.empty()) d.path = l.path;  // the file has gone: saving makes it again
  const Result<PlanRow> from = l.version ? c.workspace->plan(*l.version) : Result<PlanRow>(error("none"));
  if (from.ok()) {
    d.version = from->id;
    d.draft = Draft(from->text);
  }
  c.read_versions(d);
  d.draft.write(l.text);
  if (l.saved) d.saved = plan_text(*l.saved);  // what has been written to the file since then is another program's
  c.drafts.adopt(d.id, l.id);                      // the row is this session's from now on
}

Result<Done> lost(Core& c, const Invocation& i) {
  const RowId id = std::stoll(i.get("draft"));
  const auto row = std::find_if(c.state.lost.begin(), c.state.lost.end(), [&](const LostDraft& l) { return l.id == id; });
  if (row == c.state.lost.end()) return error("there is no draft " + i.get("draft"));
  const LostDraft l = *row;
  Result<Done> out(Done{});
  std::vector<Diagnostic>& told = out.diagnostics;
  if (i.id == "restore") {
    Invocation invocation{"open", {{"model", l.model}, {"cluster", l.cluster}}};
    std::error_code ec;
    if (!l.path.empty() && std::filesystem::exists(l.path, ec)) invocation.arguments["plan"] = l.path;
    const Result<Done> opened = open_again(c, std::move(invocation));
    if (!opened.ok()) return opened;
    told = opened.diagnostics;
    Document& d = *c.document();
    if (d.draft.edited()) {  // open already: what it is edited to stays behind undo, and has a row of its own
      d.draft.write(l.text);
      const Result<Done> removed = c.workspace->remove_draft(id);
      if (!removed.ok()) return c.failed(removed.diagnostics);
    } else {
      restore_into(c, d, l);
    }
  } else {
    const Result<Done> removed = c.workspace->remove_draft(id);
    if (!removed.ok()) return c.failed(removed.diagnostics);
  }
  std::erase_if(c.state.lost, [&](const LostDraft& o) { return o.id == id; });
  return out;
}

}  // namespace

Result<Done> open_again(Core& c, Invocation i) {
  const std::string cluster = i.get("cluster");
  const Result<Cluster> there = open_cluster(cluster, 1, c.readable());
  if (cluster.empty() || there.ok()) return open(c, i);
  i.arguments.erase("cluster");
  Result<Done> out = open(c, i);
  if (!out.ok()) return out;
  out.diagnostics.push_back(cluster_has_gone(cluster, there.diagnostics, c.document()->cluster));
  c.say({out.diagnostics.back()});
  return out;
}

void add_document_handlers(Handlers& all) {
  all["open"] = open;
  all["document"] = go_to;
  all["close"] = close;
  all["save"] = save;
  all["restore"] = lost;
  all["forget"] = lost;
}

}  // namespace planscope::session
