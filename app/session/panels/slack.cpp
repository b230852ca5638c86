// The tasks that the step depends on, and how much later each may begin.
#include <cstdio>

#include "app/session/lanes.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/session/slacks.h"

namespace planscope::session {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

Cell slack_cell(const TaskSlack& t, bool asked) {
  if (!t.task.slack)
    return cell(nullptr, Unit::none, Tone::dim,
                !t.task.problem.empty() ? t.task.problem : asked ? "it is being simulated"
                                                         : "the command slacks finds it");
  return cell(us(*t.task.slack), Unit::microseconds, *t.task.slack == 0 ? Tone::warning : Tone::plain);
}

}  // namespace

Panel slack_panel(const State& s) {
  Panel p{.id = "slack", .title = "Slack", .kind = PanelKind::table};
  p.empty = "Lists the tasks that a step depends on, and how much later each may begin without a longer step. Open a "
            "model and write a plan.";
  p.columns = {{"lane", "Devices"}, {"stream", "Stream"}, {"task", "Task"},
               {"slack_us", "May begin later by", Unit::microseconds}, {"time_us", "Time", Unit::microseconds},
               {"start_us", "From", Unit::microseconds}, {"critical", "On the critical path"}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  p.commands = {"slacks"};
  const Evaluation& e = *d->shown->evaluation;
  const SlackAnswer* known = d->slacks && d->slacks->of == d->shown->study ? d->slacks.get() : nullptr;
  const std::vector<TaskSlack> tasks = known ? known->tasks : slack_candidates(e);
  p.facts = {{"step_us", "Step", cell(e.simulation.step_us(), Unit::microseconds)}};
  if (known) say_what_remains(p, s, known->job);
  if (known && known->running)
    p.facts.push_back({"cancel", "Being simulated", cell("job " + std::to_string(known->job)),
                       "cancel " + std::to_string(known->job)});
  if (!known) p.facts.push_back({"slacks", "Slack", cell("not known yet", Unit::none, Tone::dim), "slacks"});
  const Marked marked(s);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const TaskSlack& t = tasks[k];
    const std::string& lane = e.made.program.classes[static_cast<std::size_t>(t.task.task.device_class)].name;
    TableRow row{.id = std::to_string(k)};
    row.cells = {cell(lane), cell(t.stream), cell(t.task.what), slack_cell(t, known != nullptr),
                 cell(us(t.length()), Unit::microseconds), cell(us(t.task.start), Unit::microseconds),
                 t.critical ? cell(*t.critical ? "yes" : "no")
                            : cell(nullptr, Unit::none, Tone::dim, "steps overlap: known once the slack is")};
    row.command = "select none " + viz::block_arguments(lane, t.stream, {us(t.task.start)}, {us(t.task.end)});
    row.selected = marked.task(t);
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
