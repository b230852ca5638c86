#include "app/workbench/effects.h"

#include <algorithm>

#include "engine/plan/meeting.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void make_set(std::vector<int>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

class Effects {
 public:
  explicit Effects(const plan::Decisions& d) : d_(d) {
    out_.plan = d.plan;
    out_.statements.resize(d.plan.statements.size());
  }

  PlanEffects run() {
    for (int op = 0; op < d_.operator_count; ++op) of_operator(op);
    for (int p = 0; p < d_.parameter_count; ++p) of_parameter(p);
    plan::MeetingTasks meeting(d_);
    for (const plan::OrderRow& row : d_.order)
      if (!meeting.apart(row))
        for (const plan::TaskFamily& f : row.chain) tasks(row.statement, f);
    for (const plan::ForbidRow& row : d_.forbids) forbidden(row);
    for (const int s : d_.deferred) out_.statements[at(s)].waits = true;
    if (d_.open_order >= 0) out_.statements[at(d_.open_order)].waits = true;
    for (StatementEffect& e : out_.statements) {
      make_set(e.operators);
      make_set(e.parameters);
    }
    return std::move(out_);
  }

 private:
  void decides(int statement, int op) {
    if (statement >= 0 && (of(statement).operators.empty() || of(statement).operators.back() != op))
      of(statement).operators.push_back(op);
  }
  void decides_parameter(int statement, int p) {
    if (statement >= 0) of(statement).parameters.push_back(p);
  }
  void algorithm(int unit, int op) {
    if (unit >= 0) decides(d_.algorithms[at(unit)].statement, op);
  }
  StatementEffect& of(int statement) { return out_.statements[at(statement)]; }

  void of_operator(int op) {
    for (int a = 0; a < static_cast<int>(d_.axes.size()); ++a) decides(d_.split(op, a).statement, op);
    if (const int p = d_.operator_place[at(op)]; p >= 0) decides(d_.places[at(p)].statement, op);
    if (const int i = d_.operator_indexed[at(op)]; i >= 0)
      for (const int p : d_.indexed_places[at(i)].places)
        if (p >= 0) decides(d_.places[at(p)].statement, op);
    algorithm(d_.operator_storage[at(op)], op);
    algorithm(d_.operator_gathered[at(op)], op);
    algorithm(d_.operator_grad_split[at(op)], op);
    decides(d_.operator_lag[at(op)].statement, op);
  }

  void of_parameter(int p) {
    for (const plan::Phase phase : {plan::Phase::fetch, plan::Phase::grad, plan::Phase::update})
      for (int a = 0; a < static_cast<int>(d_.axes.size()); ++a)
        decides_parameter(d_.parameter_split(phase, p, a).statement, p);
    if (const int u = d_.update_storage[at(p)]; u >= 0) decides_parameter(d_.algorithms[at(u)].statement, p);
  }

  void unit(int statement, int unit) {
    const std::vector<int>& ops = d_.units[at(unit)].operators;
    of(statement).operators.insert(of(statement).operators.end(), ops.begin(), ops.end());
  }

  void tasks(int statement, const plan::TaskFamily& f) {
    const bool one = f.unit && f.unit->kind == plan::Expression::Kind::number;
    if (one && f.unit->number >= 0 && f.unit->number < static_cast<std::int64_t>(f.units.size()))
      return unit(statement, f.units[static_cast<std::size_t>(f.unit->number)]);
    for (const int u : f.units) unit(statement, u);
  }

  void forbidden(const plan::ForbidRow& row) {
    for (const plan::ForbiddenSplit& f : row.splits) {
      const bool parameter = plan::of_parameters(f.phase) || f.phase == plan::Phase::fetch;
      (parameter ? of(row.statement).parameters : of(row.statement).operators).push_back(f.row);
    }
    for (const plan::ForbiddenPlace& f : row.places) of(row.statement).operators.push_back(f.row);
    for (const plan::ForbiddenAlgorithm& f : row.algorithms) unit(row.statement, f.unit);
    for (const plan::ForbiddenState& f : row.states) of(row.statement).parameters.push_back(f.parameter);
  }

  const plan::Decisions& d_;
  PlanEffects out_;
};

}  // namespace

StatementEffect PlanEffects::of_line(int line) const {
  StatementEffect out;
  for (std::size_t k = 0; k < statements.size(); ++k) {
    if (plan.statements[k].line != line) continue;
    const StatementEffect& e = statements[k];
    out.operators.insert(out.operators.end(), e.operators.begin(), e.operators.end());
    out.parameters.insert(out.parameters.end(), e.parameters.begin(), e.parameters.end());
    out.waits = out.waits || e.waits;
  }
  make_set(out.operators);
  make_set(out.parameters);
  return out;
}

PlanEffects plan_effects(const plan::Decisions& d) { return Effects(d).run(); }

}  // namespace planscope
