#include <set>

#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

Json to_json(const StatementRef& s) {
  return s.line ? Json({{"file", s.file}, {"line", s.line}, {"text", s.text}}) : Json();
}

Cell statement_cell(const StatementRef& s) {
  Cell c = cell(nullptr);
  if (s.line) c = {to_json(s), "line " + std::to_string(s.line) + ": " + s.text};
  return c;
}

// Selects the statement that caused the failure and the tensor that differs; empty if neither is known.
std::string select_failure(const Document& d, const Failure& f) {
  const std::string tensor = f.tensor.empty() ? "" : " tensor=" + session::quoted(f.tensor);
  if (f.statement.line) return select_line(d.seen, d.shown->text, f.statement.line) + tensor;
  return tensor.empty() ? "" : "select" + tensor;
}

}  // namespace

Panel verify_panel(const State& s) {
  Panel p{.id = "verify", .title = "Verify", .kind = PanelKind::table};
  p.empty = "Says whether a plan computes what the model computes. Open a model and write a plan.";
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->verified) {
    p.facts = {{"verdict", "Verdict", cell(d && d->valid && d->valid->open ? Json("open") : Json())}};
    return p;
  }
  say_whether_current(p, *d);
  const Verified& v = *d->shown->verified;
  const VerifyReport& r = v.report;
  const std::string verdict(to_string(r.verdict));
  Json staleness = Json::array();
  for (const Staleness& one : r.staleness)
    staleness.push_back({{"devices", one.devices},
                         {"lag", one.lag},
                         {"parameters", one.parameters},
                         {"first", one.first},
                         {"statement", to_json(one.statement)}});
  p.facts = {{"verdict", "Verdict", cell(verdict, Unit::none, tone_of_verdict(verdict))},
             {"obligations", "Checks", cell(r.obligations, Unit::count)},
             {"failure_count", "Failures", cell(r.failure_count, Unit::count)},
             {"staleness", "Old parameters", {staleness, std::to_string(r.staleness.size()) + " places"}},
             {"seconds", "Took", {v.seconds, cell(1e6 * v.seconds, Unit::microseconds).text}}};
  if (r.failures.empty()) p.empty = "Every check holds.";
  p.rows_id = "failures";
  p.columns = {{"kind", "Kind"},       {"operator", "Operator"}, {"tensor", "Tensor"}, {"region", "Region"},
               {"devices", "Devices"}, {"expected", "Expected"}, {"got", "Got"},       {"statement", "Statement"},
               {"device", "First device", Unit::none, true},
               {"wanted", "Wanted", Unit::none, true},
               {"there", "There", Unit::none, true}};
  const Marked marked(s);
  std::set<std::string> names;  // of what is selected
  if (d->shown->evaluation) {
    const Graph& g = *d->shown->evaluation->made.graph;
    for (const OpId o : marked.operators()) names.insert(g.node(o).name());
    for (const TensorId t : marked.tensors()) names.insert(g.tensor_name(t));
  }
  for (const Failure& f : r.failures) {
    TableRow row{.id = std::to_string(p.rows.size()), .tone = Tone::bad};
    row.cells = {cell(to_string(f.kind)), cell(f.op),       cell(f.tensor), cell(f.region),
                 cell(f.devices),         cell(f.expected), cell(f.got),    statement_cell(f.statement),
                 {f.device < 0 ? Json() : Json(f.device), ""}, {f.wanted, ""}, {f.there, ""}};
    row.selected = marked.statement(f.statement.line) || names.contains(f.op) || names.contains(f.tensor);
    row.command = select_failure(*d, f);
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
