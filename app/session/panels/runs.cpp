#include <algorithm>

#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

template <class T>
Json maybe(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

std::string number_text(double v) { return cell(v).text; }

Cell equal_cell(const RunEntry& r) {
  if (!r.equal) return cell(nullptr);
  Cell c = cell(*r.equal, Unit::none, *r.equal ? Tone::good : Tone::bad);
  c.text = *r.equal ? "equal" : "not equal";  // surfaces show the sign of its tone
  return c;
}

std::string about(const RunEntry& r) {
  if (!r.reason.empty()) return r.reason;
  return r.oversubscribed ? "processes shared cores: times cannot be compared" : "";
}

}  // namespace

Panel runs_panel(const State& s) {
  Panel p{.id = "runs", .title = "Runs", .kind = PanelKind::table};
  p.empty = "Lists trials: the plan run on processes, one a device, and compared with one device. Press Ctrl+R.";
  p.columns = {{"run", "Run"}, {"name", "Name"}, {"plan", "Plan"}, {"version", "Version"}, {"status", "Status"},
               {"procs", "Processes", Unit::count}, {"steps", "Steps", Unit::count}, {"optimizer", "Optimizer"}, {"seed", "Seed"},
               {"step_us", "Step", Unit::microseconds}, {"predicted_step_us", "Predicted", Unit::microseconds},
               {"equal", "Equal to one device"}, {"max_relative_error", "Largest error"}, {"worst", "In"},
               {"peak_bytes", "Peak memory", Unit::bytes}, {"predicted_peak_bytes", "Predicted peak", Unit::bytes},
               {"started_at", "Started"}, {"reason", "About"}, {"note", "Note"}};
  const Document* d = s.document();
  if (!d) return p;
  const auto most = [](const std::vector<std::int64_t>& v) { return v.empty() ? Json() : Json(*std::max_element(v.begin(), v.end())); };
  for (const RunEntry& r : *d->runs) {
    TableRow row{.id = std::to_string(r.run), .selected = d->version == r.version};
    if (r.status == "failed" || (r.equal && !*r.equal)) row.tone = Tone::bad;
    row.cells = {cell(r.run), cell(r.name), cell(d->name), cell(r.version), cell(r.status), cell(r.procs, Unit::count),
                 cell(r.steps > 0 ? Json(r.steps) : Json(), Unit::count), cell(r.optimizer), cell(maybe(r.seed)),
                 cell(maybe(r.step_us), Unit::microseconds, r.oversubscribed ? Tone::dim : Tone::plain, about(r)),
                 cell(maybe(r.predicted_step_us), Unit::microseconds), equal_cell(r), cell(maybe(r.max_relative_error)), cell(r.worst),
                 cell(most(r.peak_bytes), Unit::bytes), cell(most(r.predicted_peak_bytes), Unit::bytes), time_cell(r.started_us),
                 cell(about(r)), cell(r.note)};
    row.command = "compare run:" + std::to_string(r.run);
    p.rows.push_back(std::move(row));
  }
  if (d->trial && d->trial->running)
    p.facts = {{"phase", "Now", cell(d->trial->phase == "reference" ? "on one device" : d->trial->phase.empty() ? "begins" : "on processes")}};
  return p;
}

Panel trial_panel(const State& s) {
  Panel p{.id = "trial", .title = "Trial", .kind = PanelKind::table};
  p.empty = "Shows a trial while it runs, rank by rank, and afterwards what it measured. Press Ctrl+R.";
  p.columns = {{"rank", "Rank"}, {"step", "Step"}, {"at", "At"}, {"peak_bytes", "Peak memory", Unit::bytes},
               {"predicted_peak_bytes", "Predicted", Unit::bytes}};
  const Document* d = s.document();
  if (!d) return p;
  // That of the trial; before there is one here, of the newest run.
  const auto is_last = [&](const RunEntry& r) { return !d->trial || (d->trial->run && r.run == *d->trial->run); };
  const auto found = std::find_if(d->runs->rbegin(), d->runs->rend(), is_last);
  const RunEntry* last = found == d->runs->rend() ? nullptr : &*found;
  const bool running = d->trial && d->trial->running;
  if (d->trial) {
    const TrialAnswer& t = *d->trial;
    p.facts.push_back({"state", "State", cell(running ? "running" : "ended")});
    if (!t.outcome.empty())
      p.facts.push_back({"outcome", "Outcome", cell(t.outcome, Unit::none, t.ended_well ? Tone::good : Tone::bad)});
    for (const Diagnostic& m : t.diagnostics)
      if (m.severity != Severity::note)
        p.facts.push_back({"said", "Said", cell(to_string(m), Unit::none, m.severity == Severity::error ? Tone::bad : Tone::warning)});
    say_what_remains(p, s, t.job);
    if (running) p.facts.push_back({"cancel", "Cancel", cell("job " + std::to_string(t.job)), "cancel " + std::to_string(t.job)});
  }
  if (last && !running) {
    p.facts.push_back({"step_us", "Step", cell(maybe(last->step_us), Unit::microseconds)});
    p.facts.push_back({"predicted_step_us", "Predicted", cell(maybe(last->predicted_step_us), Unit::microseconds)});
    std::string text = "none";
    if (!last->losses.empty()) text = number_text(last->losses.front());
    if (last->losses.size() > 1) text += " … " + number_text(last->losses.back()) + " in " + std::to_string(last->losses.size()) + " steps";
    p.facts.push_back({"losses", "Loss", {Json(last->losses), text}});
  }
  const auto at = [](const std::vector<std::int64_t>& v, std::size_t i) { return i < v.size() ? Json(v[i]) : Json(); };
  const std::size_t ranks = running || !last ? (d->trial ? d->trial->ranks.size() : 0) : static_cast<std::size_t>(last->procs);
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto what = d->trial ? d->trial->ranks.find(static_cast<int>(r)) : std::map<int, RankPlace>::const_iterator{};
    const bool known = d->trial && what != d->trial->ranks.end();
    const auto said = [&](const std::string RankPlace::* part) {
      return cell(known && !(what->second.*part).empty() ? Json(what->second.*part) : Json());
    };
    TableRow row{.id = std::to_string(r)};
    row.cells = {cell(r), said(&RankPlace::step), said(&RankPlace::at), cell(running || !last ? Json() : at(last->peak_bytes, r), Unit::bytes),
                 cell(running || !last ? Json() : at(last->predicted_peak_bytes, r), Unit::bytes)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
