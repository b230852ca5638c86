#include <algorithm>

#include "app/session/marked.h"
#include "app/session/open_kinds.h"
#include "app/session/panels/panels.h"
#include "engine/base/enumeration.h"
#include "engine/base/text.h"
#include "engine/plan/bind.h"
#include "engine/plan/printer.h"

namespace planscope::session {

namespace {

std::string_view severity(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

// `seen`: the word of the text that it is about.
void add(Panel& p, const Diagnostic& d, const Marked& marked, const std::string& seen = "") {
  std::string text = d.what;
  if (!d.why.empty()) text += "; " + d.why;
  const Tone tone = d.severity == Severity::error     ? Tone::bad
                    : d.severity == Severity::warning ? Tone::warning
                                                      : Tone::dim;
  TableRow r{.id = std::to_string(p.rows.size()), .tone = tone};
  r.cells = {cell(severity(d.severity), Unit::none, tone), cell(d.line ? Json(d.line) : Json()),
             cell(d.subject.empty() ? text : d.subject + ": " + text), cell(d.hint), cell(d.file)};
  if (d.line) r.command = "select statement=" + std::to_string(d.line) + seen;
  r.selected = marked.statement(d.line);
  p.rows.push_back(std::move(r));
}

constexpr std::size_t kShown = 20;  // choices of an open value

// What may stand for an open value: its choices, or its bounds, and the conditions that have a say.
std::string legal(const plan::OpenChoice& c, const plan::Decisions& d) {
  std::vector<std::string> out;
  if (!c.choices.empty()) out.push_back("it can be " + enumeration(c.choices, kShown));
  if (c.variable < 0) return join(out, "; ");
  const plan::OpenVariable& v = d.variables[static_cast<std::size_t>(c.variable)];
  if (c.choices.empty() && v.at_least) out.push_back("at least " + std::to_string(*v.at_least));
  if (c.choices.empty() && v.at_most) out.push_back("at most " + std::to_string(*v.at_most));
  for (const plan::ConditionRow& r : d.conditions)
    if (std::find(v.statements.begin(), v.statements.end(), r.statement) != v.statements.end())
      out.push_back(plan::print(r.condition) + " (line " +
                    std::to_string(d.plan.statements[static_cast<std::size_t>(r.statement)].line) + ")");
  return join(out, "; ");
}

// What is open, and what is legal there.
void add_open(Panel& p, const Decided& open, const Marked& marked, const std::string& seen) {
  for (const auto& [c, what] : open_kinds(open)) {
    Diagnostic d = note("open: " + what);
    if (c.statement >= 0) d.line = open.decisions.plan.statements[static_cast<std::size_t>(c.statement)].line;
    d.why = legal(c, open.decisions);
    d.hint =
        c.choices.empty() ? "write a value, or let the planner choose" : "write one of them, or let the planner choose";
    add(p, d, marked, seen);
  }
}

}  // namespace

Panel problems_panel(const State& s) {
  Panel p{.id = "problems", .title = "Problems", .kind = PanelKind::table};
  p.columns = {
      {"severity", "Severity"}, {"line", "Line"}, {"text", "Problem"}, {"hint", "How to mend it"}, {"file", "File"}};
  p.empty = "There are no problems.";
  const Document* d = s.document();
  const Marked marked(s);
  for (const Diagnostic& m : s.messages) add(p, m, marked);
  if (!d || !d->latest) return p;
  const std::string seen = seen_word(d->seen, d->latest->text);
  for (const Diagnostic& m : d->latest->diagnostics) add(p, m, marked, seen);
  if (d->latest->open) add_open(p, *d->latest->open, marked, seen);
  p.current = d->current(d->latest);
  if (!p.current) p.reason = "of an older text: the newest text is being evaluated";
  return p;
}

}  // namespace planscope::session
