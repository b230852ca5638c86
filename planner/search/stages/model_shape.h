#pragma once
// What the stage search has to know of a model: the chain of its equal layers, and which of its modules answer to which
// split beside what the template `tp` names.
//
//   layers     lists of numbered modules in program order (`model.layers`; `encoder.block`, `decoder.block`): pipelines are
//              cut between their members
//   vocabulary modules whose operators have a factor `vocab`: tables and the last product
//   residual   what stands between the products of a layer (normalizations, additions): split over the sequence where a
//              layer is tensor parallel (Korthikanti et al., 2022)
//
//   ModelShape s = model_shape(info);   // s.layers == {"model.layers"}, s.units == 32, s.batch == "batch"
#include <map>
#include <string>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::stages {

struct ModelShape {
  std::vector<std::string> layers;
  std::vector<int> units;                          // members of each list
  std::map<std::string, std::int64_t> vocabulary;  // module: size
  std::vector<std::string> residual;               // selections; `L` stands for all layers
  std::string batch;  // the input dimension that is split into micro-batches; empty: there is none
  std::int64_t batch_size = 0;
  bool sequence = false;  // the layers have a factor `seq`

  int unit_count() const;
  std::string selection() const;  // `model.layers[*]`, `encoder.block[*], decoder.block[*]`
};

ModelShape model_shape(const plan::ModelInfo&);

}  // namespace planscope::stages
