#pragma once
// Rows that leave something to choose (`trans L.mlp.down_proj out|in by tensor`, `?dim`), in one plan that is made: what is
// shortest within the devices' memory and the rows is chosen, by the search of planner/constraint.
//
//   OpenRows open(graph, cluster, rules, settings, cache);
//   Result<plan::Plan> filled = open.filled(rules.joined(script, left_out), deadline);   // with `auto` lines
#include "engine/cluster/cluster.h"
#include "engine/program/materialize.h"
#include "planner/search/stages/judge.h"
#include "planner/search/stages/rules.h"
#include "planner/search/stages/stages.h"
#include "planner/simulate/simulate.h"
#include "planner/solver/deadline.h"

namespace planscope::stages {

class OpenRows {
 public:
  OpenRows(const Graph&, const Cluster&, const Rules&, const Settings&, MaterializeCache&);

  // The plan with its answers behind the statements that ask. Where nothing fits, the shortest whatever it needs. Errors: the
  // rows leave nothing, one error for each of their lines; or nothing was found in the time.
  Result<plan::Plan> filled(const plan::Plan& joined, const Deadline&) const;
  bool gave_up() const { return gave_up_; }  // once at least

 private:
  Result<plan::Plan> answered(const plan::Plan& joined, bool within_memory, const Deadline&, int& evaluated) const;

  const Cluster& cluster_;
  const Rules& rules_;
  const constraint::Judge judge_;
  const Clock* const clock_;
  mutable bool gave_up_ = false;
};

}  // namespace planscope::stages
