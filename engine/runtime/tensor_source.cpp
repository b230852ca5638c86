#include "engine/runtime/tensor_source.h"

namespace planscope {

TensorSource::TensorSource(const Graph& graph, std::uint64_t seed, Precision precision, const GivenInputs& given)
    : graph_(graph), weights_(*graph.model), seed_(seed), precision_(precision), given_(given.whole) {}

at::Tensor TensorSource::block(TensorId tensor, const Region& region) {
  const Value& value = graph_.model->values[static_cast<std::size_t>(tensor)];
  const auto given = given_.find(tensor);
  const at::Tensor whole = given != given_.end() ? given->second : weights_.whole(tensor);
  if (whole.defined() && whole.sizes() == at::IntArrayRef(graph_.sizes(tensor))) {
    return cut(whole, whole_region(graph_, tensor), region).to(scalar_type(value.dtype, precision_));
  }
  seeded_.insert(value.name);
  return sample_value(graph_, tensor, region, seed_, precision_);
}

}  // namespace planscope
