#pragma once
// What a selection of the plan language names, as numbers: `L.mlp.{gate,up}_proj`, `update(L)`, `b(S[1])[2]`.
//
//   Result<NamedRows> n = named_rows(plan, info, "L.mlp");
//   n->rows   // operators of the model, ascending; of update(…), grad(…) and fetch(…): parameters
//
// Errors: it does not parse, or names nothing in this plan; other errors of the plan do not count.
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/plan/bind.h"

namespace planscope {

struct NamedRows {
  plan::Phase phase = plan::Phase::forward;
  std::vector<int> rows;
  bool tasks = false;  // it names tasks, `f(X)`, `b(X)[m]`: the rows are the operators of X
  bool of_parameters() const { return phase == plan::Phase::update || phase == plan::Phase::grad || phase == plan::Phase::fetch; }
};

Result<NamedRows> named_rows(const plan::Plan&, const plan::ModelInfo&, const std::string& selection);

}  // namespace planscope
