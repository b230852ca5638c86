#include "app/workbench/named.h"

#include <algorithm>
#include <set>

#include "engine/plan/parser.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Diagnostic about(Diagnostic d, const std::string& text) {
  d.file.clear();
  d.line = 0;
  d.subject = text;
  return d;
}

// By a row about their places behind the plan, which is taken out again.
Result<std::vector<int>> operators_of(const plan::Plan& p, const plan::ModelInfo& info, const plan::Units& units,
                                      const std::string& text) {
  plan::Place all;
  all.form = plan::Place::Form::name;
  all.name = "all";
  plan::Statement probe;
  for (const plan::Statement& s : p.statements) probe.line = std::max(probe.line, s.line + 1);
  probe.body = plan::ForbidStatement{plan::AssignStatement{units, {all}}};
  plan::Plan asked = p;
  asked.statements.push_back(probe);
  const Result<plan::Decisions> bound = plan::bind(asked, info, plan::given_values(asked));
  std::set<int> out;
  for (const plan::ForbidRow& row : bound->forbids)
    if (row.statement == static_cast<int>(bound->plan.statements.size()) - 1)
      for (const plan::ForbiddenPlace& f : row.places) out.insert(f.row);
  if (!out.empty()) return std::vector<int>(out.begin(), out.end());
  for (const Diagnostic& d : bound.diagnostics)
    if (d.line == probe.line && d.severity == Severity::error) return about(d, text);
  return about(error("no operator is meant"), text);
}

}  // namespace

Result<NamedRows> named_rows(const plan::Plan& p, const plan::ModelInfo& info, const std::string& text) {
  // A group of tasks with indices is one of an order row; everything else one that can be placed.
  const Result<plan::Statement> parsed = plan::parse_statement("assign " + text + " to all");
  if (!parsed.ok()) {
    std::vector<Diagnostic> problems;
    for (const Diagnostic& d : parsed.diagnostics) problems.push_back(about(d, text));
    return problems;
  }
  const auto* assign = std::get_if<plan::AssignStatement>(&parsed->body);
  if (!assign) return about(error("this is no selection of operators"), text);
  plan::Units units = assign->units;
  NamedRows out;
  const bool phase = !units.groups.empty() && units.groups[0].form == plan::Group::Form::phase;
  if (phase) {
    const plan::Group group = units.groups[0];
    out.phase = group.phase;
    out.tasks = !out.of_parameters();
    const bool nested = !group.units.groups.empty() && group.units.groups[0].form == plan::Group::Form::phase;
    if (units.groups.size() > 1 || nested)
      return about(error("this is no selection of operators", "",
                         "name operators as a plan does, or update(…), grad(…) or fetch(…) of them"),
                   text);
    units = group.units;
  }
  for (plan::Group& g : units.groups) g.index.clear();
  Result<std::vector<int>> operators = operators_of(p, info, units, text);
  if (!operators.ok()) return operators.diagnostics;
  if (!out.of_parameters()) {
    out.rows = std::move(*operators);
    return out;
  }
  for (int k = 0; k < static_cast<int>(info.parameters.size()); ++k)
    for (const int reader : info.parameters[at(k)].readers)
      if (std::binary_search(operators->begin(), operators->end(), reader)) {
        out.rows.push_back(k);
        break;
      }
  if (out.rows.empty()) return about(error("these operators read no parameters"), text);
  return out;
}

}  // namespace planscope
