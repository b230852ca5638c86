// What a statement decides, and what changes without it; the devices that run what is selected.
#include "app/session/commands.h"
#include "app/session/lines.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/workbench/explain_text.h"

namespace planscope::session {

Panel statement_panel(const State& s) {
  Panel p{.id = "statement", .title = "Statement", .kind = PanelKind::facts};
  p.empty = "Shows what a statement decides, and what changes without it. Select a line of the plan.";
  const Document* d = s.document();
  if (!d || s.selection.statement == 0) return p;
  const std::vector<std::string> lines = lines_of(d->draft.text());
  const int line = s.selection.statement;
  const bool there = static_cast<std::size_t>(line) <= lines.size();
  p.facts = {{"line", "Line", cell(line)},
             {"text", "Text", cell(there ? Json(lines[static_cast<std::size_t>(line) - 1]) : Json())}};
  if (!s.inspection || s.inspection->selection.statement != line) return p;
  const Inspection& i = *s.inspection;
  say_whether_inspected(p, s);
  p.facts.push_back({"decides", "Operators", cell(i.count, Unit::count, Tone::plain, i.operators)});
  p.facts.push_back({"operators", "They are", cell(i.operators.empty() ? Json() : Json(i.operators))});
  if (i.without) {
    const Tried& t = *i.without;
    p.facts.push_back({"step_delta_us", "Step without it", step_delta_cell(t)});
    p.facts.push_back({"peak_delta_bytes", "Peak memory without it", peak_delta_cell(t)});
    p.facts.push_back({"verdict", "Without it", cell(to_string(t.verdict))});
    p.facts.push_back({"by", "Why", {by_json(t), by_text(t)}});
  } else if (i.running && i.to_try > 0) {
    p.facts.push_back({"verdict", "Without it", cell(nullptr, Unit::none, Tone::dim, "it is being tried")});
  }
  return p;
}

Panel try_panel(const State& s) {
  Panel p{.id = "try", .title = "What if", .kind = PanelKind::table};
  p.empty = "Shows what one more statement would change, or why it cannot stand there: try \"trans * recompute\"";
  p.rows_id = "parts";
  p.columns = {{"what", "What"}, {"step_delta_us", "Step", Unit::microseconds}, {"delta_bytes", "Bytes", Unit::bytes}};
  const Document* d = s.document();
  if (!d || !d->tried) return p;
  p.facts = {{"statement", "Statement", cell(d->tried->statement),
              print(Invocation{"put", {{"statement", d->tried->statement}}})}};
  p.current = d->tried->text == d->draft.text() && d->tried->cluster == d->cluster && d->tried->measurements == d->measurements;
  if (!p.current) p.reason = "the plan has been changed since";
  if (!d->tried->tried) {
    const std::string why = d->tried->running ? "it is being tried" : "it was ended";
    p.facts.push_back({"verdict", "Verdict", cell(nullptr, Unit::none, Tone::dim, why)});
    return p;
  }
  const Tried& t = *d->tried->tried;
  p.facts.push_back(
      {"verdict", "Verdict", cell(to_string(t.verdict), Unit::none, has_figures(t) ? Tone::plain : Tone::bad)});
  p.facts.push_back({"step_delta_us", "Step", step_delta_cell(t)});
  p.facts.push_back({"peak_delta_bytes", "Peak memory", peak_delta_cell(t)});
  p.facts.push_back({"by", "Why", {by_json(t), by_text(t)}});
  for (const Diagnostic& n : t.notes) p.facts.push_back({"note", "Of the line", cell(n.what)});
  if (!has_figures(t)) return p;
  const auto part = [&](const std::string& what, std::optional<double> us, std::optional<std::int64_t> bytes) {
    TableRow row{.id = what};
    row.cells = {cell(what), us ? Cell{*us, signed_time(*us)} : cell(nullptr),
                 bytes ? Cell{*bytes, signed_bytes(*bytes)} : cell(nullptr)};
    p.rows.push_back(std::move(row));
  };
  const std::pair<const char*, double> times[] = {{"compute", t.time.compute},
                                                  {"waiting for communication", t.time.communication},
                                                  {"warm-up", t.time.warm_up},
                                                  {"cool-down", t.time.cool_down},
                                                  {"imbalance", t.time.imbalance},
                                                  {"waiting for data", t.time.data},
                                                  {"waiting for host memory", t.time.memory}};
  for (const auto& [what, us] : times)
    if (us != 0) part(what, us, {});
  for (const TrafficChange& c : t.traffic) part(c.kind + " of " + std::to_string(c.group), {}, c.bytes);
  for (int k = 0; k < kMemoryKinds; ++k)
    if (const std::int64_t bytes = t.memory.kinds[static_cast<std::size_t>(k)]; bytes != 0)
      part("memory: " + std::string(to_string(static_cast<MemoryKind>(k))), {}, bytes);
  return p;
}

Panel place_panel(const State& s) {
  Panel p{.id = "place", .title = "Place", .kind = PanelKind::table};
  p.empty = "Shows the devices that run what is selected. Select operators, a statement or a place, as pipe=0.";
  p.columns = {{"name", "Devices"},
               {"devices", "Count", Unit::count},
               {"operators", "Of the selected", Unit::count},
               {"work_us", "Work", Unit::microseconds},
               {"peak_bytes", "Peak memory", Unit::bytes},
               {"memory_bytes", "Device memory", Unit::bytes}};
  if (!s.document() || !s.inspection) return p;
  say_whether_inspected(p, s);
  const Marked marked(s);
  const Evaluation* e = s.document()->shown ? s.document()->shown->evaluation.get() : nullptr;
  for (const InspectedClass& c : s.inspection->classes) {
    TableRow row{.id = c.name};
    row.command = print(Invocation{"select", {{"place", c.name}}});
    if (e) row.selected = marked.device_class(class_of_lane(*e, c.name));
    row.cells = {cell(c.name),
                 cell(c.devices, Unit::count),
                 cell(c.operators, Unit::count),
                 cell(c.work_us, Unit::microseconds),
                 cell(c.peak_bytes, Unit::bytes, c.peak_bytes > c.memory_bytes ? Tone::bad : Tone::plain),
                 cell(c.memory_bytes, Unit::bytes)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
