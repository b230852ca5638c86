#include "app/session/panels/panels.h"

#include <algorithm>

#include "engine/base/text.h"

namespace planscope::session {

std::span<const PanelInfo> panels() {
  static const std::vector<PanelInfo> all = {
      {"chips", "Figures", chips_panel},
      {"script", "Plan script", script_panel, nullptr, "View", "Ctrl+1"},
      {"problems", "Problems", problems_panel},
      {"modules", "Model", modules_panel},
      {"graph", "Nodes", graph_panel},
      {"edges", "Edges", edges_panel},
      {"timeline", "Lanes", timeline_panel},
      {"blocks", "Blocks", blocks_panel, all_blocks_panel},
      {"area", "Selected time", area_panel},
      {"alive", "Alive", alive_panel},
      {"task", "Task", task_panel},
      {"slack", "Slack", slack_panel},
      {"operator", "Operator", operator_panel},
      {"statement", "Statement", statement_panel},
      {"try", "What if", try_panel},
      {"place", "Place", place_panel},
      {"constraints", "Constraints", constraints_panel},
      {"templates", "Templates", templates_panel},
      {"tensor", "Readers and moves", tensor_panel},
      {"tiles", "Tiles", tiles_panel},
      {"traffic", "Communicators", traffic_panel},
      {"cells", "Cells", cells_panel, all_cells_panel},
      {"bursts", "Bursts", bursts_panel},
      {"views", "Views", views_panel},
      {"planner", "Planner", planner_panel},
      {"search", "Search", search_panel},
      {"verify", "Verify", verify_panel},
      {"runs", "Runs", runs_panel},
      {"trial", "Trial", trial_panel},
      {"measured", "Predicted and measured", measured_panel},
      {"profile", "Profile", profile_panel},
      {"compare", "Differences", compare_panel},
      {"beside", "Side by side", beside_panel},
      {"cluster", "Cluster", cluster_panel},
      {"link", "Link", link_panel},
      {"history", "History", history_panel},
      {"documents", "Documents", documents_panel},
      {"drafts", "Lost drafts", drafts_panel},
      {"recent", "Recent", recent_panel},
      {"samples", "Samples", samples_panel},
      {"own_model", "Your own model", own_model_panel},
      {"workspace", "Workspace", workspace_panel},
      {"jobs", "Jobs", jobs_panel},
      {"commands", "Commands", commands_panel},
      {"preferences", "Preferences", preferences_panel},
      {"reference", "Plan language", reference_panel, nullptr, "Help", "Shift+F1"},
      {"tour", "Guided tour", tour_panel},
  };
  return all;
}

namespace {

Result<const PanelInfo*> find_panel(std::string_view id) {
  std::vector<std::string> ids;
  for (const PanelInfo& p : panels()) {
    if (id == p.id) return &p;
    ids.push_back(p.id);
  }
  const std::string near = nearest(id, ids);
  return error("there is no panel '" + printable(id) + "'", "there are " + join(ids, ", "),
               near.empty() ? "" : "did you mean '" + near + "'?");
}

}  // namespace

Result<Panel> make_panel(std::string_view id, const State& s) {
  const Result<const PanelInfo*> p = find_panel(id);
  return p.ok() ? Result<Panel>((*p)->make(s)) : Result<Panel>(p.diagnostics);
}

Result<Panel> make_whole_panel(std::string_view id, const State& s) {
  const Result<const PanelInfo*> p = find_panel(id);
  if (!p.ok()) return p.diagnostics;
  return (*p)->whole ? (*p)->whole(s) : (*p)->make(s);
}

namespace {

// Why there is no picture of the text as it stands.
std::string why_not_current(const Document& d) {
  if (d.shown && d.shown->cluster_name == d.cluster && d.shown->text == d.draft.text() && !d.is_now(d.shown))
    return "operators have been measured since";
  if (d.shown && d.shown->cluster_name != d.cluster && d.evaluating()) return "the plan is being evaluated on " + d.cluster;
  if (d.evaluating()) return "the newest text is being evaluated";
  if (d.latest && d.latest->state == PictureState::open) return "the plan leaves arguments open";
  if (d.latest && d.latest->state == PictureState::refused) {
    for (const Diagnostic& e : d.latest->diagnostics)
      if (e.severity == Severity::error) return (e.line ? "line " + std::to_string(e.line) + ": " : "") + e.what;
    return "the newest text has errors";
  }
  return "the plan has been changed";
}

}  // namespace

void say_whether_current(Panel& p, const Document& d) {
  const bool nothing_to_show = d.draft.text().empty() || (d.current(d.valid) && d.valid->open);
  p.current = d.current() || (!d.shown && nothing_to_show);
  if (p.current) return;
  p.reason = why_not_current(d);
  if (!d.shown_of.empty())
    p.reason = "of the plan '" + d.shown_of + "': " + p.reason;
  else if (d.shown)
    p.reason = (d.shown->text.empty()                      ? "of the model without a plan: "
                : d.shown->text == d.draft.text() && d.shown->cluster_name == d.cluster ? "of older figures: "
                : d.shown->cluster_name == d.cluster       ? "of an older text: "
                : d.shown->text == d.draft.text() ? "on " + d.shown->cluster_name + ": "
                                                           : "of an older text, on " + d.shown->cluster_name + ": ") +
               p.reason;
}

std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Cell remaining_cell(const Job& j) {
  if (!j.remaining_s) return cell(nullptr);
  Cell c = cell(1e6 * *j.remaining_s, Unit::microseconds);
  c.text = (j.at_most ? "at most " : "about ") + c.text;
  return c;
}

void say_what_remains(Panel& p, const State& s, int job) {
  for (const Job& j : s.jobs)
    if (j.id == job && j.remaining_s) p.facts.push_back({"remaining_us", "Remains", remaining_cell(j)});
}

Tone tone_of_verdict(const std::string& verdict) {
  if (verdict == "equivalent") return Tone::good;
  if (verdict == "relaxed" || verdict == "open" || verdict == "unknown" || verdict == "pending") return Tone::warning;
  return verdict.empty() ? Tone::dim : Tone::bad;
}

}  // namespace planscope::session
