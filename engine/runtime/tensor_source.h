#pragma once
// Where the first contents of inputs, parameters, buffers and constants come from: the inputs that were given and the
// model file, or, where there are none, numbers drawn by name and index (sample_values.h). Every block of every layout is a block of the same whole
// tensor.
#include <set>
#include <string>

#include "engine/runtime/given_inputs.h"
#include "engine/runtime/model_weights.h"
#include "engine/runtime/sample_values.h"

namespace planscope {

class TensorSource {
 public:
  TensorSource(const Graph&, std::uint64_t seed, Precision, const GivenInputs& = {});

  at::Tensor block(TensorId, const Region&);                       // has memory of its own
  void release_pages() { weights_.release_pages(); }               // once the parameters have been read
  const std::set<std::string>& seeded() const { return seeded_; }  // names of the tensors given so far that were drawn

 private:
  const Graph& graph_;
  ModelWeights weights_;
  std::uint64_t seed_;
  Precision precision_;
  std::map<TensorId, at::Tensor> given_;
  std::set<std::string> seeded_;
};

}  // namespace planscope
