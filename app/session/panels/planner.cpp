#include <algorithm>

#include "app/session/open_kinds.h"
#include "app/session/panels/panels.h"
#include "app/session/planning.h"
#include "app/workbench/conflicts.h"
#include "planner/simulate/alive.h"

namespace planscope::session {

namespace {

template <class T>
Json maybe(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

Tone tone_of(const std::string& status) {
  return status == "complete" ? Tone::good : status == "impossible" || status == "refused" ? Tone::bad : Tone::warning;
}

Json progress_json(const PlannerAnswer& a) {
  Json out = Json::array();
  for (const PlannerProgress& p : a.progress)
    out.push_back({{"seconds", p.seconds},
                   {"step_us", p.step_us},
                   {"lower_bound_us", p.lower_bound_us > 0 ? Json(p.lower_bound_us) : Json()},
                   {"peak_bytes", p.peak_bytes > 0 ? Json(p.peak_bytes) : Json()},
                   {"lower_bound_bytes", p.lower_bound_bytes > 0 ? Json(p.lower_bound_bytes) : Json()}});
  return out;
}

// The open choices of the draft; none where the plan is complete.
std::vector<Fact> what_is_open(const Document& d) {
  if (!d.current(d.latest) || !d.latest->open) return {};
  Json all = Json::array();
  std::string text;
  for (const OpenKind& k : open_kinds(*d.latest->open)) {
    all.push_back(k.text);
    text += (text.empty() ? "" : ", ") + k.text;
  }
  return {{"open", "Open", {std::move(all), std::move(text)}}};
}

}  // namespace

Panel planner_panel(const State& s) {
  Panel p{.id = "planner", .title = "Planner", .kind = PanelKind::table};
  p.empty = "Fills what a plan leaves open, or finds a whole plan. Leave an argument open, as ?t, and press Ctrl+P.";
  const Document* d = s.document();
  if (!d) return p;
  p.commands = {"plan", "accept"};
  p.facts = what_is_open(*d);
  if (!d->planner && !p.facts.empty()) p.facts.push_back({"cluster", "Cluster", cell(d->cluster)});
  if (!d->planner) return p;
  const PlannerAnswer& a = *d->planner;
  const std::optional<std::vector<FoundLine>> lines = lines_left(a, d->draft.text());
  const bool same_text = !a.candidates.empty() || a.asked == d->draft.text() || lines;
  p.reason = !same_text                        ? "the plan has been changed since"
             : a.cluster != d->cluster           ? "it was searched on " + a.cluster
             : a.measurements != d->measurements ? "operators have been measured since"
                                                 : "";
  p.current = p.reason.empty();
  std::string conflicts = conflicts_text(a.conflicts, a.status == "impossible", a.all_conflicts, has_sizes_of_data(d->model->graph));
  if (!conflicts.empty() && conflicts.back() == '\n') conflicts.pop_back();
  // Of what is asked for to be least.
  const auto number = [](const std::optional<std::int64_t>& n) { return n ? std::optional(static_cast<double>(*n)) : std::nullopt; };
  const std::optional<double> value = a.within_us ? number(a.peak_bytes) : a.step_us;
  const std::optional<double> least = a.within_us ? number(a.lower_bound_bytes) : a.lower_bound_us;
  const bool bounded = value && least && *value > 0;
  Json diagnostics = Json::array();
  std::string said;
  for (const Diagnostic& m : a.diagnostics) {
    diagnostics.push_back(to_string(m));
    said += (said.empty() ? "" : "; ") + to_string(m);
  }
  const std::vector<Fact> search = {
      {"status", "Status", cell(a.status, Unit::none, tone_of(a.status))},
      {"reason", "Reason", cell(a.reason)},
      {"cluster", "Cluster", cell(a.cluster)},
      {"limit_us", "Limit", cell(1e6 * a.limit_seconds, Unit::microseconds)},
      {"step_us", "Step", cell(maybe(a.step_us), Unit::microseconds)},
      {"lower_bound_us", "No less than", cell(maybe(a.lower_bound_us), Unit::microseconds)},
      {"gap", "Gap", cell(bounded ? Json((*value - *least) / *value) : Json(), Unit::share)},
      {"progress", "Progress", {progress_json(a), a.progress.empty() ? "–" : "drawn in Search", Tone::dim}},
      {"conflicts", "Conflicts", {conflicts_json(a.conflicts), std::move(conflicts)}},
      {"diagnostics", "Said", {std::move(diagnostics), said}}};
  const auto first = static_cast<std::ptrdiff_t>(p.facts.size());
  p.facts.insert(p.facts.end(), search.begin(), search.end());
  if (a.batch) p.facts.push_back({"batch", "Batch", cell(*a.batch, Unit::count)});
  say_what_remains(p, s, a.job);
  if (a.running)
    p.facts.push_back({"cancel", "Stop", cell("the best so far is kept"), "cancel " + std::to_string(a.job)});
  else if (a.candidates.empty() && lines)
    for (std::size_t n = 0; n < lines->size(); ++n)
      if ((*lines)[n].left) {
        const std::string number = std::to_string(n + 1);
        p.facts.push_back({"line_" + number, "Accept line " + number, cell((*lines)[n].text), "accept line=" + number});
      }
  if (a.within_us) {
    const std::vector<Fact> memory = {{"within_us", "Within", cell(*a.within_us, Unit::microseconds)},
                                      {"peak_bytes", "Peak memory", cell(maybe(a.peak_bytes), Unit::bytes)},
                                      {"lower_bound_bytes", "Memory no less than, in this space", cell(maybe(a.lower_bound_bytes), Unit::bytes)}};
    p.facts.insert(p.facts.begin() + first + 2, memory.begin(), memory.end());
  }
  p.rows_id = "candidates";
  p.columns = {{"candidate", "Candidate"}, {"name", "Plan"}, {"step_us", "Step", Unit::microseconds},
               {"lower_bound_us", "No less than", Unit::microseconds}, {"peak_bytes", "Peak memory", Unit::bytes},
               {"compute_us", "Compute", Unit::microseconds}, {"exposed_communication_us", "Exposed communication", Unit::microseconds},
               {"pipeline_us", "Other stages", Unit::microseconds}, {"largest_traffic", "Largest traffic"}, {"plan", "Script"}};
  for (const stages::Candidate& c : a.candidates) {
    std::int64_t peak = 0;
    for (const std::int64_t bytes : c.peak_bytes) peak = std::max(peak, bytes);
    const std::int64_t number = static_cast<std::int64_t>(p.rows.size()) + 1;
    TableRow row{.id = std::to_string(number)};
    row.cells = {cell(number), cell(c.configuration.name()), cell(c.step_us, Unit::microseconds),
                 cell(c.bound_us > 0 ? Json(c.bound_us) : Json(), Unit::microseconds),
                 cell(peak, Unit::bytes), cell(c.breakdown.compute_us, Unit::microseconds),
                 cell(c.breakdown.communication_us, Unit::microseconds), cell(c.breakdown.pipeline_us, Unit::microseconds),
                 cell(c.breakdown.largest), {c.script, "…", Tone::dim, c.script}};
    row.command = "accept candidate=" + std::to_string(number);
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel search_panel(const State& s) {
  Panel p{.id = "search", .title = "Search", .kind = PanelKind::chart};
  p.empty = "Draws how the planner's best plan and its bound change while it searches. Press Ctrl+P.";
  const Document* d = s.document();
  if (!d || !d->planner || d->planner->progress.empty()) return p;
  const PlannerAnswer& a = *d->planner;
  const bool memory = a.within_us.has_value();
  Series best{.name = memory ? "least peak memory" : "best step", .unit = memory ? Unit::bytes : Unit::microseconds};
  Series bound{.name = "no less than", .unit = best.unit};
  const auto add = [&](const PlannerProgress& at, double seconds) {
    best.points.emplace_back(seconds, memory ? static_cast<double>(at.peak_bytes) : at.step_us);
    const double least = memory ? static_cast<double>(at.lower_bound_bytes) : at.lower_bound_us;
    if (least > 0) bound.points.emplace_back(seconds, least);
  };
  for (const PlannerProgress& at : a.progress) add(at, at.seconds);
  add(a.progress.back(), std::max(a.seconds, a.progress.back().seconds));
  p.series = {std::move(best)};
  if (!bound.points.empty()) p.series.push_back(std::move(bound));
  return p;
}

}  // namespace planscope::session
