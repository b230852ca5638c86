#include "app/session/session.h"

#include <algorithm>

#include "app/session/core.h"
#include "app/session/text_change.h"
#include "app/session/views.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

const Handlers& handlers() {
  static const Handlers all = [] {
    Handlers h;
    add_declaration_handlers(h);
    add_document_handlers(h);
    add_draft_handlers(h);
    add_export_handlers(h);
    add_graph_handlers(h);
    add_hand_handlers(h);
    add_planner_handlers(h);
    add_preference_handlers(h);
    add_row_handlers(h);
    add_gesture_handlers(h);
    add_selection_handlers(h);
    add_tour_handlers(h);
    add_trial_handlers(h);
    add_cluster_handlers(h);
    add_comparison_handlers(h);
    add_profile_handlers(h);
    add_tensor_handlers(h);
    add_timeline_handlers(h);
    add_traffic_handlers(h);
    add_view_handlers(h);
    add_workspace_handlers(h);
    return h;
  }();
  return all;
}

}  // namespace

Result<Done> run_command(Core& c, const Invocation& i) {
  const auto handler = handlers().find(i.id);
  if (handler == handlers().end()) return error("there is no command '" + i.id + "'");
  if (const std::string reason = why_not(c.state, i.id); !reason.empty()) return error("'" + i.id + "' cannot be run now", reason);
  const Document* d = c.document();
  const Result<Invocation> now = d ? lines_now(d->seen, i) : i;
  if (!now.ok()) return now.diagnostics;
  return handler->second(c, *now);
}

namespace {

// A line that is selected is selected wherever it stands; one that goes is not.
void follow_selected_line(Core& c, const std::string& before) {
  int& selected = c.state.selection.statement;
  const std::string& now = c.document()->draft.text();
  if (selected == 0 || now == before) return;
  const std::optional<LineNow> line = line_now(before, now, static_cast<std::size_t>(selected) - 1);
  selected = line ? static_cast<int>(line->line) + 1 : 0;
}

}  // namespace

Session::Session(SessionSettings settings) : core_(std::make_unique<Core>(std::move(settings))) {}
Session::~Session() = default;

Result<Done> Session::apply(const Invocation& i) {
  Core& c = *core_;
  Result<Done> out;
  {
    const std::lock_guard lock(c.mutex);
    c.state.jobs = c.jobs->list();
    c.restore_workspace();
    c.look_again();
    const Selection before = c.state.selection;
    const Document* document = c.document();
    const int id = document ? document->id : 0;
    const std::string text = document ? document->draft.text() : "";
    out = run_command(c, i);
    if (out.ok()) {
      if (i.id == "select" || !(c.state.selection == before)) ++c.state.selections;
      const bool same = c.state.selection == before && c.document() && c.document()->id == id;
      if (same) follow_selected_line(c, text);
      const std::vector<Diagnostic> problems = c.keep_draft();
      out.diagnostics.insert(out.diagnostics.end(), problems.begin(), problems.end());
      c.ask();
      if (!(c.state.selection == before) || c.document() != document || c.state.selection.none()) c.reselect();
      c.inspect();
      c.study_task();
      c.remember_document();
    }
    c.has_changed();
  }
  c.changed();
  return out;
}

State Session::state() const {
  const std::lock_guard lock(core_->mutex);
  State out = core_->state;
  out.jobs = core_->jobs->list();
  return out;
}

Result<std::string> Session::exported(const Invocation& i, const std::string& view) const {
  std::unique_lock lock(core_->mutex);
  const Workspace* workspace = exports_cluster(i) ? core_->readable() : nullptr;
  State now = core_->state;
  if (!workspace) lock.unlock();
  if (const std::string reason = why_not(now, i.id); !reason.empty())
    return error("'" + i.id + "' cannot be run now", reason);
  if (!view.empty() && !is_view(view))
    return error("the view '" + printable(view) + "' is no JSON object", "", "view=yes, or as view={\"zoom\": 0.8}");
  if (!view.empty()) now.documents[static_cast<std::size_t>(now.current)].views[i.get("what")] = view;
  return session::exported(now, workspace, i);
}

void Session::wait() {
  while (true) {
    core_->jobs->wait();
    core_->evaluator->wait();
    core_->inspector->wait();
    core_->background->wait();
    const std::lock_guard lock(core_->mutex);
    if (core_->jobs->running()) continue;
    const std::vector<Document>& all = core_->state.documents;
    if (std::none_of(all.begin(), all.end(), [](const Document& d) { return d.busy; })) return;
  }
}

int Session::last_job() const { return core_->jobs->last(); }

Result<Done> Session::wait(int job) {
  const std::optional<Jobs::End> end = core_->jobs->wait(job);
  if (!end) return error("there is no job " + std::to_string(job), "", "the panel 'jobs' lists them");
  if (end->state != JobState::failed) return Done{};
  if (has_errors(end->why)) return end->why;
  return error(end->text);
}

void Session::on_change(std::function<void()> f) {
  const std::lock_guard lock(core_->mutex);
  core_->on_change = std::move(f);
}

void Session::refresh() {
  {
    const std::lock_guard lock(core_->mutex);
    std::vector<Diagnostic> told;  // once, when the session began
    Preferences preferences = read_preferences(core_->settings.workspace, told);
    std::vector<Recent> recent = read_recent(core_->settings.workspace);
    if (core_->settings.workspace.empty()) preferences = core_->state.preferences, recent = core_->state.recent;
    if (!core_->look_again() && preferences == core_->state.preferences && recent == core_->state.recent) return;
    core_->state.preferences = std::move(preferences);
    core_->state.recent = std::move(recent);
    core_->has_changed();
  }
  core_->changed();
}

void Session::leave_drafts() {
  const std::lock_guard lock(core_->mutex);
  core_->say(core_->drafts.leave_all(core_->writable()));
}

}  // namespace planscope::session
