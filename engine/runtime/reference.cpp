#include "engine/runtime/reference.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <stdexcept>

#include "engine/runtime/autograd.h"

namespace planscope {

namespace {

using Version = std::pair<TensorId, std::int64_t>;  // a tensor, and for parameters how many updates ago

// One forward pass; values are dropped after their last reader.
class WholeModel {
 public:
  WholeModel(const Graph& graph, const ShardOptions& options, const Lags& lags)
      : graph_(graph), last_(graph.tensors.size(), -1), lags_(graph.ops.size(), 0) {
    for (const auto& [op, lag] : lags) lags_.at(static_cast<std::size_t>(op)) = lag;
    for (std::size_t id = 0; id < graph.ops.size(); ++id) {
      ops_.push_back(OperatorShard::whole(graph, static_cast<OpId>(id), options));
      for (const Operand& in : graph.ops[id].inputs) last_[static_cast<std::size_t>(in.tensor)] = static_cast<OpId>(id);
    }
    for (const Mutation& m : graph.model->mutations) last_[static_cast<std::size_t>(m.value)] = -1;  // kept
  }

  // The versions of parameters that operators read.
  std::set<Version> read(const std::map<TensorId, at::Tensor>& parameters) const {
    std::set<Version> out;
    for (std::size_t id = 0; id < graph_.ops.size(); ++id)
      for (const Operand& in : graph_.ops[id].inputs)
        if (parameters.count(in.tensor) > 0) out.insert({in.tensor, lags_[id]});
    return out;
  }

  // `buffers`: what those that the step changes are; afterwards what they have become.
  at::Tensor loss(std::map<Version, at::Tensor> values, std::map<TensorId, at::Tensor>& buffers, TensorSource& source,
                  const std::function<void(std::int64_t, const std::string&)>& progress,
                  const std::function<void(OpId, const TensorList&)>& seen) const {
    for (const auto& [id, now] : buffers) values[{id, 0}] = now;
    for (std::size_t id = 0; id < ops_.size(); ++id) {
      const Op& op = graph_.ops[id];
      if (progress) progress(static_cast<std::int64_t>(id), graph_.node(static_cast<OpId>(id)).name());
      TensorList inputs;
      for (const Operand& in : op.inputs) {
        auto known = values.find({in.tensor, lags_[id]});
        if (known == values.end()) known = values.find({in.tensor, 0});
        if (known == values.end()) {
          const at::Tensor first = source.block(in.tensor, whole_region(graph_, in.tensor));
          known = values.emplace(Version{in.tensor, 0}, first).first;
        }
        inputs.push_back(known->second);
      }
      TensorList outputs = ops_[id](inputs);
      if (seen) seen(static_cast<OpId>(id), outputs);
      for (std::size_t o = 0; o < outputs.size(); ++o) values[{op.outputs[o].tensor, 0}] = std::move(outputs[o]);
      for (const Operand& in : op.inputs) {
        if (last_[static_cast<std::size_t>(in.tensor)] == static_cast<OpId>(id) && in.tensor != graph_.model->loss)
          values.erase({in.tensor, 0});
      }
    }
    for (const Mutation& m : graph_.model->mutations)
      if (const auto now = values.find({m.value, 0}); now != values.end())
        buffers[m.buffer] = now->second.detach().clone();
    const auto found = values.find({graph_.model->loss, 0});
    if (found == values.end()) throw std::runtime_error("the model has no loss");
    return found->second;
  }

 private:
  const Graph& graph_;
  std::vector<OperatorShard> ops_;
  std::vector<OpId> last_;
  std::vector<std::int64_t> lags_;
};

// Every second element is larger by its last eight binary digits, the others are smaller: sums of many terms lose several.
at::Tensor off_by_last_digits(const at::Tensor& t) {
  const at::Tensor signs = at::arange(t.numel(), t.options().dtype(at::kLong)).remainder(2).mul(2).sub(1).reshape(t.sizes());
  return t.mul(signs.to(t.scalar_type()).mul(256 * std::numeric_limits<double>::epsilon()).add(1));
}

ReferenceRun run_from(bool rounded, const Graph& graph, TensorSource& source, const ShardOptions& options,
                      const OptimizerSettings& optimizer, int steps, const Lags& lags,
                      const std::function<void(std::int64_t, const std::string&)>& progress,
                      const std::function<void(OpId, const TensorList&)>& seen) {
  const WholeModel model(graph, options, lags);
  ReferenceRun run;
  std::map<TensorId, OptimizerState> states;
  std::map<Version, at::Tensor> fixed;
  for (const Parameter& p : graph.parameters) {
    const at::Tensor first = source.block(p.tensor, whole_region(graph, p.tensor));
    if (p.trained && carries_gradient(first))
      run.parameters[p.tensor] = rounded ? off_by_last_digits(first) : first;
    else
      fixed[{p.tensor, 0}] = first;
  }
  const std::set<Version> versions = model.read(run.parameters);
  std::map<TensorId, std::deque<at::Tensor>> older;  // the oldest that is read first
  for (const auto& [id, lag] : versions)
    while (static_cast<std::int64_t>(older[id].size()) < lag) older[id].push_back(run.parameters[id].clone());
  std::map<TensorId, at::Tensor> buffers;
  for (int step = 0; step < steps; ++step) {
    std::map<Version, at::Tensor> values = fixed;
    TensorList leaves;
    for (const auto& [id, lag] : versions) {
      const at::Tensor& at_lag =
          lag == 0 ? run.parameters[id] : older[id][older[id].size() - static_cast<std::size_t>(lag)];
      leaves.push_back(at_lag.detach().requires_grad_());
      values[{id, lag}] = leaves.back();
    }
    const at::AutoGradMode recording(true);
    const at::Tensor loss = model.loss(std::move(values), buffers, source, progress, seen);
    run.losses.push_back(loss.item<double>());
    if (!loss.requires_grad()) continue;
    const auto gradients = torch::autograd::grad({loss}, leaves, {}, false, false, true);
    std::map<TensorId, at::Tensor> whole;  // of the uses of all versions
    std::size_t leaf = 0;
    for (const auto& [id, lag] : versions)
      if (const at::Tensor& g = gradients[leaf++]; g.defined())
        whole[id] = whole.count(id) > 0 ? whole[id] + g : settled(g);
    for (const auto& [id, gradient] : whole) {
      const at::Tensor& parameter = run.parameters[id];
      if (std::deque<at::Tensor>& before = older[id]; !before.empty()) {
        before.push_back(parameter.clone());
        before.pop_front();
      }
      states.try_emplace(id, optimizer, parameter).first->second.step(optimizer, parameter, gradient);
    }
    if (step == 0) run.gradients = std::move(whole);
  }
  return run;
}

}  // namespace

ReferenceRun run_reference(const Graph& graph, TensorSource& source, const ShardOptions& options,
                           const OptimizerSettings& optimizer, int steps, const Lags& lags,
                           const std::function<void(std::int64_t, const std::string&)>& progress,
                           const std::function<void(OpId, const TensorList&)>& seen) {
  return run_from(false, graph, source, options, optimizer, steps, lags, progress, seen);
}

bool has_rounding(const ReferenceRun& run) {
  constexpr double share = 1e-12;  // of the largest: a sum that is not truly zero is hardly ever so small
  double largest = 0;
  for (const auto& [id, g] : run.gradients)
    if (g.numel() > 0) largest = std::max(largest, g.abs().max().item<double>());
  return std::any_of(run.gradients.begin(), run.gradients.end(), [&](const auto& g) {
    const at::Tensor size = g.second.abs();
    return size.gt(0).logical_and(size.lt(share * largest)).any().template item<bool>();
  });
}

std::vector<double> loss_rounding(const Graph& graph, TensorSource& source, const ShardOptions& options,
                                  const OptimizerSettings& optimizer, const ReferenceRun& run, const Lags& lags,
                                  const std::function<void(std::int64_t, const std::string&)>& progress) {
  const int steps = static_cast<int>(run.losses.size());
  const ReferenceRun other = run_from(true, graph, source, options, optimizer, steps, lags, progress, {});
  std::vector<double> out;
  double most = 0;
  for (std::size_t step = 0; step < run.losses.size(); ++step) {
    const double difference = std::abs(other.losses[step] - run.losses[step]);
    if (std::isfinite(difference)) most = std::max(most, difference);
    out.push_back(most);
  }
  return out;
}

}  // namespace planscope
