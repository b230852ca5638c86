#pragma once
// What two plans do differently (plan_diff.h), as JSON and as text, the same on every surface.
//
//   const PlanDifference d = difference(graph, cluster, base, other);
//   for (const PlanChange& c : d.changes) change_json("gpipe", c);
//   difference_text("1f1b", "gpipe", d);
#include <nlohmann/json.hpp>
#include <string>

#include "app/workbench/plan_diff.h"

namespace planscope {

nlohmann::ordered_json change_json(const std::string& plan, const PlanChange&);
nlohmann::ordered_json rest_json(const std::string& plan, const PlanDifference&);  // what no change holds
std::string difference_text(const std::string& base, const std::string& other, const PlanDifference&);

// Of a change: `mlp.up, mlp.gate and 3 more`; `tensor: none -> out [6]`.
std::string operators_text(const PlanChange&);
std::string decisions_text(const PlanChange&);

}  // namespace planscope
