#include <cstdio>
#include <map>

#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

// How far the measured time is from the predicted one, as a share of that.
Cell error_cell(const PredictionError& e, bool comparable) {
  if (!e.predicted_us || *e.predicted_us <= 0) return cell(nullptr);
  const double error = e.measured_us / *e.predicted_us - 1;
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * error);
  return {error, text, comparable ? Tone::plain : Tone::dim};
}

// Selects the operators, where they run; empty: the row is of neither.
std::string select_of(const Document& d, int device_class, const std::vector<OpId>& operators) {
  std::map<std::string, std::string> what;
  if (const std::string words = words_of(d, operators, 1000); !words.empty()) what["operators"] = words;
  const Evaluation* e = d.shown ? d.shown->evaluation.get() : nullptr;
  if (e && device_class >= 0 && static_cast<std::size_t>(device_class) < e->made.program.classes.size())
    what["lane"] = e->made.program.classes[static_cast<std::size_t>(device_class)].name;
  return what.empty() ? "" : print(Invocation{"select", what});
}

}  // namespace

Panel measured_panel(const State& s) {
  Panel p{.id = "measured", .title = "Predicted and measured", .kind = PanelKind::tree};
  p.empty =
      "Shows what a trial has measured beside what was predicted, by device class, task and operator. Run one: Ctrl+R; "
      "or look at "
      "an earlier one: compare run:N";
  p.columns = {{"by", "By"},
               {"what", "What"},
               {"parent", "In", Unit::none, true},
               {"count", "Runs", Unit::count},
               {"predicted_us", "Predicted", Unit::microseconds},
               {"measured_us", "Measured", Unit::microseconds},
               {"delta_us", "Δ", Unit::microseconds},
               {"error", "Error"}};
  const Document* d = s.document();
  if (!d || !d->measured) return p;
  const MeasuredRun& m = *d->measured;
  p.current = d->version == m.version;
  if (!p.current) p.reason = "the run is of version " + std::to_string(m.version);
  if (p.current && m.measurements != d->measurements) {
    p.current = false;
    p.reason = "operators have been measured since: compare run:" + std::to_string(m.run) + " predicts it again";
  }
  p.facts = {{"run", "Run", cell(m.run), "compare run:" + std::to_string(m.run)},
             {"version", "Version", cell(m.version)},
             {"cluster", "Cluster", cell(m.cluster.name)},
             {"step", "Step", cell(m.step + 1, Unit::none, Tone::plain, "of the steps of the run, the median one")},
             {"predicted_step_us", "Predicted", cell(m.predicted.simulation.step_us(), Unit::microseconds)},
             {"measured_step_us", "Measured", cell(m.measured.step_us(), Unit::microseconds)}};
  if (m.oversubscribed)
    p.facts.push_back(
        {"said", "Said", cell("processes shared cores: times cannot be compared", Unit::none, Tone::warning)});
  const Marked marked(s);
  for (std::size_t i = 0; i < m.errors.size(); ++i) {
    const PredictionError& e = m.errors[i];
    TableRow row{.id = std::to_string(i), .parent = e.parent < 0 ? "" : std::to_string(e.parent)};
    const Json predicted = e.predicted_us ? Json(*e.predicted_us) : Json();
    Cell delta = cell(nullptr);
    if (e.predicted_us) {
      const double by = e.measured_us - *e.predicted_us;
      delta = {by, (by < 0 ? "−" : "+") + cell(by < 0 ? -by : by, Unit::microseconds).text};
    }
    row.cells = {cell(e.by),
                 cell(e.what),
                 cell(e.parent < 0 ? Json() : Json(e.parent)),
                 cell(e.count, Unit::count),
                 cell(predicted, Unit::microseconds),
                 cell(e.measured_us, Unit::microseconds),
                 std::move(delta),
                 error_cell(e, !m.oversubscribed)};
    const int device_class = d->version == m.version ? e.device_class : -1;  // else of another plan
    row.command = select_of(*d, device_class, e.operators);
    row.selected = e.by == "class" ? marked.device_class(device_class) : marked.run(e.operators, device_class);
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
