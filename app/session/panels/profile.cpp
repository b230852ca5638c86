#include <cstdio>

#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

Panel profile_panel(const State& s) {
  Panel p{.id = "profile", .title = "Profile", .kind = PanelKind::table};
  p.empty = "Shows what operators take on this machine, measured, so that predictions start from that: profile";
  p.columns = {{"operator", "Operator"},
               {"shapes", "Shapes"},
               {"measured_us", "Measured", Unit::microseconds},
               {"modelled_us", "Modelled", Unit::microseconds},
               {"ratio", "Measured ÷ modelled"},
               {"origin", "Origin"},
               {"problem", "Problem"}};
  const Document* d = s.document();
  if (!d || !d->profile) return p;
  const ProfileAnswer& a = *d->profile;
  p.facts = {{"state", "State", cell(a.running ? "running" : "ended")}};
  if (a.running) {
    p.facts.push_back({"done", "Measured", cell(std::to_string(a.done) + " of " + std::to_string(a.of))});
    say_what_remains(p, s, a.job);
    p.facts.push_back({"cancel", "Cancel", cell("job " + std::to_string(a.job)), "cancel " + std::to_string(a.job)});
  }
  for (const Diagnostic& m : a.diagnostics)
    if (m.severity != Severity::note)
      p.facts.push_back(
          {"said", "Said", cell(to_string(m), Unit::none, m.severity == Severity::error ? Tone::bad : Tone::warning)});
  if (a.link) {
    p.facts.push_back(
        {"link_latency_us", "Latency between processes", cell(a.link->latency.count, Unit::microseconds)});
    p.facts.push_back({"link_bandwidth_bytes_per_s",
                       "Bandwidth between processes",
                       {a.link->bandwidth, cell(a.link->bandwidth, Unit::bytes).text + "/s"}});
  }
  if (!a.result) return p;
  p.facts.push_back({"measured", "Measured", cell(a.result->measured, Unit::count)});
  p.facts.push_back({"reused", "Known before", cell(a.result->reused, Unit::count)});
  if (!a.result->failure.empty())
    p.facts.push_back({"failure", "Failure", cell(a.result->failure, Unit::none, Tone::bad)});
  const Marked marked(s);
  for (const ProfiledOperator& o : a.result->operators) {
    TableRow row{.id = o.item.key + " " + o.item.shapes, .tone = o.problem.empty() ? Tone::plain : Tone::warning};
    row.selected = marked.some_of(o.item.operators);
    if (const std::string words = words_of(*d, o.item.operators, 1000); !words.empty())
      row.command = print(Invocation{"select", {{"operators", words}}});
    const bool known = o.problem.empty() && o.measured_us > 0;
    Cell ratio = cell(nullptr);
    if (known && o.item.modelled_us > 0) {
      char text[32];
      std::snprintf(text, sizeof text, "%.2f", o.measured_us / o.item.modelled_us);
      ratio = {o.measured_us / o.item.modelled_us, text};
    }
    row.cells = {cell(o.item.key),
                 cell(o.item.shapes),
                 cell(known ? Json(o.measured_us) : Json(), Unit::microseconds),
                 cell(o.item.modelled_us, Unit::microseconds),
                 std::move(ratio),
                 cell(known ? o.reused ? Json("measured before") : Json("measured") : Json()),
                 cell(o.problem)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
