#include "planner/search/splits/bound.h"

#include "engine/plan/parser.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

BoundAxes bound_by(const Space& space, OpId o, const Strategy& s) {
  BoundAxes out(at(space.axes()));
  std::vector<StatedSplit> splits;
  for (int a = 0; a < space.axes(); ++a) {
    const Option& x = s.options[at(a)];
    if (x.kind == Option::Kind::split) splits.push_back({a, x.factor, x.part});
    out[at(a)].pass = x.set;
    out[at(a)].backward_pass = x.kind == Option::Kind::passes_back;
  }
  for (const Binding& b : stated_bindings(space.graph(), space.program(), o, splits))
    out[at(b.digit.axis)].parts.emplace_back(b.factor, b.part);
  return out;
}

Result<plan::Decisions> decisions_of(const plan::ModelInfo& info, const std::string& text) {
  const Result<plan::Plan> plan = plan::parse_plan(text, "");
  if (!plan.ok()) return plan.diagnostics;
  Result<plan::Decisions> decisions = plan::bind(*plan, info);
  if (!decisions.ok()) return decisions.diagnostics;
  return decisions;
}

Result<std::vector<BoundAxes>> bound_by(const Space& space, const plan::Decisions& decisions) {
  const auto bound = bound_axes(space.graph(), decisions, space.cluster());
  if (!bound.ok()) return bound.diagnostics;
  std::vector<BoundAxes> out(bound->size(), BoundAxes(at(space.axes())));
  for (int a = 0; a < space.axes(); ++a)
    if (const int axis = plan::find_axis(decisions, space.program().axes[at(a)].name); axis >= 0)
      for (std::size_t o = 0; o < out.size(); ++o) out[o][at(a)] = (*bound)[o][at(axis)];
  return out;
}

}  // namespace planscope::splits
