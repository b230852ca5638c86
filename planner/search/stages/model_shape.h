#pragma once
// What the stage search has to know of a model: the chain of its equal layers, and which of its modules answer to which
// split beside what the template `tp` names.
//
//   layers     lists of numbered modules in program order (`model.layers`; `encoder.block`, `decoder.block`): pipelines are
//              cut between their members. Where most of a list's members is one list of modules with the same submodules,
//              those are the layers: `encoder.layers[*].blocks`
//   vocabulary modules whose operators have a factor `vocab`: tables and the last product
//   residual   what stands between the products of a layer (normalizations, additions): split over the sequence where a
//              layer is tensor parallel (Korthikanti et al., 2022)
//
//   blocks     what holds the products of a layer: attention, feed-forward
//
//   ModelShape s = model_shape(info);   // s.layers == {"model.layers"}, s.unit_count() == 32, s.batch == "batch"
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::stages {

struct ModelShape {
  std::vector<std::string> layers;
  std::vector<std::string> units;                  // the layers' modules, in program order: `model.layers.0`, …
  std::map<std::string, std::int64_t> vocabulary;  // module: size
  std::vector<std::string> vocabulary_kinds;       // operators of the root that have the factor, `cross_entropy_loss`
  std::vector<std::string> residual;               // selections; `L` stands for all layers
  std::string batch;  // the input dimension that is split into micro-batches; empty: there is none
  std::int64_t batch_size = 0;
  bool sequence = false;            // the layers have a factor `seq`
  int calls = 1;                    // how often the layers are called (recycling)
  int first_trained = 0;            // the first call that has a backward
  std::vector<std::string> blocks;  // modules of layers that hold products, `self_attn`, `mlp`: units of coshard

  int unit_count() const { return static_cast<int>(units.size()); }
  int layer_of(const std::string& module) const;  // the layer that holds it; -1: none
  std::string selection() const;                  // `model.layers[*]`, `encoder.block[*], decoder.block[*]`

  std::unordered_map<std::string, int> index_;  // of `units`
};

ModelShape model_shape(const plan::ModelInfo&);

}  // namespace planscope::stages
