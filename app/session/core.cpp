#include "app/session/core.h"

#include <algorithm>
#include <filesystem>

#include "app/session/block_task.h"
#include "app/session/tour.h"
#include "engine/base/process_identity.h"
#include "engine/base/text.h"
#include "engine/cluster/fields.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostMessages = 50, kMostRecent = 12;

Recent recent_of(const Document& d) {
  std::error_code ec;
  const std::string version = d.version ? std::to_string(*d.version) : "";
  const std::string model = std::filesystem::absolute(d.model->model->path, ec).string();
  return {model, d.path.empty() ? version : file_of(d), d.cluster};
}

// Whether it is what the document was before: on another cluster, not kept yet, or another version of its plan.
bool is_earlier(const Recent& r, const Recent& now, const Document& d) {
  const auto is = [&](const Version& v) { return std::to_string(v.id) == r.plan; };
  const bool unnamed = r.plan.empty() && d.path.empty();
  return r.model == now.model &&
         (r.plan == now.plan || unnamed || std::any_of(d.versions->begin(), d.versions->end(), is));
}

Evaluator::Request request(const Document& d, int key, const std::string& text) {
  return {key, d.model, text, d.path.empty() ? d.name : d.path, d.cluster};
}

// The last picture stays where this one has none.
void take(Document& d, const std::shared_ptr<const Picture>& p) {
  d.latest = p;
  if (!d.shown_of.empty()) d.shown.reset();
  d.shown_of.clear();
  if (p->state != PictureState::refused) d.valid = p;
  if (p->evaluation) d.shown = p;
}

}  // namespace

Core::Core(SessionSettings s)
    : settings(std::move(s)), drafts(settings.workspace, settings.clock ? *settings.clock : clock) {
  open_workspace();
  state.workspace = settings.workspace;
  state.samples = settings.samples;
  if (!state.samples.empty())
    state.sample_files = std::make_shared<const std::vector<Sample>>(find_samples(state.samples));
  state.recent = read_recent(settings.workspace);
  read_all();
  state.preferences = read_preferences(settings.workspace, state.messages);
  jobs = std::make_unique<Jobs>([this] { changed(); });
  evaluator = std::make_unique<Evaluator>(settings.workspace, [this](int key, std::shared_ptr<const Picture> p, bool last) {
    answered(key, std::move(p), last);
  });
  inspector = std::make_unique<Inspector>([this](std::shared_ptr<const Inspection> i) {
    {
      const std::lock_guard lock(mutex);
      if (!document() || document()->id != i->document || !(state.selection == i->selection)) return;
      state.inspection = std::move(i);
      has_changed();
    }
    changed();
  });
  background = std::make_unique<Background>();
}

Core::~Core() {
  // All threads end before the first of these goes: each may call another one until it has ended.
  jobs->end();
  evaluator->end();
  background->end();
  inspector->end();
}

void Core::open_workspace() {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::path(settings.workspace).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ec);
  Result<Workspace> opened = Workspace::open(settings.workspace.empty() ? ":memory:" : settings.workspace,
                                             settings.clock ? *settings.clock : clock, {.patience = settings.patience});
  say(opened.diagnostics);
  if (!opened.value) return;
  workspace = std::move(*opened.value);
  if (settings.workspace.empty()) return;
  say(take_in(*workspace).diagnostics);
  say(workspace->close_abandoned_runs(is_alive).diagnostics);
}

// Another program has deleted the file, or put another one in its place: what is open is written again, nothing of it is lost.
void Core::restore_workspace() {
  if (!workspace || !workspace->is_gone()) return;
  workspace.reset();
  open_workspace();
  if (!workspace) return;
  drafts.workspace_is_new();
  stored.clear();
  for (Document& d : state.documents) {
    write_again(d);
    keep_draft(d);
  }
  Diagnostic gone = warning("another program has deleted the workspace, or put another one in its place",
                            "the versions of plans that are open were written again; what else was in it is gone", "");
  gone.file = settings.workspace;
  say({gone});
  read_all();
}

// The versions of a document, which it has in memory, with their names and notes.
void Core::write_again(Document& d) {
  const Result<RowId> model = model_row(*workspace, *d.model);
  say(model.diagnostics);
  if (!model.value) return;
  models[d.id] = *model;
  std::map<RowId, RowId> now;  // by the number that a version had
  const auto number = [&](std::optional<RowId> before) {
    const auto found = before ? now.find(*before) : now.end();
    return found == now.end() ? std::nullopt : std::optional(found->second);
  };
  for (const Version& v : *d.versions) {
    const Result<RowId> row = workspace->add_plan({.model = *model, .parent = number(v.parent), .name = d.name, .text = v.text, .path = file_of(d)});
    say(row.diagnostics);
    if (!row.value) return;
    now[v.id] = *row;
    if (!v.name.empty() || !v.note.empty())
      say(workspace->put_label({.kind = EntryKind::version, .id = *row, .name = v.name, .note = v.note}).diagnostics);
  }
  d.version = number(d.version);
  std::erase_if(d.later, [&](const auto& l) { return !now.contains(l.first); });
  for (auto& [version, draft] : d.later) version = now.at(version);
}

// What is in the workspace, whoever has put it there.
void Core::look_around() {
  Result<std::vector<WorkspaceEntry>> entries = entries_of(*workspace);
  say(entries.diagnostics);
  if (entries.value) state.entries = std::make_shared<const std::vector<WorkspaceEntry>>(std::move(*entries.value));
  Result<std::vector<LostDraft>> lost = lost_drafts(*workspace);
  say(lost.diagnostics);
  if (lost.value) state.lost = std::move(*lost.value);
}

bool Core::look_again() {
  if (!workspace) return false;
  const Result<std::int64_t> closed = workspace->close_abandoned_runs(is_alive);  // a program that was killed says nothing
  if (closed.value.value_or(0) == 0 && workspace->changes_by_others() == seen_of_others) return false;
  read_all();
  look_at_measurements();
  return true;
}

void Core::read_all() {
  if (workspace) seen_of_others = workspace->changes_by_others();
  for (Document& d : state.documents) read_versions(d);
  if (workspace) look_around();
}

// By this program or another one.
void Core::look_at_measurements() {
  if (!workspace) return;
  std::vector<Diagnostic> problems;
  const std::string now = measurements_of(*workspace, problems);
  say(problems);
  bool changed = false;
  for (Document& d : state.documents) {
    if (now == d.measurements) continue;
    d.measurements = now;
    d.busy = false;
    changed = true;
  }
  if (!changed) return;
  inspected.reset();
  ask();
}

// It is put there again where another program has deleted it.
std::optional<RowId> Core::row_of_model(const Document& d) {
  const auto known = models.find(d.id);
  if (!workspace || known == models.end()) return std::nullopt;
  const Result<ModelRow> row = workspace->model(known->second);
  if (row.ok() && row->digest == d.digest) return row->id;
  std::error_code ec;
  const std::string path = std::filesystem::absolute(d.model->model->path, ec).string();
  const Result<RowId> again = workspace->put_model({.digest = d.digest, .name = d.model->model->name, .path = path});
  say(again.diagnostics);
  if (!again.ok()) return std::nullopt;
  return known->second = *again;
}

// Another program may have renamed the version that is open, or deleted it: then its text is kept nowhere, and is an edit.
void Core::follow_version(Document& d, const std::vector<PlanRow>& plans) {
  if (!d.version) return;
  const auto row = std::find_if(plans.begin(), plans.end(), [&](const PlanRow& p) { return p.id == *d.version; });
  if (row != plans.end() && plan_text(row->text) == d.draft.kept()) {
    if (d.path.empty()) d.name = row->name;
    return;
  }
  say({warning("version " + std::to_string(*d.version) + " of the plan '" + d.name + "' is not in the workspace any more",
               "another program has deleted it", "its text is a draft now: keep it, or close it")});
  d.version.reset();
  d.draft.begin_from(d.saved);
  keep_draft(d);
}

void Core::read_versions(Document& d) {
  const std::optional<RowId> model = row_of_model(d);
  if (!model) return;
  const Result<std::vector<PlanRow>> plans = workspace->plans(*model);
  say(plans.diagnostics);
  if (!plans.ok()) return;
  follow_version(d, *plans);
  const std::optional<RowId> open = d.version ? d.version : newest_of_file(*plans, file_of(d), d.name);
  d.versions = std::make_shared<const std::vector<Version>>(versions_of(*workspace, history_of(*plans, open), d.cluster));
  Result<std::vector<RunEntry>> runs = runs_of(*workspace, *d.versions);
  say(runs.diagnostics);
  if (runs.value) d.runs = std::make_shared<const std::vector<RunEntry>>(std::move(*runs.value));
}

// What is not kept is in the workspace before the command has ended.
std::vector<Diagnostic> Core::keep_draft() {
  Document* d = document();
  return d ? keep_draft(*d) : std::vector<Diagnostic>{};
}

std::vector<Diagnostic> Core::keep_draft(Document& d) {
  // What was kept is a version; without one it is what the file held, which saving may have changed since.
  const bool stored = !d.draft.edited() && (d.version || d.path.empty() || !d.modified());
  std::vector<Diagnostic> problems;
  if (stored) {
    problems = drafts.remove(writable(), d.id);
  } else {
    std::error_code ec;
    const std::string model = std::filesystem::absolute(d.model->model->path, ec).string();
    problems = drafts.keep(writable(), d.id, {.model = model, .name = d.name, .path = d.path, .cluster = d.cluster,
                                              .version = d.version, .text = d.draft.text(), .process = this_process(),
                                              .saved = d.saved});
  }
  for (Diagnostic& p : problems) p.severity = Severity::warning;  // the edit itself has been made
  say(problems);
  return problems;
}

void Core::say(const std::vector<Diagnostic>& more) {
  state.messages.insert(state.messages.end(), more.begin(), more.end());
  if (state.messages.size() > kMostMessages)
    state.messages.erase(state.messages.begin(), state.messages.end() - static_cast<std::ptrdiff_t>(kMostMessages));
}

// Also kept as a message, so that a surface can show it where it was opened.
Result<Done> Core::failed(std::vector<Diagnostic> diagnostics) {
  say(diagnostics);
  return diagnostics;
}

Result<Done> Core::prefer(const std::map<std::string, std::string>& chosen) {
  std::vector<Diagnostic> told;
  Preferences next = read_preferences(settings.workspace, told);  // with what another program has chosen meanwhile
  if (settings.workspace.empty()) next = state.preferences;
  for (const auto& [name, value] : chosen) next.chosen[name] = value;
  const Result<Done> written = write_preferences(settings.workspace, next);
  if (!written.ok()) return failed(written.diagnostics);
  state.preferences = std::move(next);
  return Done{};
}

void Core::remember_document() {
  const Document* d = document();
  if (!d) return;
  Recent now = recent_of(*d);
  if (!state.recent.empty() && state.recent.front() == now) return;
  if (!settings.workspace.empty()) state.recent = read_recent(settings.workspace);  // of other programs too
  std::erase_if(state.recent, [&](const Recent& r) { return is_earlier(r, now, *d); });
  state.recent.insert(state.recent.begin(), std::move(now));
  if (state.recent.size() > kMostRecent) state.recent.resize(kMostRecent);
  write_recent(settings.workspace, state.recent);
}

void Core::follow_tour() {
  if (!follows_tour(state.preferences)) return;
  const std::string next = advanced(state);
  if (next == state.preferences.get("tour_step")) return;
  state.preferences.chosen["tour_step"] = next;  // even where the file cannot be written
  prefer({{"tour_step", next}});
}

void Core::number_texts() {
  for (Document& d : state.documents)
    if (!d.seen.is_newest(d.draft.text())) d.seen.add(++texts, d.draft.text());
}

void Core::has_changed() {
  number_texts();
  follow_tour();
  ++state.revision;
}

void Core::changed() {
  std::function<void()> f;
  {
    const std::lock_guard lock(mutex);
    f = on_change;
  }
  if (f) f();
}

// Whatever of the current document there is no answer for yet.
void Core::ask() {
  Document* d = document();
  if (!d) return;
  if (is_of(d->latest, *d, d->draft.text()) && complete(d->latest)) {
    if (d->busy) evaluator->forget(key_of_text(d->id));
    d->busy = false;
    take(*d, d->latest);
    ask_base(*d);
    ask_versions(*d);
    return;
  }
  const std::pair<std::string, std::string> wanted(d->draft.text(), d->cluster);
  if (d->busy && asked[d->id] == wanted) return;  // a command that changes neither
  d->busy = true;
  for (const Document& o : state.documents) evaluator->forget(key_of_version(o.id)), evaluator->forget(key_of_base(o.id));
  asked_version.clear();
  asked[d->id] = wanted;
  Evaluator::Request r = request(*d, key_of_text(d->id), d->draft.text());
  r.first = true;
  evaluator->ask(std::move(r));
}

// The kept text, to compare the draft with.
void Core::ask_base(Document& d) {
  if (is_of(d.base, d, d.draft.kept()) || !d.draft.edited() || d.draft.kept().empty()) return;
  evaluator->ask(request(d, key_of_base(d.id), d.draft.kept()));
}

// The next version without figures on this cluster, once the text has all of its own.
void Core::ask_versions(Document& d) {
  if (d.busy || !workspace || asked_version.contains(d.id) || !changed_name(d.cluster).changes.empty()) return;
  for (const Version& v : *d.versions) {
    const bool known = v.cluster == d.cluster && v.measurements == d.measurements;
    if (known || v.text.empty() || v.id == d.version || stored.contains({v.id, d.cluster, d.measurements})) continue;
    asked_version[d.id] = v.id;
    return evaluator->ask(request(d, key_of_version(d.id), v.text));
  }
}

void Core::answered(int key, std::shared_ptr<const Picture> p, bool last) {
  {
    const std::lock_guard lock(mutex);
    const bool of_version = key >= first_key_of_versions;
    const int id = of_version ? key - first_key_of_versions : key / 2;
    const auto d = std::find_if(state.documents.begin(), state.documents.end(), [&](const Document& o) { return o.id == id; });
    if (d == state.documents.end()) return;
    // Another program may have measured since: then what else is shown does not start from the same figures.
    const bool measured = p->measurements != d->measurements;
    if (measured) d->measurements = p->measurements;
    if (of_version) {
      const auto version = asked_version.find(id);
      if (!last || version == asked_version.end()) return;
      const Version* v = find_version(*d, version->second);
      if (v && is_of(p, *d, v->text) && store(v->id, *p)) read_versions(*d);
      asked_version.erase(version);
      ask_versions(*d);
    }
    // A text that is empty is no plan yet to compare with.
    if (!of_version && !d->draft.kept().empty() && is_of(p, *d, d->draft.kept()) && last) {
      d->base = p;
      if (d->version && store(*d->version, *p)) read_versions(*d);
    }
    if (key == key_of_text(d->id) && is_of(p, *d, d->draft.text())) {
      take(*d, p);
      if (last) {
        d->busy = false;
        ask_base(*d);
        ask_versions(*d);
      }
      if (document() == &*d) {
        reselect();
        inspect();
        study_task();
      }
    }
    if (measured && !d->busy && document() == &*d) ask();
    has_changed();
  }
  changed();
}

namespace {

// By the text as it stands; places and device classes by the last Program.
std::shared_ptr<const Selected> meaning(const Document& d, const Selection& s, MaterializeCache& cache) {
  const Result<plan::Plan> p = plan::parse_plan(d.draft.text(), d.name);
  auto out = std::make_shared<Selected>(selected(s, d.model->graph, *p.value, cache));
  if (!d.shown || !d.shown->evaluation) return out;
  const Graph& g = *d.shown->evaluation->made.graph;
  if (s.communicator.empty())
    locate(*out, s, g, d.shown->evaluation->made.program);
  else
    locate(*out, s, g, *d.shown->study->traffic({}));
  return out;
}

}  // namespace

void Core::reselect() {
  const Document* d = document();
  if (!d || state.selection.none()) {
    state.selected.reset();
    state.inspection.reset();
    return;
  }
  state.selected = meaning(*d, state.selection, cache);
}

void Core::inspect() {
  const Document* d = document();
  // A text with errors has no evaluation: the selection is inspected in the last text without errors.
  const bool possible = d && state.selected && d->valid && d->valid->sized && (d->current(d->valid) || !d->evaluating());
  if (!possible) {
    inspector->forget();
    inspected.reset();
    return;
  }
  // Of a block that is a whole task, what the task does; a place by itself takes no statements.
  Selection asked = state.selection;
  if (const std::string task = task_selected(state); !task.empty()) asked.operators = task;
  if (inspected && asked_selection == asked && inspected->evaluation == d->valid->evaluation &&
      inspected->open == d->valid->open)
    return;  // under way, or known
  std::shared_ptr<const Selected> means = state.selected;
  if (!(asked == state.selection)) {
    Selection task;
    task.operators = asked.operators;
    if (const auto of_task = meaning(*d, task, cache); of_task->problem.empty()) means = of_task;
  }
  asked_selection = std::move(asked);
  inspected = d->valid;
  inspector->ask({d->model, d->valid, std::move(means),
                  {.document = d->id, .text = d->valid->text, .cluster = d->valid->cluster_name, .selection = state.selection}});
}

void Core::study_task() {
  const Document* d = document();
  const std::shared_ptr<const Study> study = d && d->shown ? d->shown->study : nullptr;
  const std::optional<TimeSelection>& t = state.time;
  if (studied == std::pair(study, t)) return;  // under way, or known
  studied = {study, t};
  if (!study || !t || !t->us || t->stream.empty() || t->lanes.size() != 1) return background->forget();
  background->ask([this, study, t = *t] {
    study->task(class_of_lane(study->evaluation(), t.lanes[0]), t.stream, *window_of(t.us));
    {
      const std::lock_guard lock(mutex);
      has_changed();
    }
    changed();
  });
}

bool Core::store(RowId version, const Picture& p) {
  if (!changed_name(p.cluster_name).changes.empty()) return false;  // a question, not a cluster of the workspace
  if (!workspace || !workspace->plan(version).ok()) return false;  // another program has deleted it
  if (!stored.insert({version, p.cluster_name, p.measurements}).second) return false;
  say(store_figures(*workspace, version, p).diagnostics);
  return true;
}

void Core::update(int document, const std::function<void(Document&)>& change) {
  {
    const std::lock_guard lock(mutex);
    for (Document& d : state.documents)
      if (d.id == document) change(d);
    has_changed();
  }
  changed();
}

bool is_of(const std::shared_ptr<const Picture>& p, const Document& d, const std::string& text) {
  return d.is_now(p) && p->text == text;
}

bool complete(const std::shared_ptr<const Picture>& p) { return p->state != PictureState::predicted && !p->relaxing; }

const Version* find_version(const Document& d, std::optional<RowId> id) {
  for (const Version& v : *d.versions)
    if (id && v.id == *id) return &v;
  return nullptr;
}

std::string file_of(const Document& d) {
  std::error_code ec;
  return d.path.empty() ? "" : std::filesystem::absolute(d.path, ec).string();
}

Result<Done> write_draft(Document& d, std::string text) {
  d.draft.write(std::move(text));
  d.later.clear();
  return Done{};
}

Result<Done> append_line(Document& d, const std::string& statement) {
  const std::string& text = d.draft.text();
  return write_draft(d, text + (text.empty() || text.back() == '\n' ? "" : "\n") + statement + "\n");
}

// The draft with another line of that number; nothing: without it.
Result<Done> change_line(Document& d, const std::string& number,
                         const std::function<std::optional<std::string>(const std::string&)>& change) {
  std::vector<std::string> lines = lines_of(d.draft.text());
  const std::size_t line = std::stoul(number);
  if (line < 1 || line > lines.size())
    return error("there is no line " + number, "the plan has " + std::to_string(lines.size()) + " lines");
  const auto at = lines.begin() + static_cast<std::ptrdiff_t>(line) - 1;
  const auto [first, end] = statement_around(lines, line - 1);
  if (std::optional<std::string> now = change(*at))
    *at = std::move(*now);
  else  // a template goes with its head
    lines.erase(at, first == line - 1 ? lines.begin() + static_cast<std::ptrdiff_t>(end) : at + 1);
  return write_draft(d, text_of(lines));
}

}  // namespace planscope::session
