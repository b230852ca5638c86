#include "engine/runtime/audit_saves.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "engine/graph/arguments.h"
#include "engine/runtime/autograd.h"
#include "engine/runtime/random_numbers.h"
#include "engine/runtime/sample_values.h"
#include "engine/runtime/tensor_source.h"

namespace planscope {

namespace {

// Other contents, where autograd does not see it: no number, or legal indices in another order.
void overwrite(const at::Tensor& tensor) {
  const at::NoGradGuard guard;
  at::Tensor contents = tensor.variable_data();
  if (carries_gradient(contents))
    contents.fill_(NAN);
  else
    contents.copy_(contents.flatten().flip(0).view(contents.sizes()));
}

constexpr std::int64_t kLargestMask = std::int64_t{1} << 24;  // elements of all that is computed for it

// Values of a graph before any parameter: what masks are made of.
class Values {
 public:
  Values(const Graph& graph, std::int64_t draw) : graph_(graph), draw_(draw) {}

  // Undefined: it hangs on a parameter or on a draw, or is too large.
  at::Tensor of(TensorId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    elements_ += graph_.elements(id);
    if (elements_ > kLargestMask) return {};
    const OpId producer = graph_.tensors[static_cast<std::size_t>(id)].producer;
    if (producer < 0) return known_[id] = given(id);
    const Op& op = graph_.ops[static_cast<std::size_t>(producer)];
    if (graph_.node(producer).random) return {};
    TensorList inputs;
    for (const Operand& in : op.inputs) {
      inputs.push_back(of(in.tensor));
      if (!inputs.back().defined()) return {};
    }
    const TensorList outputs = OperatorShard::whole(graph_, producer)(inputs);
    for (std::size_t o = 0; o < outputs.size(); ++o) known_[op.outputs[o].tensor] = outputs[o];
    return known_[id];
  }

 private:
  at::Tensor given(TensorId id) {
    const Value& value = graph_.model->values[static_cast<std::size_t>(id)];
    if (value.kind == ValueKind::parameter) return {};
    const Region all = whole_region(graph_, id);
    if (value.kind != ValueKind::input) return source_.block(id, all);
    const at::ScalarType type = scalar_type(value.dtype);
    if (draw_ < 2) return at::full(sizes(all), draw_, type);
    return random_integers(random_key(kAuditOptions.seed, value.name), 2, part_sizes(graph_, id), all).to(type);
  }

  const Graph& graph_;
  std::int64_t draw_;  // inputs are all 0, all 1, or either
  TensorSource source_{graph_, kAuditOptions.seed, Precision::model};
  std::map<TensorId, at::Tensor> known_;
  std::int64_t elements_ = 0;
};

bool hides_what_is_behind(const at::Tensor& mask) {
  if (mask.dim() < 2) return false;
  const at::Tensor behind = at::ones({mask.size(-2), mask.size(-1)}, at::kBool).triu(1);
  const at::Tensor seen = mask.scalar_type() == at::kBool ? mask : mask.gt(-1e30);
  return !seen.logical_and(behind).any().item<bool>();
}

}  // namespace

void compare_saves(const AuditedOperator& one,
                   const std::function<void(const std::string& what, double error)>& differs) {
  const Op& op = one.op();
  if (!op.backward || one.node().no_grad) return;
  const at::AutoGradMode recording(true);
  TensorList leaves, wanted, outputs, given, kept;
  std::vector<std::size_t> position;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    leaves.push_back(one.inputs[i].clone());
    const bool gradient = one.graph().tensors[static_cast<std::size_t>(op.inputs[i].tensor)].gradient;
    if (!gradient || !carries_gradient(leaves[i]) || !one.whole.gradients[i].defined()) continue;
    wanted.push_back(leaves[i].requires_grad_());
    position.push_back(i);
  }
  if (wanted.empty()) return;
  const TensorList results = OperatorShard::whole(one.graph(), 0, kAuditOptions)(leaves);
  for (std::size_t o = 0; o < results.size(); ++o) {
    if (!results[o].defined() || !results[o].requires_grad()) continue;
    outputs.push_back(results[o]);
    given.push_back(one.upstream[o]);
  }
  if (outputs.empty()) return;
  for (const int s : op.saves) {
    const at::Tensor& t = s >= 0 ? leaves[static_cast<std::size_t>(s)] : results[static_cast<std::size_t>(-1 - s)];
    if (t.defined()) kept.push_back(t);
  }
  // Whether an attention's mask is read hangs on the kernel that LibTorch takes; what that keeps is the cost model's to say.
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (one.input_name(i) == "attn_mask") kept.push_back(leaves[i]);
  for (const TensorList* list : {&std::as_const(leaves), &results})
    for (const at::Tensor& t : *list) {
      const auto shares = [&](const at::Tensor& other) { return share_storage(other, t); };
      if (t.defined() && t.numel() > 0 && std::none_of(kept.begin(), kept.end(), shares)) overwrite(t);
    }
  const auto found = torch::autograd::grad(outputs, wanted, given, false, false, true);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const at::Tensor got = found[k].defined() ? settled(found[k]) : at::zeros_like(wanted[k]);
    differs("gradient of " + one.input_name(position[k]), difference(got, one.whole.gradients[position[k]]));
  }
}

std::vector<std::string> masks_not_causal(const Graph& graph, OpId id) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  const Node& node = graph.node(id);
  const bool limited = std::any_of(op.factors.begin(), op.factors.end(), [](const Factor& f) { return f.until >= 0; });
  const TensorId mask = tensor_argument(node, "attn_mask");
  if (!limited || mask < 0 || bool_argument(node, "is_causal").value_or(false)) return {};
  for (const std::int64_t draw : {0, 1, 2}) {
    const at::NoGradGuard guard;
    const at::Tensor computed = Values(graph, draw).of(mask);
    if (computed.defined() && !hides_what_is_behind(computed)) return {graph.tensor_name(mask)};
  }
  return {};
}

}  // namespace planscope
