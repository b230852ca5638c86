#pragma once
// What every statement of a plan decides on a model, after the later ones have taken from it what they decide themselves:
// operators for splits, places, what waits for backward, orders and what is forbidden; parameters for how they are stored,
// fetched and updated.
//
//   PlanEffects e = plan_effects(decisions);
//   e.statements[k]                       // of e.plan.statements[k], templates expanded
//   e.of_line(4).operators.size()         // of all statements of a line, of a `use` too
#include <vector>

#include "engine/plan/bind.h"

namespace planscope {

struct StatementEffect {
  std::vector<int> operators, parameters;  // ascending
  bool waits = false;                      // for an open value, before which it decides nothing
  bool any() const { return waits || !operators.empty() || !parameters.empty(); }
  bool operator==(const StatementEffect&) const = default;
};

struct PlanEffects {
  plan::Plan plan;  // templates expanded
  std::vector<StatementEffect> statements;
  StatementEffect of_line(int line) const;
};

PlanEffects plan_effects(const plan::Decisions&);

}  // namespace planscope
