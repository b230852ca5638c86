#pragma once
// Splits of a tensor-parallel group that are searched for (planner/search/splits), where they promise more than the template's:
// of a model that the template knows they mostly do not. They are chosen on a few of the model's equal layers, as long as lines
// for these speak of all of them alike.
//
//   FoundSplits splits(graph, models, cluster, shape, settings, deadline, 64, 8);
//   splits.at(1);                  // {"trans model.layers[*].mlp …"}; empty: none costs clearly less than the template
#include <string>
#include <vector>

#include "planner/search/stages/probe.h"
#include "planner/search/stages/stages.h"
#include "planner/solver/deadline.h"

namespace planscope::stages {

class FoundSplits {
 public:
  // Of groups of `tensor`, in plans on so many devices.
  FoundSplits(const Graph&, const ProbeModels&, const Cluster&, const ModelShape&, const Settings&, const Deadline&,
              std::int64_t devices, std::int64_t tensor);

  // With so many samples in a micro-batch. Those that were found last are taken again where they cost nearly as little.
  std::vector<std::string> at(std::int64_t micro_batch);

 private:
  const Graph& graph_;
  const ProbeModels& models_;
  const Cluster& cluster_;
  const ModelShape& shape_;
  const Settings& settings_;
  const Deadline deadline_;
  const std::int64_t devices_, tensor_;
  std::vector<std::string> last_;
};

}  // namespace planscope::stages
