#pragma once
// What one layer takes and keeps, read off a prediction: the model on one group of tensor-parallel devices, two micro-batches,
// a segment for each layer. Times are from the start of a layer's work to that of the next, so that communication that is
// not hidden is in them; a border between layers may cost, too, and a plan need not have it: micro_batch_ns is what all
// layers take without. Memory is that of the second micro-batch, when gradients have their place; under ZeRO-3
// (ProbeKey::data), where layers are cut where parameters are gathered, it is read off a prediction of all replicas. Of
// several kinds of devices (ProbeKey::kinds) each is predicted by itself, and the most that a layer takes on any counts.
//
// Equal layers take the same: a few of them are predicted (fewer_layers.h) and stand for all, and a micro-batch takes as much more
// for each layer as it does from a few to one more. Where parameters are gathered, what large layers at the ends leave to the
// network is felt several layers away: more of them are predicted, and all of them if these take something else with one more
// beside them. Where splits tell layers apart all are predicted.
//
//   const ProbeModels models(graph, shape);
//   Result<Probe> p = probe(models, cluster, {.tensor = 8, .micro_batch = 1, .sequence = true}, options, cache);
//   p->layers[3].forward_ns
#include <optional>
#include <vector>

#include "engine/program/materialize.h"
#include "planner/search/stages/configuration.h"
#include "planner/search/stages/fewer_layers.h"
#include "planner/simulate/simulate.h"

namespace planscope::stages {

struct LayerCost {
  std::int64_t forward_ns = 0, backward_ns = 0;  // of all calls
  std::int64_t first_ns = 0;                     // of the first call's forward
  std::int64_t adding_ns = 0;                    // of the backward, to add up gradients
  std::int64_t kept_bytes = 0;                   // from forward to backward, for each micro-batch under way
  std::int64_t staying_bytes = 0;                // of these, what stays on the device where they are offloaded
  std::int64_t border_bytes = 0;                 // that layers before it made and it, or later ones, read
  std::int64_t working_bytes = 0;                // beside what is kept and lives all the time, while it is at work
  std::int64_t parameter_bytes = 0;  // of the trained parameters that it reads first, on one device of the group
  std::int64_t parameters = 0;       // their elements, in units of what an optimizer keeps (optimizer_units)
  std::int64_t gradient_bytes = 0;   // that its backward makes, of all parameters that it reads
  std::int64_t constant_bytes = 0;   // not trained, or computed once for all micro-batches, and held
  bool operator==(const LayerCost&) const = default;
};

// Parameters that `layer` reads, and `before` before it: in a stage of its own it has them as well.
struct Tied {
  int before = 0, layer = 0;
  LayerCost cost;
};

// Interlaced (ProbeKey::pipe): `everywhere` is what belongs to no layer, the vocabulary above all, which all devices share;
// layers have their own cost alone then.
struct Probe {
  double share = 1;  // of their times, that the search takes them for
  LayerCost everywhere;
  std::vector<Tied> tied;
  std::vector<LayerCost> layers;  // the first has what stands before the layers, the last what stands behind them
};

// What is predicted. The graph outlives it.
class ProbeModels {
 public:
  ProbeModels(const Graph&, const ModelShape&, bool all = false);  // all: none is left out

  // Layers that stand for those of the whole model, `like[i]` for layer i; none in `like`: they are the same.
  struct Layers {
    const Graph& graph;
    const ModelShape& shape;
    const std::vector<int>& like;
  };
  Layers all() const;
  // Some, and the same with one period more of each run: that is `times` times what the whole model has more.
  struct Longer {
    FewerLayers model;
    int times = 0;
  };
  struct Few {
    FewerLayers model;
    std::vector<Longer> longer;
    Layers layers() const { return {model.graph, model.shape, model.like}; }
  };
  // Nothing: there is nothing to leave out.
  const std::optional<Few>& many() const { return many_; }      // enough where layers are felt several layers away
  const std::optional<Few>& some() const { return some_; }      // enough to tell what each takes
  const std::optional<Few>& fewest() const { return fewest_; }  // enough to tell what one more takes
  // The lines speak of all layers alike, and there are layers to leave out.
  bool suffice(const std::vector<std::string>& lines) const;

 private:
  const Graph& graph_;
  const ModelShape shape_;
  std::optional<Few> many_, some_, fewest_;
};

Result<Probe> probe(const ProbeModels&, const Cluster&, const ProbeKey&, const SimulationOptions&, MaterializeCache&);

// How long forward and backward of one micro-batch take where the model is one segment, or, with borders, one segment for
// each layer: of one more of several (gradients are added up), or of the only one.
Result<std::int64_t> micro_batch_ns(const ProbeModels&, const Cluster&, const ProbeKey&, const SimulationOptions&,
                                    MaterializeCache&, bool borders = false);

}  // namespace planscope::stages
