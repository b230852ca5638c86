#include "engine/runtime/reference.h"

#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>

namespace planscope {

namespace {

// One forward pass; values are dropped after their last reader.
class WholeModel {
 public:
  WholeModel(const Graph& graph, const ShardOptions& options) : graph_(graph), last_(graph.tensors.size(), -1) {
    for (std::size_t id = 0; id < graph.ops.size(); ++id) {
      ops_.push_back(OperatorShard::whole(graph, static_cast<OpId>(id), options));
      for (const Operand& in : graph.ops[id].inputs) last_[static_cast<std::size_t>(in.tensor)] = static_cast<OpId>(id);
    }
  }

  at::Tensor loss(std::map<TensorId, at::Tensor> values, TensorSource& source,
                  const std::function<void(std::int64_t, const std::string&)>& progress) const {
    for (std::size_t id = 0; id < ops_.size(); ++id) {
      const Op& op = graph_.ops[id];
      if (progress) progress(static_cast<std::int64_t>(id), graph_.node(static_cast<OpId>(id)).name());
      TensorList inputs;
      for (const Operand& in : op.inputs) {
        auto known = values.find(in.tensor);
        if (known == values.end()) {
          known = values.emplace(in.tensor, source.block(in.tensor, whole_region(graph_, in.tensor))).first;
        }
        inputs.push_back(known->second);
      }
      TensorList outputs = ops_[id](inputs);
      for (std::size_t o = 0; o < outputs.size(); ++o) values[op.outputs[o].tensor] = std::move(outputs[o]);
      for (const Operand& in : op.inputs) {
        if (last_[static_cast<std::size_t>(in.tensor)] == static_cast<OpId>(id) && in.tensor != graph_.model->loss)
          values.erase(in.tensor);
      }
    }
    const auto found = values.find(graph_.model->loss);
    if (found == values.end()) throw std::runtime_error("the model has no loss");
    return found->second;
  }

 private:
  const Graph& graph_;
  std::vector<OperatorShard> ops_;
  std::vector<OpId> last_;
};

}  // namespace

ReferenceRun run_reference(const Graph& graph, TensorSource& source, const ShardOptions& options,
                           const OptimizerSettings& optimizer, int steps,
                           const std::function<void(std::int64_t, const std::string&)>& progress) {
  const WholeModel model(graph, options);
  ReferenceRun run;
  std::map<TensorId, OptimizerState> states;
  std::map<TensorId, at::Tensor> fixed;
  for (const Parameter& p : graph.parameters) {
    const at::Tensor first = source.block(p.tensor, whole_region(graph, p.tensor));
    (p.trained && first.is_floating_point() ? run.parameters : fixed)[p.tensor] = first;
  }
  for (int step = 0; step < steps; ++step) {
    std::map<TensorId, at::Tensor> values = fixed;
    TensorList leaves;
    std::vector<TensorId> ids;
    for (const auto& [id, tensor] : run.parameters) {
      leaves.push_back(tensor.detach().requires_grad_());
      ids.push_back(id);
      values[id] = leaves.back();
    }
    const at::AutoGradMode recording(true);
    const at::Tensor loss = model.loss(std::move(values), source, progress);
    run.losses.push_back(loss.item<double>());
    if (!loss.requires_grad()) continue;
    const auto gradients = torch::autograd::grad({loss}, leaves, {}, false, false, true);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (!gradients[k].defined()) continue;
      if (step == 0) run.gradients[ids[k]] = gradients[k];
      const at::Tensor& parameter = run.parameters[ids[k]];
      states.try_emplace(ids[k], optimizer, parameter).first->second.step(optimizer, parameter, gradients[k]);
    }
  }
  return run;
}

}  // namespace planscope
