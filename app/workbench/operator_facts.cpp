#include "app/workbench/operator_facts.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/trans.h"
#include "engine/plan/within.h"

namespace planscope {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

OperatorFacts::OperatorFacts(const Materialized& made, const plan::ModelInfo& info)
    : d_(made.decisions), p_(made.program), info_(info), of_(made.graph->ops.size()) {
  for (const Segment& s : p_.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code != Code::compute) continue;
      for (const PieceOp& o : p_.pieces[at(i.piece)].ops)
        if (!of_[at(o.op)].op) of_[at(o.op)] = {&o, s.place};
    }
}

const std::string& OperatorFacts::axis_name(AxisId a) const {
  while (p_.axes[at(a)].of >= 0) a = p_.axes[at(a)].of;
  return p_.axes[at(a)].name;
}

std::vector<const Binding*> OperatorFacts::bindings(int op, const std::string& axis) const {
  std::vector<const Binding*> out;
  if (!of_[at(op)].op) return out;
  for (const Binding& b : of_[at(op)].op->bindings)
    if (axis_name(b.digit.axis) == axis) out.push_back(&b);
  return out;
}

const plan::Split& OperatorFacts::split(plan::Phase phase, int row, int axis) const {
  return phase == plan::Phase::forward ? d_.split(row, axis) : d_.parameter_split(phase, row, axis);
}

const std::vector<plan::FactorInfo>& OperatorFacts::factors(plan::Phase phase, int row) const {
  return phase == plan::Phase::forward ? info_.operators[at(row)].factors : info_.parameters[at(row)].factors;
}

std::string OperatorFacts::factor_name(plan::Phase phase, int row, int factor) const {
  const std::vector<plan::FactorInfo>& all = factors(phase, row);
  for (const std::string& name : all[at(factor)].names)
    if (plan::find_factor(all, name) == factor) return name;
  return {};
}

std::string OperatorFacts::does(plan::Phase phase, int row, int axis) const {
  if (phase != plan::Phase::forward) {
    const int f = split(phase, row, axis).factor;
    return f >= 0 ? factor_name(phase, row, f) : "none";
  }
  std::vector<std::string> out;
  for (const Binding* b : bindings(row, d_.axes[at(axis)].name)) {
    std::string name = b->factor >= 0 ? factor_name(phase, row, b->factor) : "partial";
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  }
  return out.empty() ? "none" : join(out, " and ");
}

std::optional<int> OperatorFacts::factor(plan::Phase phase, int row, int axis) const {
  if (phase != plan::Phase::forward) return split(phase, row, axis).factor;
  const std::vector<const Binding*> all = bindings(row, d_.axes[at(axis)].name);
  if (all.empty()) return plan::kNone;
  const auto other = [&](const Binding* b) { return b->factor != all[0]->factor; };
  if (all[0]->factor < 0 || std::any_of(all.begin(), all.end(), other)) return std::nullopt;
  return all[0]->factor;
}

std::string OperatorFacts::place(int op) const {
  std::vector<std::string> stated;
  for (const int p : plan::places_of(d_, op)) stated.push_back(plan::place_text(d_, d_.places[at(p)]));
  if (!stated.empty()) return join(stated, "; ");
  if (!of_[at(op)].op) return {};
  const Place& place = p_.places[at(of_[at(op)].place)];
  std::vector<std::string> fixed;
  for (const auto& [axis, coordinate] : place.fixed)
    fixed.push_back(p_.axes[at(axis)].name + "=" + std::to_string(coordinate));
  return fixed.empty() ? p_.grids[at(place.grid)].name : join(fixed, ", ");
}

std::int64_t OperatorFacts::indices(int op, const std::string& axis, bool free) const {
  if (!of_[at(op)].op) return 0;
  for (const Axis& a : p_.axes)
    if (free && a.name == axis && a.grid < 0) return a.size;
  for (const AxisId a : free_axes(p_, p_.places[at(of_[at(op)].place)]))
    if (axis_name(a) == axis) return p_.axes[at(a)].size;
  return 0;
}

std::string OperatorFacts::storage(int unit) const {
  return unit < 0 ? "keep" : std::string(to_string(d_.algorithms[at(unit)].alternatives[0]));
}

}  // namespace planscope
