#pragma once
// The model with fewer of its equal layers: what a layer takes is the same in both, and is told from the smaller one in a
// fraction of the time.
//
// Layers are equal to those `period` before them if their operators are alike one by one (engine/graph/alike.h), with the same
// names below the layer, and are wired alike: results of layers come from the layer that is as far before. A run is what is
// equal so from its first period on. Of its middle any number of periods can be left out: what read the last of these
// reads the one before instead. That is not possible where anything else reads their results (routers' losses, outputs,
// connections over several layers), and what they read together has a gradient that takes the longer the more layers add to
// it (position biases, what an encoder hands to all layers of a decoder): such layers are no run.
//
//   equal_layers(graph, shape)                         8B: {{.first = 0, .period = 1, .periods = 32}}
//   fewer_layers(graph, shape, runs, {4})->like        {0, 1, 1, 1, …, 1, 2, 3}
#include <vector>

#include "engine/graph/graph.h"
#include "planner/search/stages/model_shape.h"

namespace planscope::stages {

struct LayerRun {
  int first = 0, period = 1, periods = 0;  // in layers; how many periods
  bool operator==(const LayerRun&) const = default;
};

std::vector<LayerRun> equal_layers(const Graph&, const ModelShape&);

struct FewerLayers {
  Graph graph;
  ModelShape shape;
  std::vector<int> like;  // by layer of the whole model: the one here that is equal to it
};

// With so many periods of each run, at least 2.
Result<FewerLayers> fewer_layers(const Graph&, const ModelShape&, const std::vector<LayerRun>&,
                                 const std::vector<int>& periods);

}  // namespace planscope::stages
