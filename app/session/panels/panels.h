#pragma once
// The panels of a session: pure functions of its state. Surfaces know them by the list alone.
//
//   for (const PanelInfo& p : panels()) …
//   to_text(make_panel("chips", session.state()))
#include <functional>
#include <span>
#include <string_view>

#include "app/session/panel.h"
#include "app/session/state.h"

namespace planscope::session {

struct PanelInfo {
  const char* id;
  const char* title;
  Panel (*make)(const State&);
  Panel (*whole)(const State&) = nullptr;  // with every row, for files, where `make` lists the first ones alone
  const char* menu = "View";  // the menu in which a surface lists the command `Go to TITLE`
  const char* keys = "";      // the keys of that command; empty: none
};
std::span<const PanelInfo> panels();
// Errors: there is no such panel (with the nearest).
Result<Panel> make_panel(std::string_view id, const State&);
Result<Panel> make_whole_panel(std::string_view id, const State&);

std::string words_of(std::string name);  // of a kind, as people read it: `warm-up` of `warm_up`

Panel alive_panel(const State&);
Panel area_panel(const State&);
Panel blocks_panel(const State&);
Panel bursts_panel(const State&);
Panel all_blocks_panel(const State&);
Panel beside_panel(const State&);
Panel chips_panel(const State&);
Panel cluster_panel(const State&);
Panel commands_panel(const State&);
Panel constraints_panel(const State&);
Panel documents_panel(const State&);
Panel compare_panel(const State&);
Panel drafts_panel(const State&);
Panel edges_panel(const State&);
Panel graph_panel(const State&);
Panel history_panel(const State&);
Panel jobs_panel(const State&);
Panel link_panel(const State&);
Panel measured_panel(const State&);
Panel modules_panel(const State&);
Panel operator_panel(const State&);
Panel own_model_panel(const State&);
Panel place_panel(const State&);
Panel planner_panel(const State&);
Panel profile_panel(const State&);
Panel preferences_panel(const State&);
Panel problems_panel(const State&);
Panel recent_panel(const State&);
Panel reference_panel(const State&);
Panel runs_panel(const State&);
Panel samples_panel(const State&);
Panel script_panel(const State&);
Panel search_panel(const State&);
Panel slack_panel(const State&);
Panel statement_panel(const State&);
Panel templates_panel(const State&);
Panel timeline_panel(const State&);
Panel trial_panel(const State&);
Panel task_panel(const State&);
Panel tensor_panel(const State&);
Panel tiles_panel(const State&);
Panel timeline_panel(const State&);
Panel tour_panel(const State&);
Panel traffic_panel(const State&);
Panel cells_panel(const State&);
Panel all_cells_panel(const State&);
Panel try_panel(const State&);
Panel verify_panel(const State&);
Panel views_panel(const State&);
Panel workspace_panel(const State&);

// Marks a panel as not being of the text as it stands where it is not, and says in words what it is of, and why.
void say_whether_current(Panel&, const Document&);

// How long a job still takes: `about 12 s`, of one that ends by itself `at most 12 s`.
Cell remaining_cell(const Job&);
// The same of the job of that number, for the panel that shows what it does.
void say_what_remains(Panel&, const State&, int job);

Tone tone_of_verdict(const std::string& verdict);

// Of panels about what is selected: whether it has been looked at as the plan stands now.
void say_whether_inspected(Panel&, const State&);
Cell step_delta_cell(const Tried&);
Cell peak_delta_cell(const Tried&);

}  // namespace planscope::session
