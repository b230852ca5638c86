// The panels that list what a session and its workspace hold.
#include <algorithm>
#include <array>
#include <map>

#include "app/session/commands.h"
#include "app/session/lines.h"
#include "app/session/panels/panels.h"
#include "app/workbench/plan_file.h"

namespace planscope::session {

namespace {

template <class T>
Json maybe(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

// As its file may have been changed, or removed, by another program.
bool file_has(const std::string& path, const std::string& text) {
  const Result<PlanFile> now = read_plan_file(path);
  return now.ok() && now->text == text;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

bool is_found(const State& s, const WorkspaceEntry& e) {
  const std::string wanted = lower(s.workspace_search);
  return lower(e.kind + " " + e.name + "\n" + e.about + "\n" + e.note).find(wanted) != std::string::npos;
}

}  // namespace

namespace {

// Versions that follow one another stand at one level: only behind a version that several others follow do they go deeper.
// By version, the one that it stands below; 0: none.
std::map<RowId, RowId> branches(const std::vector<Version>& all) {
  std::map<RowId, int> followed;
  for (const Version& v : all)
    if (v.parent) ++followed[*v.parent];
  std::map<RowId, RowId> below;
  for (const Version& v : all) {  // parents first
    const auto parent = v.parent ? below.find(*v.parent) : below.end();
    below[v.id] = parent == below.end() ? 0 : followed[*v.parent] > 1 ? *v.parent : parent->second;
  }
  return below;
}

}  // namespace

Panel history_panel(const State& s) {
  Panel p{.id = "history", .title = "History", .kind = PanelKind::tree};
  p.empty = "Shows the versions of a plan that were kept, each with what it came to. Keep one: Ctrl+Return.";
  p.rows_id = "nodes";
  p.columns = {{"version", "Version"}, {"parent", "From"}, {"change", "Change"}, {"step_us", "Step", Unit::microseconds},
               {"peak_bytes", "Peak memory", Unit::bytes}, {"verdict", "Verdict"}, {"cluster", "Cluster"}, {"runs", "Runs", Unit::count}, {"kept_at", "Kept"}, {"note", "Note"}, {"name", "Name"}};
  const Document* d = s.document();
  p.facts = {{"current", "Current version", cell(d && d->version ? Json(*d->version) : Json())}};
  if (!d) return p;
  const std::map<RowId, RowId> below = branches(*d->versions);
  for (const Version& v : *d->versions) {
    const RowId branch = below.at(v.id);
    TableRow row{.id = std::to_string(v.id), .parent = branch > 0 ? std::to_string(branch) : ""};
    row.selected = d->version == v.id;
    const auto runs = std::count_if(d->runs->begin(), d->runs->end(), [&](const RunEntry& r) { return r.version == v.id; });
    const bool old = !v.cluster.empty() && v.measurements != d->measurements;
    row.cells = {cell(v.id), cell(maybe(v.parent)), cell(v.change),
                 cell(maybe(v.figures.step_us), Unit::microseconds, old ? Tone::dim : Tone::plain,
                      old ? "operators have been measured since" : ""),
                 cell(maybe(v.figures.peak_bytes), Unit::bytes),
                 cell(text_or_null(v.figures.verdict), Unit::none, tone_of_verdict(v.figures.verdict)),
                 cell(text_or_null(v.cluster)), cell(runs, Unit::count), time_cell(v.kept_us), cell(v.note), cell(v.name)};
    row.command = "version " + std::to_string(v.id);
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel documents_panel(const State& s) {
  Panel p{.id = "documents", .title = "Documents", .kind = PanelKind::table};
  p.empty = "Nothing is open.";
  p.columns = {{"document", "Document"}, {"model", "Model"}, {"plan", "Plan"}, {"path", "File"}, {"cluster", "Cluster"},
               {"edited", "Edited"}, {"saved", "Saved"}};
  for (std::size_t i = 0; i < s.documents.size(); ++i) {
    const Document& d = s.documents[i];
    TableRow row{.id = std::to_string(d.id), .selected = static_cast<int>(i) == s.current};
    row.cells = {cell(d.id), cell(d.model->model->name), cell(d.name), cell(text_or_null(d.path)), cell(d.cluster),
                 cell(d.draft.edited()), cell(!d.modified() && (d.path.empty() || file_has(d.path, d.saved)))};
    row.command = "document " + std::to_string(d.id);
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel drafts_panel(const State& s) {
  Panel p{.id = "drafts", .title = "Lost drafts", .kind = PanelKind::table};
  p.empty = "No program has ended with edits that were not kept.";
  p.columns = {{"draft", "Draft"}, {"model", "Model"}, {"plan", "Plan"}, {"path", "File"}, {"cluster", "Cluster"},
               {"lines", "Lines", Unit::count}, {"written_at", "Written"}, {"text", "Text"}};
  for (const LostDraft& l : s.lost) {
    TableRow row{.id = std::to_string(l.id)};
    row.cells = {cell(l.id), cell(l.model), cell(l.name), cell(text_or_null(l.path)), cell(l.cluster),
                 cell(line_count(l.text), Unit::count), time_cell(l.written_us), cell(l.text)};
    row.command = "restore " + std::to_string(l.id);
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel jobs_panel(const State& s) {
  Panel p{.id = "jobs", .title = "Jobs", .kind = PanelKind::table};
  p.empty = "Nothing runs: searches, trials and profiles are listed here.";
  p.columns = {{"job", "Job"}, {"what", "What"}, {"state", "State"}, {"done", "Done"}, {"of", "Of"}, {"remaining_us", "Remains", Unit::microseconds},
               {"best", "Best"}, {"text", "Text"}};
  for (const Job& j : s.jobs) {
    TableRow row{.id = std::to_string(j.id)};
    row.cells = {cell(j.id), cell(j.what), cell(to_string(j.state)), cell(maybe(j.done)), cell(maybe(j.of)), remaining_cell(j),
                 cell(text_or_null(j.best)), cell(j.text)};
    if (j.state == JobState::queued || j.state == JobState::running)
      p.facts.push_back({"cancel_" + row.id, "Cancel", cell("job " + row.id + ", " + j.what), "cancel " + row.id});
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel commands_panel(const State& s) {
  Panel p{.id = "commands", .title = "Commands", .kind = PanelKind::table};
  p.columns = {{"id", "Command"}, {"title", "Title"}, {"menu", "Menu"}, {"keys", "Keys"}, {"arguments", "Arguments"},
               {"enabled", "Enabled"}, {"reason", "Reason"}, {"about", "About"}};
  for (const CommandInfo& c : commands()) {
    Json arguments = Json::array();
    for (const ArgumentInfo& a : c.arguments) arguments.push_back(a.name);
    const std::string reason = why_not(s, c.id);
    TableRow row{.id = c.id, .tone = reason.empty() ? Tone::plain : Tone::dim};
    row.cells = {cell(c.id), cell(c.title), cell(c.menu), cell(c.keys), cell(std::move(arguments)), cell(reason.empty()),
                 cell(reason), cell(c.about)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel workspace_panel(const State& s) {
  Panel p{.id = "workspace", .title = "Workspace", .kind = PanelKind::table};
  p.empty = "The workspace is empty: models, plans, runs, clusters and profiles are listed here once there are some.";
  p.facts = {{"file", "File", cell(text_or_null(s.workspace))}};
  for (const auto& [kind, id, title] : std::initializer_list<std::array<const char*, 3>>{
           {"model", "models", "Models"}, {"plan", "plans", "Plans"}, {"run", "runs", "Runs"},
           {"cluster", "clusters", "Clusters"}, {"profile", "profiles", "Profiles"}}) {
    Json all = Json::array();
    for (const WorkspaceEntry& e : *s.entries)
      if (e.kind == kind && is_found(s, e)) all.push_back({{"id", e.id}, {"name", e.name}, {"about", e.about}, {"note", e.note}});
    const std::string count = std::to_string(all.size());
    p.facts.push_back({id, title, {std::move(all), count}});
  }
  if (!s.workspace_search.empty()) p.facts.push_back({"search", "Listed are those with", cell(s.workspace_search), "search"});
  p.columns = {{"kind", "Kind"}, {"id", "Number"}, {"name", "Name"}, {"about", "About"}, {"note", "Note"}};
  for (const WorkspaceEntry& e : *s.entries) {
    if (!is_found(s, e)) continue;
    TableRow row{.id = e.kind + " " + e.name + " " + std::to_string(e.id)};
    row.cells = {cell(e.kind), cell(e.id), cell(e.name), cell(e.about), cell(e.note)};
    row.command = e.command;
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
