#include "engine/runtime/empty_results.h"

#include <algorithm>

namespace planscope {

namespace {

bool depends_on_data(const Graph& graph, TensorId tensor) {
  const auto& dims = graph.tensors[static_cast<std::size_t>(tensor)].dims;
  return std::any_of(dims.begin(), dims.end(), [&](const std::vector<ClassId>& dim) {
    return std::any_of(dim.begin(), dim.end(),
                       [&](ClassId c) { return graph.classes[static_cast<std::size_t>(c)].bounded; });
  });
}

DType type_of(const Graph& graph, TensorId tensor) {
  return graph.model->values[static_cast<std::size_t>(tensor)].dtype;
}

// Zero, as a number of this type that follows from the tensor: the sum of none of its elements.
at::Tensor nothing_of(const at::Tensor& tensor, at::ScalarType type) {
  const at::Tensor sum = tensor.unsqueeze(0).slice(0, 0, 0).sum();
  return (sum.is_complex() && !at::isComplexType(type) ? at::real(sum) : sum).to(type);
}

}  // namespace

bool has_empty_results(const Graph& graph, const Op& op, const std::vector<Region>& outputs) {
  if (outputs.empty()) return false;
  if (std::any_of(op.factors.begin(), op.factors.end(), [](const Factor& f) { return f.key >= 0; })) return false;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const TensorId tensor = op.outputs[o].tensor;
    if (elements(outputs[o]) > 0 || depends_on_data(graph, tensor) || type_of(graph, tensor) == DType::other)
      return false;
  }
  return true;
}

std::function<TensorList(const TensorList&)> empty_results(const Graph& graph, const Op& op,
                                                           const std::vector<Region>& outputs, Precision precision) {
  TensorList results;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    results.push_back(at::empty(sizes(outputs[o]), scalar_type(type_of(graph, op.outputs[o].tensor), precision)));
  return [results, gradients = !graph.model->nodes[static_cast<std::size_t>(op.node)].no_grad](const TensorList& in) {
    TensorList out;
    for (const at::Tensor& result : results) {
      at::Tensor made = result.clone();
      const bool differentiable = gradients && (made.is_floating_point() || made.is_complex());
      for (const at::Tensor& operand : in)
        if (differentiable && operand.defined() && operand.requires_grad())
          made = made + nothing_of(operand, made.scalar_type());
      out.push_back(made);
    }
    return out;
  };
}

}  // namespace planscope
