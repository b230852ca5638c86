#include "app/session/panels/panels.h"
#include "engine/plan/bind.h"

namespace planscope::session {

namespace {

std::string_view severity(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

void add(Panel& p, const Diagnostic& d) {
  std::string text = d.what;
  if (!d.why.empty()) text += "; " + d.why;
  const Tone tone = d.severity == Severity::error ? Tone::bad : d.severity == Severity::warning ? Tone::warning : Tone::dim;
  TableRow r{.id = std::to_string(p.rows.size()), .tone = tone};
  r.cells = {cell(severity(d.severity), Unit::none, tone), cell(d.line ? Json(d.line) : Json()),
             cell(d.subject.empty() ? text : d.subject + ": " + text), cell(d.hint), cell(d.file)};
  if (d.line) r.command = "select statement=" + std::to_string(d.line);
  p.rows.push_back(std::move(r));
}

// What is open, and what is legal there.
void add_open(Panel& p, const Decided& open) {
  for (const plan::OpenChoice& c : plan::open_choices(open.decisions, open.sized->info)) {
    Diagnostic d = note("open: " + (c.variable >= 0 ? "?" + open.decisions.variables[static_cast<std::size_t>(c.variable)].name : std::string("a choice")));
    if (c.statement >= 0) d.line = open.decisions.plan.statements[static_cast<std::size_t>(c.statement)].line;
    for (std::size_t i = 0; i < c.choices.size() && i < 20; ++i) d.why += (i ? ", " : "it can be ") + c.choices[i];
    if (c.choices.size() > 20) d.why += " and " + std::to_string(c.choices.size() - 20) + " more";
    d.hint = c.choices.empty() ? "write a value, or let the planner choose" : "write one of them, or let the planner choose";
    add(p, d);
  }
}

}  // namespace

Panel problems_panel(const State& s) {
  Panel p{.id = "problems", .title = "Problems", .kind = PanelKind::table};
  p.columns = {{"severity", "Severity"}, {"line", "Line"}, {"text", "Problem"}, {"hint", "How to mend it"}, {"file", "File"}};
  p.empty = "There are no problems.";
  const Document* d = s.document();
  for (const Diagnostic& m : s.messages) add(p, m);
  if (!d || !d->latest) return p;
  for (const Diagnostic& m : d->latest->diagnostics) add(p, m);
  if (d->latest->open) add_open(p, *d->latest->open);
  p.current = d->latest->text == d->draft.text() && d->latest->cluster_name == d->cluster;
  if (!p.current) p.reason = "the newest text is being evaluated";
  return p;
}

}  // namespace planscope::session
