#include "app/session/session.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>

#include "app/session/evaluator.h"
#include "app/session/jobs.h"
#include "app/session/planning.h"
#include "app/session/store.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostMessages = 50;

int key_of_text(int document) { return 2 * document; }
int key_of_base(int document) { return 2 * document + 1; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace

class Session::Impl {
 public:
  explicit Impl(SessionSettings settings) : settings_(std::move(settings)) {
    open_workspace();
    state_.workspace = settings_.workspace;
    if (workspace_) look_around();
    jobs_ = std::make_unique<Jobs>([this] { changed(); });
    evaluator_ = std::make_unique<Evaluator>(settings_.workspace, [this](int key, std::shared_ptr<const Picture> p, bool last) {
      answered(key, std::move(p), last);
    });
  }

  ~Impl() {
    jobs_.reset();
    evaluator_.reset();
  }

  Result<Done> apply(const Invocation& i) {
    const CommandInfo* info = find_command(i.id);
    if (!info) return error("there is no command '" + i.id + "'");
    Result<Done> out;
    {
      std::unique_lock lock(mutex_);
      state_.jobs = jobs_->list();
      if (const std::string reason = why_not(state_, i.id); !reason.empty()) return error("'" + i.id + "' cannot be run now", reason);
      out = run(i);
      if (out.ok()) {
        keep_draft();
        ask();
      }
      ++state_.revision;
    }
    changed();
    return out;
  }

  State state() const {
    const std::lock_guard lock(mutex_);
    State out = state_;
    out.jobs = jobs_->list();
    return out;
  }

  void wait() {
    while (true) {
      jobs_->wait();
      evaluator_->wait();
      const std::lock_guard lock(mutex_);
      if (jobs_->running()) continue;
      if (std::none_of(state_.documents.begin(), state_.documents.end(), [](const Document& d) { return d.busy; })) return;
    }
  }

  void on_change(std::function<void()> f) {
    const std::lock_guard lock(mutex_);
    on_change_ = std::move(f);
  }

  void refresh() {
    {
      const std::lock_guard lock(mutex_);
      for (Document& d : state_.documents) read_versions(d);
      if (workspace_) look_around();
      ++state_.revision;
    }
    changed();
  }

 private:
  void changed() {
    std::function<void()> f;
    {
      const std::lock_guard lock(mutex_);
      f = on_change_;
    }
    if (f) f();
  }

  // ---- the workspace

  void open_workspace() {
    std::error_code ec;
    const std::filesystem::path folder = std::filesystem::path(settings_.workspace).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, ec);
    Result<Workspace> opened = Workspace::open(settings_.workspace.empty() ? ":memory:" : settings_.workspace,
                                               settings_.clock ? *settings_.clock : clock_);
    say(opened.diagnostics);
    if (opened.value) workspace_ = std::move(*opened.value);
  }

  // What is in the workspace, whoever has put it there.
  void look_around() {
    Result<std::vector<WorkspaceEntry>> entries = entries_of(*workspace_);
    say(entries.diagnostics);
    if (entries.value) state_.entries = std::make_shared<const std::vector<WorkspaceEntry>>(std::move(*entries.value));
    Result<std::vector<LostDraft>> lost = lost_drafts(*workspace_);
    say(lost.diagnostics);
    if (lost.value) state_.lost = std::move(*lost.value);
  }

  void read_versions(Document& d) {
    const auto row = models_.find(d.id);
    if (!workspace_ || row == models_.end()) return;
    Result<std::vector<Version>> found = versions_of(*workspace_, row->second, d.name, d.cluster);
    say(found.diagnostics);
    if (found.value) d.versions = std::make_shared<const std::vector<Version>>(std::move(*found.value));
  }

  // What is not kept is in the workspace before the command has ended.
  void keep_draft() {
    Document* d = document();
    if (!d || !workspace_) return;
    DraftRow& known = drafts_[d->id];
    if (!d->draft.edited()) {
      if (known.id != 0) say(workspace_->remove_draft(known.id).diagnostics);
      known = {};
      return;
    }
    DraftRow r{.id = known.id, .model = d->model->model->path, .name = d->name, .path = d->path, .cluster = d->cluster,
               .version = d->version, .text = d->draft.text(), .process = this_process()};
    std::error_code ec;
    r.model = std::filesystem::absolute(r.model, ec).string();
    if (r.id != 0 && r == known) return;
    const Result<RowId> id = workspace_->put_draft(r);
    say(id.diagnostics);
    if (!id.value) return;
    r.id = *id.value;
    known = std::move(r);
  }

  void say(const std::vector<Diagnostic>& more) {
    state_.messages.insert(state_.messages.end(), more.begin(), more.end());
    if (state_.messages.size() > kMostMessages)
      state_.messages.erase(state_.messages.begin(), state_.messages.end() - static_cast<std::ptrdiff_t>(kMostMessages));
  }

  // ---- evaluation

  Document* document() { return state_.current < 0 ? nullptr : &state_.documents[static_cast<std::size_t>(state_.current)]; }

  Evaluator::Request request(const Document& d, int key, const std::string& text) const {
    return {key, d.model, text, d.path.empty() ? d.name : d.path, d.cluster};
  }

  static bool is_of(const std::shared_ptr<const Picture>& p, const std::string& text, const std::string& cluster) {
    return p && p->text == text && p->cluster_name == cluster;
  }
  static bool complete(const std::shared_ptr<const Picture>& p) { return p->state != PictureState::predicted; }

  // Whatever of the current document there is no answer for yet.
  void ask() {
    Document* d = document();
    if (!d) return;
    if (is_of(d->latest, d->draft.text(), d->cluster) && complete(d->latest)) {
      if (d->busy) evaluator_->forget(key_of_text(d->id));
      d->busy = false;
      take(*d, d->latest);
      ask_base(*d);
      return;
    }
    const std::pair<std::string, std::string> wanted(d->draft.text(), d->cluster);
    if (d->busy && asked_[d->id] == wanted) return;  // a command that changes neither
    d->busy = true;
    asked_[d->id] = wanted;
    evaluator_->ask(request(*d, key_of_text(d->id), d->draft.text()));
  }

  // The kept text, to compare the draft with.
  void ask_base(Document& d) {
    if (is_of(d.base, d.draft.kept(), d.cluster) || !d.draft.edited() || d.draft.kept().empty()) return;
    evaluator_->ask(request(d, key_of_base(d.id), d.draft.kept()));
  }

  void answered(int key, std::shared_ptr<const Picture> p, bool last) {
    {
      const std::lock_guard lock(mutex_);
      const auto d = std::find_if(state_.documents.begin(), state_.documents.end(), [&](const Document& o) { return o.id == key / 2; });
      if (d == state_.documents.end()) return;
      if (is_of(p, d->draft.kept(), d->cluster) && last) {
        d->base = p;
        if (d->version && store(*d, *p)) read_versions(*d);
      }
      if (key == key_of_text(d->id) && is_of(p, d->draft.text(), d->cluster)) {
        take(*d, p);
        if (last) {
          d->busy = false;
          ask_base(*d);
        }
      }
      ++state_.revision;
    }
    changed();
  }

  static void take(Document& d, const std::shared_ptr<const Picture>& p) {
    d.latest = p;
    if (p->state != PictureState::refused) d.shown = p;
  }

  // What a version comes to, once for each cluster; false: it was stored before.
  bool store(const Document& d, const Picture& p) {
    if (!workspace_ || !stored_.insert({*d.version, p.cluster_name}).second) return false;
    say(store_figures(*workspace_, *d.version, p).diagnostics);
    return true;
  }

  // ---- commands

  Result<Done> run(const Invocation& i) {
    if (i.id == "open") return open(i);
    if (i.id == "restore" || i.id == "forget") return lost(i);
    if (i.id == "cancel") {
      if (jobs_->cancel(std::stoi(i.get("job")))) return Done{};
      return error("there is no job " + i.get("job") + " that runs");
    }
    if (i.id == "dismiss") {
      state_.messages.clear();
      return Done{};
    }
    Document& d = *document();
    if (i.id == "document") return go_to(i);
    if (i.id == "close") return close(i);
    if (i.id == "save") return save(d, i);
    if (i.id == "cluster") return choose_cluster(d, i.get("name"));
    if (i.id == "text") return write(d, i.get("text"));
    if (i.id == "type") {
      if (i.get("step") == "new") d.draft.pause();
      d.draft.type(i.get("text"));
      return Done{};
    }
    if (i.id == "append") return append(d, i.get("statement"));
    if (i.id == "replace") return replace(d, i);
    if (i.id == "keep") return keep(d);
    if (i.id == "drop") {
      d.draft.drop();
      return Done{};
    }
    if (i.id == "undo") return undo(d);
    if (i.id == "redo") return redo(d);
    if (i.id == "version") return version(d, std::stoll(i.get("number")));
    if (i.id == "select") return select(d, i);
    if (i.id == "plan") return plan(d, i);
    if (i.id == "accept") return accept(d, i);
    if (i.id == "relax") return relax(d, i);
    return error("'" + i.id + "' is not there yet");
  }

  Result<Done> open(const Invocation& i) {
    Document d;
    const Workspace* w = workspace_ ? &*workspace_ : nullptr;
    if (i.has("model")) {
      Result<OpenModel> model = open_model(i.get("model"), w);
      if (!model.value || model.has_errors()) return failed(model.diagnostics);
      say(model.diagnostics);
      d.model = std::make_shared<const OpenModel>(std::move(*model.value));
      d.modules = std::make_shared<const std::vector<ModuleNode>>(module_tree(d.model->graph));
    } else if (const Document* now = document()) {
      d.model = now->model;
      d.modules = now->modules;
    } else {
      return error("'open' needs a model", "no model is open");
    }
    d.name = "plan";
    std::string text;
    if (i.has("plan")) {
      const Result<Done> read = read_plan(i.get("plan"), w, d, text);
      if (!read.ok()) return failed(read.diagnostics);
    }
    d.cluster = i.has("cluster") ? i.get("cluster") : document() && !i.has("model") ? document()->cluster : settings_.cluster;
    d.draft = Draft(text);
    return add(std::move(d));
  }

  Result<Done> add(Document d) {
    d.id = ++documents_;
    d.versions = std::make_shared<const std::vector<Version>>();
    if (workspace_) {
      const Result<RowId> row = model_row(*workspace_, *d.model);
      say(row.diagnostics);
      if (row.value) models_[d.id] = *row.value;
      read_versions(d);
    }
    for (const Version& v : *d.versions)
      if (v.text == d.draft.kept()) d.version = v.id;
    state_.documents.push_back(std::move(d));
    state_.current = static_cast<int>(state_.documents.size()) - 1;
    state_.selection = {};
    return Done{};
  }

  // A file, or a plan of the workspace.
  Result<Done> read_plan(const std::string& where, const Workspace* w, Document& d, std::string& text) {
    std::error_code ec;
    if (w && !std::filesystem::exists(where, ec)) {
      const Result<std::optional<PlanRow>> row = w->find_plan(where);
      if (row.ok() && *row) {
        text = (**row).text;
        d.name = (**row).name;
        return Done{};
      }
    }
    Result<std::string> read = read_file(where);
    if (!read.ok()) return read.diagnostics;
    text = d.saved = std::move(*read.value);
    d.path = where;
    d.name = std::filesystem::path(where).stem().string();
    return Done{};
  }

  // Also kept as a message, so that a surface can show it where it was opened.
  Result<Done> failed(std::vector<Diagnostic> diagnostics) {
    say(diagnostics);
    return diagnostics;
  }

  Result<Done> go_to(const Invocation& i) {
    const int number = std::stoi(i.get("number"));
    for (std::size_t k = 0; k < state_.documents.size(); ++k)
      if (state_.documents[k].id == number) {
        state_.current = static_cast<int>(k);
        state_.selection = {};
        return Done{};
      }
    return error("there is no document " + i.get("number"));
  }

  Result<Done> close(const Invocation& i) {
    Document& d = *document();
    if (d.draft.edited() && i.get("discard") != "yes")
      return error("the plan '" + d.name + "' has edits that are not kept", "", "keep it, drop it, or close discard=yes");
    evaluator_->forget(key_of_text(d.id));
    evaluator_->forget(key_of_base(d.id));
    if (workspace_ && drafts_[d.id].id != 0) say(workspace_->remove_draft(drafts_[d.id].id).diagnostics);
    drafts_.erase(d.id);
    asked_.erase(d.id);
    models_.erase(d.id);
    state_.documents.erase(state_.documents.begin() + state_.current);
    state_.current = std::min(state_.current, static_cast<int>(state_.documents.size()) - 1);
    state_.selection = {};
    return Done{};
  }

  Result<Done> save(Document& d, const Invocation& i) {
    const std::string path = i.has("path") ? i.get("path") : d.path;
    if (path.empty()) return error("the plan has no file yet", "", "save PATH");
    std::error_code ec;
    if (i.get("overwrite") != "yes" && std::filesystem::exists(path, ec)) {
      const Result<std::string> now = read_file(path);
      if (path == d.path && now.ok() && *now.value != d.saved) {
        Diagnostic changed = error("the file has been changed by another program since it was opened", "",
                                   "save it elsewhere, or with overwrite=yes");
        changed.file = path;
        return changed;
      }
      if (path != d.path && now.ok() && *now.value != d.draft.text()) {
        Diagnostic exists = error("there is a file already", "", "overwrite=yes replaces it");
        exists.file = path;
        return exists;
      }
    }
    const Result<Done> written = write_file(path, d.draft.text());
    if (!written.ok()) return failed(written.diagnostics);
    d.saved = d.draft.text();
    d.path = path;
    d.name = std::filesystem::path(path).stem().string();
    read_versions(d);
    return Done{};
  }

  Result<Done> choose_cluster(Document& d, const std::string& name) {
    const Result<Cluster> c = open_cluster(name, 1, workspace_ ? &*workspace_ : nullptr);
    if (!c.value || c.has_errors()) return c.diagnostics;
    d.cluster = name;
    read_versions(d);
    return Done{};
  }

  Result<Done> write(Document& d, std::string text) {
    d.draft.write(std::move(text));
    d.later.clear();
    return Done{};
  }

  Result<Done> append(Document& d, const std::string& statement) {
    const std::string text = d.draft.text();
    return write(d, text + (text.empty() || text.back() == '\n' ? "" : "\n") + statement + "\n");
  }

  // The draft with another line of that number; nothing: without it.
  Result<Done> change_line(Document& d, const std::string& number,
                           const std::function<std::optional<std::string>(const std::string&)>& change) {
    std::vector<std::string> lines = lines_of(d.draft.text());
    const std::size_t line = std::stoul(number);
    if (line < 1 || line > lines.size())
      return error("there is no line " + number, "the plan has " + std::to_string(lines.size()) + " lines");
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(line) - 1;
    if (std::optional<std::string> now = change(*at))
      *at = std::move(*now);
    else
      lines.erase(at);
    return write(d, text_of(lines));
  }

  Result<Done> replace(Document& d, const Invocation& i) {
    return change_line(d, i.get("line"), [&](const std::string&) {
      return i.get("statement").empty() ? std::nullopt : std::optional(i.get("statement"));
    });
  }

  Result<Done> keep(Document& d) {
    const auto model = models_.find(d.id);
    if (!workspace_ || model == models_.end()) return error("the plan cannot be kept", "there is no workspace to keep it in");
    const std::string text = d.draft.text();
    std::optional<RowId> row;
    for (const Version& v : *d.versions)
      if (v.parent == d.version && v.text == text) row = v.id;  // kept before, from the same one
    if (!row) {
      const Result<RowId> added =
          workspace_->add_plan({.model = model->second, .parent = d.version, .name = d.name, .text = text});
      if (!added.ok()) return failed(added.diagnostics);
      row = *added;
    }
    d.version = row;
    d.later.clear();
    d.draft.keep();
    d.base = is_of(d.latest, text, d.cluster) && complete(d.latest) ? d.latest : nullptr;
    if (d.base) store(d, *d.base);
    read_versions(d);
    return Done{};
  }

  const Version* find_version(const Document& d, std::optional<RowId> id) const {
    for (const Version& v : *d.versions)
      if (id && v.id == *id) return &v;
    return nullptr;
  }

  Result<Done> undo(Document& d) {
    if (d.draft.undo()) return Done{};
    const Version* now = find_version(d, d.version);
    const Version* before = now ? find_version(d, now->parent) : nullptr;
    if (!before) return error("there is nothing to undo");
    d.later.emplace_back(now->id, d.draft);  // with what can be done again there
    d.version = before->id;
    d.draft = Draft(before->text);
    return Done{};
  }

  Result<Done> redo(Document& d) {
    if (d.draft.redo()) return Done{};
    if (d.later.empty()) return error("there is nothing to redo");
    d.version = d.later.back().first;
    d.draft = std::move(d.later.back().second);
    d.later.pop_back();
    return Done{};
  }

  Result<Done> version(Document& d, RowId id) {
    const Version* v = find_version(d, id);
    if (!v) return error("there is no version " + std::to_string(id) + " of the plan '" + d.name + "'");
    if (d.draft.edited())
      return error("the plan has edits that are not kept", "going to another version would give them up", "keep or drop them");
    d.version = v->id;
    d.later.clear();
    d.draft = Draft(v->text);
    return Done{};
  }

  // Why a statement that selects the same would not be right behind the plan; the plan's own errors do not count.
  static std::optional<Diagnostic> no_selection(const Document& d, const std::string& statements, const std::string& what) {
    const std::string& text = d.draft.text();
    const std::string before = text + (text.empty() || text.back() == '\n' ? "" : "\n");
    const int line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    const Result<plan::Plan> p = plan::parse_plan(before + statements + "\n", "");
    std::vector<Diagnostic> all = p.diagnostics;
    if (p.ok()) all = decide(d.model->graph, *p.value).diagnostics;
    for (const Diagnostic& wrong : all)
      if (wrong.severity == Severity::error && wrong.line > line) return error(what, wrong.what, wrong.hint);
    return std::nullopt;
  }

  Result<Done> select(const Document& d, const Invocation& i) {
    Selection s;
    if (i.has("none") && i.get("none") != "none") return error("'select' does not take '" + i.get("none") + "'");
    s.operators = i.get("operators"), s.tensor = i.get("tensor"), s.place = i.get("place");
    if (i.has("statement")) {
      s.statement = std::stoi(i.get("statement"));
      const std::size_t lines = lines_of(d.draft.text()).size();
      if (s.statement < 1 || static_cast<std::size_t>(s.statement) > lines)
        return error("there is no line " + i.get("statement"), "the plan has " + std::to_string(lines) + " lines");
    }
    if (i.has("tensor")) {
      const Graph& g = d.model->graph;
      bool known = false;
      for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()) && !known; ++t) known = g.tensor_name(t) == s.tensor;
      if (!known) return error("there is no tensor '" + s.tensor + "'");
    }
    if (i.has("operators"))
      if (auto wrong = no_selection(d, "trans " + s.operators + " recompute", "there are no operators '" + s.operators + "'"))
        return *wrong;
    if (i.has("place"))
      if (auto wrong = no_selection(d, "assign * to " + s.place, "there is no place '" + s.place + "'"))
        return *wrong;
    state_.selection = std::move(s);
    return Done{};
  }

  Result<Done> plan(const Document& d, const Invocation& i) {
    if (i.has("whole") && i.get("whole") != "whole") return error("'plan' does not take '" + i.get("whole") + "'");
    PlanRequest r{.model = d.model, .text = d.draft.text(), .file = d.path.empty() ? d.name : d.path, .cluster = d.cluster,
                  .workspace = settings_.workspace, .whole = i.has("whole")};
    if (i.has("batch")) r.batch = std::stoll(i.get("batch"));
    if (i.has("limit")) r.seconds = std::stod(i.get("limit"));
    plan_in_background(*jobs_, std::move(r), [this, id = d.id](std::shared_ptr<const PlannerAnswer> a) {
      {
        const std::lock_guard lock(mutex_);
        for (Document& o : state_.documents)
          if (o.id == id && (!o.planner || o.planner->job <= a->job)) o.planner = a;
        ++state_.revision;
      }
      changed();
    });
    return Done{};
  }

  Result<Done> accept(Document& d, const Invocation& i) {
    const PlannerAnswer& a = *d.planner;
    if (i.has("candidate")) {
      const std::size_t n = std::stoul(i.get("candidate"));
      if (n < 1 || n > a.candidates.size())
        return error("there is no candidate " + i.get("candidate"), "there are " + std::to_string(a.candidates.size()));
      return write(d, a.candidates[n - 1].script);
    }
    if (a.candidates.empty() && a.asked != d.draft.text())
      return error("the plan has been changed since it was planned", "", "plan again");
    return write(d, a.found);
  }

  Result<Done> relax(Document& d, const Invocation& i) {
    return change_line(d, i.get("line"), [](const std::string& line) { return std::optional("# " + line); });
  }

  Result<Done> lost(const Invocation& i) {
    const RowId id = std::stoll(i.get("draft"));
    const auto row = std::find_if(state_.lost.begin(), state_.lost.end(), [&](const LostDraft& l) { return l.id == id; });
    if (row == state_.lost.end()) return error("there is no draft " + i.get("draft"));
    const LostDraft l = *row;
    if (i.id == "restore") {
      Invocation invocation{"open", {{"model", l.model}, {"cluster", l.cluster}}};
      std::error_code ec;
      if (!l.path.empty() && std::filesystem::exists(l.path, ec)) invocation.arguments["plan"] = l.path;
      const Result<Done> opened = open(invocation);
      if (!opened.ok()) return opened;
      Document& d = *document();
      if (l.name != d.name) {
        d.name = l.name;
        read_versions(d);
      }
      if (const Version* from = find_version(d, l.version)) {
        d.version = from->id;
        d.draft = Draft(from->text);
      }
      d.draft.write(l.text);
      drafts_[d.id].id = id;  // the row is this session's from now on
    } else {
      const Result<Done> removed = workspace_->remove_draft(id);
      if (!removed.ok()) return failed(removed.diagnostics);
    }
    std::erase_if(state_.lost, [&](const LostDraft& o) { return o.id == id; });
    return Done{};
  }

  SessionSettings settings_;
  SystemClock clock_;  // before the workspace, which keeps a reference
  std::optional<Workspace> workspace_;
  mutable std::mutex mutex_;
  State state_;
  std::function<void()> on_change_;
  int documents_ = 0;
  std::map<int, RowId> models_;                           // by document, as the next two
  std::map<int, DraftRow> drafts_;                        // as they are in the workspace; id 0: not there
  std::map<int, std::pair<std::string, std::string>> asked_;  // text and cluster that are being evaluated
  std::set<std::pair<RowId, std::string>> stored_;        // versions and clusters whose figures are in the workspace
  std::unique_ptr<Jobs> jobs_;            // last, with the next: they call back until they have ended
  std::unique_ptr<Evaluator> evaluator_;
};

Session::Session(SessionSettings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Session::~Session() = default;
Result<Done> Session::apply(const Invocation& i) { return impl_->apply(i); }
State Session::state() const { return impl_->state(); }
void Session::wait() { impl_->wait(); }
void Session::on_change(std::function<void()> f) { impl_->on_change(std::move(f)); }
void Session::refresh() { impl_->refresh(); }

}  // namespace planscope::session
