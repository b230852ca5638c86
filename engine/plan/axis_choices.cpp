// `by a|b`: of which later lines have decided one.
#include "engine/plan/trans.h"

namespace planscope::plan {

namespace {
// One operator's (or parameter's) cells of `by a|b`.
struct Taken {
  std::vector<int> open;  // axes that the choice still leaves open
  int by_others = 0;      // axes to which a later line gives a factor
  bool automatic = true;  // all later lines are the planner's
};

Taken taken(const Decisions& d, const std::vector<Split>& table, int row, const AxisChoice& choice) {
  Taken out;
  for (const int axis : choice.axes) {
    const Split& s = table[d.cell(row, axis)];
    if (s.statement == choice.statement) {
      if (s.factor == kOpen) out.open.push_back(axis);
      continue;
    }
    if (s.factor >= 0) ++out.by_others;
    out.automatic =
        out.automatic && s.statement >= 0 && d.plan.statements[static_cast<std::size_t>(s.statement)].automatic;
  }
  return out;
}
}  // namespace

void settle_axis_choices(Context& c) {
  Decisions& d = c.decisions;
  for (const AxisChoice& choice : d.axis_choices) {
    std::vector<Split>& table = d.splits(choice.phase);
    const int rows = choice.phase == Phase::forward ? d.operator_count : d.parameter_count;
    for (int row = 0; row < rows; ++row) {
      const Taken t = taken(d, table, row, choice);
      if (t.open.empty() && t.by_others > 1 && t.automatic) {
        c.report(Severity::error, choice.statement, "several of the axes take the factor; it is a choice of one.");
        break;
      }
      if (t.open.size() == choice.axes.size()) continue;  // nothing is decided
      for (const int axis : t.open) {
        Split& s = table[d.cell(row, axis)];
        const Alternatives& a = d.alternatives[static_cast<std::size_t>(s.alternatives)];
        if (t.by_others > 0) {
          s.factor = kNone;
        } else if (!choice.none && t.open.size() == 1 && a.factors.size() == 2 && a.variable < 0) {
          s.factor = a.factors[0];
        }
        if (s.factor != kOpen) s.alternatives = -1;
      }
    }
  }
}

}  // namespace planscope::plan
