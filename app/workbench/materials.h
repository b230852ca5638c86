#pragma once
// A plan on a model on a cluster, as far as it goes: opened, materialized, verified, simulated, recorded.
#include <optional>
#include <string>

#include "app/workbench/workbench.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"

namespace planscope {

// What verbs about one plan start from. `diagnostics` of the Result hold every error of model, plan and cluster. A plan
// with open arguments is an error that names them and the verb ("run needs a complete plan; open: …").
struct Materials {
  OpenModel model;
  plan::Plan plan;
  Cluster cluster;
  Materialized result;
  CostModel costs = {};  // with what the workspace has measured on such devices (profiling.h)
};
Result<Materials> open_materials(const std::string& model, const std::string& plan, const std::string& cluster,
                                 const std::string& verb, const Workspace*);

// The same of what is open already.
Result<Materials> open_materials(OpenModel, plan::Plan, const std::string& cluster, const std::string& verb, const Workspace*);

// Of a Program from a file: no plan, which it may have come from, is known.
Result<Materials> open_materials(OpenProgram, const std::string& cluster, const Workspace*);

// How long a step takes, by the materials' costs, and what memory it needs. Rows `require memory(…) <= …` that the prediction breaks are warnings: the
// plan may run all the same.
Result<Simulation> predict(const Materials&, const SimulationOptions& = {});
// These warnings alone; nothing is simulated where the plan has no such row.
std::vector<Diagnostic> broken_memory_rows(const Materials&);

}  // namespace planscope
