// The block of the timeline that is selected: its slack, and what the step would be if it took no time.
#include <cstdlib>

#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

Cell time_cell_of(std::optional<Nanoseconds> t, const std::string& why) {
  return t ? cell(us(*t), Unit::microseconds) : cell(nullptr, Unit::none, Tone::dim, why);
}

void add_step(Panel& p, const char* id, const char* title, std::optional<Nanoseconds> step, Nanoseconds now, const std::string& why) {
  Cell c = time_cell_of(step, why);
  if (step) {
    const Nanoseconds less = now - *step;
    c.text += less == 0 ? ", as long as now" : ", " + cell(us(std::abs(less)), Unit::microseconds).text + (less > 0 ? " shorter" : " longer");
    if (less > 0) c.tone = Tone::good;
  }
  p.facts.push_back({id, title, std::move(c)});
}

}  // namespace

Panel task_panel(const State& s) {
  Panel p{.id = "task", .title = "Task", .kind = PanelKind::facts};
  p.empty = "Shows how much later a task may begin without a longer step, and what the step would be if it took no time. Select a "
            "block of the timeline.";
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation || !s.time || !s.time->us || s.time->lanes.size() != 1 || s.time->stream.empty()) return p;
  say_whether_current(p, *d);
  const Evaluation& e = *d->shown->evaluation;
  const int c = class_of_lane(e, s.time->lanes[0]);
  const std::shared_ptr<const StudiedTask> known = d->shown->study->known_task(c, s.time->stream, *window_of(s.time->us));
  const std::optional<StudiedTask> t = known ? std::optional(*known) : d->shown->study->find_task(c, s.time->stream, *window_of(s.time->us));
  if (!t) return p;
  const Nanoseconds step = e.simulation.step_ns;
  const std::string name = e.made.program.classes[static_cast<std::size_t>(t->task.device_class)].name;
  p.facts = {{"task", "Task", cell(t->what)},
             {"lane", "Lane", cell(name)},
             {"stream", "Stream", cell(s.time->stream)},
             {"start_us", "From", cell(us(t->start), Unit::microseconds)},
             {"end_us", "To", cell(us(t->end), Unit::microseconds)},
             {"time_us", "Time", cell(us(t->end - t->start), Unit::microseconds)},
             {"step_us", "Step", cell(us(step), Unit::microseconds)}};
  if (!known) p.facts.push_back({"running", "Being simulated", cell("its slack, and the step without it", Unit::none, Tone::dim)});
  if (!known) return p;
  Cell slack = time_cell_of(t->slack, t->problem);
  if (t->slack && *t->slack == 0) slack.text += ", the step depends on it", slack.tone = Tone::warning;
  p.facts.push_back({"slack_us", "May begin later by", std::move(slack)});
  add_step(p, "step_without_us", "Step if it took no time", t->step_without, step, t->problem);
  add_step(p, "step_without_all_us", "Step if none of its runs did", t->step_without_all, step, t->problem);
  return p;
}

}  // namespace planscope::session
