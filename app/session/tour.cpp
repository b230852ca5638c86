#include "app/session/tour.h"

#include <algorithm>

namespace planscope::session {

namespace {

bool is_open(const State& s) { return s.document() != nullptr; }

bool has_operators(const State& s) { return s.selected && !s.selected->operators.empty(); }

// The draft has been changed, and is predicted as it stands.
bool is_edited(const State& s) {
  const Document* d = s.document();
  return d && d->draft.edited() && d->current() && d->shown->evaluation;
}

bool is_kept(const State& s) {
  const Document* d = s.document();
  return d && d->version && !d->draft.edited();
}

bool is_planned(const State& s) {
  const Document* d = s.document();
  return d && d->planner && !d->planner->running;
}

bool is_tried(const State& s) {
  const Document* d = s.document();
  return d && d->trial && !d->trial->running;
}

bool is_compared(const State& s) {
  const Document* d = s.document();
  return d && d->comparison;
}

template <const char* const& id>
bool is_in_front(const State& s) {
  return s.front.panel == id;
}
constexpr const char* figures = "chips";
constexpr const char* operator_facts = "operator";
constexpr const char* differences = "compare";

}  // namespace

std::span<const TourStep> tour_steps() {
  static const std::vector<TourStep> all = {
      {"open",
       "Open a sample",
       {"Open gpt2_tiny with its plan data-tensor:", "activate this step, or choose it on the start page."},
       {},
       "open",
       is_open},
      {"figures",
       "Read the figures",
       {"They say how long a step takes, how much memory", "it needs, and whether the plan computes the model.",
        "Point at one to read where it comes from."},
       {.panel = figures},
       "",
       is_in_front<figures>},
      {"select",
       "Select an operator",
       {"Expand a layer of the graph by a double click,", "then click on an operator, as mlp.c_fc.",
        "The same is marked in all other views."},
       {.canvas = "graph"},
       "",
       has_operators},
      {"why",
       "See how it is split, and why",
       {"The panel shows its factors, the line of the plan", "that has decided them, and what every other",
        "choice would change."},
       {.panel = operator_facts},
       "",
       is_in_front<operator_facts>},
      {"split",
       "Split it in another way",
       {"Activate one of the choices, or split a factor", "over an axis. One line of the plan is written."},
       {},
       "split",
       is_edited},
      {"keep",
       "Look at the change, and keep it",
       {"The last of the figures is the difference to the", "plan before: step, peak memory, bytes sent.",
        "Keep makes a version of it; Drop goes back."},
       {},
       "keep",
       is_kept},
      {"plan",
       "Ask the planner",
       {"Write whole into the form, and the planner looks", "for the fastest plan from nothing.",
        "The panel Planner draws what it has found."},
       {},
       "plan",
       is_planned},
      {"run",
       "Run a trial",
       {"The plan runs on processes of this machine.", "The panel Trial says whether the results equal",
        "those of one device, and what the steps took."},
       {},
       "run",
       is_tried},
      {"compare",
       "Compare",
       {"Choose a version, a run or a candidate of the", "planner. The timelines stand below each other."},
       {},
       "compare",
       is_compared},
      {"differences",
       "Read what differs",
       {"Each row is a difference, with what it costs.", "Next difference goes through them."},
       {.panel = differences},
       "",
       is_in_front<differences>},
  };
  return all;
}

std::vector<const char*> tour_step_ids() {
  std::vector<const char*> out;
  for (const TourStep& s : tour_steps()) out.push_back(s.id);
  out.push_back(end_of_tour);
  return out;
}

bool follows_tour(const Preferences& p) {
  return p.get("tour") == "on" && next_step_of_tour(p) < tour_steps().size();
}

std::size_t next_step_of_tour(const Preferences& p) {
  const std::span<const TourStep> all = tour_steps();
  const std::string next = p.get("tour_step");
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const TourStep& s) { return s.id == next; }) - all.begin());
}

std::string advanced(const State& s) {
  const std::span<const TourStep> all = tour_steps();
  std::size_t next = next_step_of_tour(s.preferences);
  while (next < all.size() && all[next].done(s)) ++next;
  return next < all.size() ? all[next].id : end_of_tour;
}

}  // namespace planscope::session
