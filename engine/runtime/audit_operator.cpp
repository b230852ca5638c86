#include "engine/runtime/audit_operator.h"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <set>
#include <span>

#include "engine/graph/element_types.h"
#include "engine/runtime/autograd.h"
#include "engine/runtime/sample_values.h"

namespace planscope {

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // elements of one operand
constexpr std::int64_t kSmall = 20000;                    // … where sizes may be chosen

// Classes of the operator's factors whose sizes may be chosen.
std::set<ClassId> resized(const Graph& graph, const Op& op, bool keep_frozen) {
  std::set<ClassId> used, tied, frozen, out;
  for (const auto* side : {&op.inputs, &op.outputs})
    for (const Operand& operand : *side)
      for (const auto& dim : graph.tensors[static_cast<std::size_t>(operand.tensor)].dims)
        used.insert(dim.begin(), dim.end());
  for (const Factor& f : op.factors) {
    tied.insert(f.parts.begin(), f.parts.end());
    if (f.kind == FactorKind::frozen) frozen.insert(f.parts.begin(), f.parts.end());
  }
  for (const ClassId c : used)
    if (tied.count(c) > 0 && !(keep_frozen && frozen.count(c) > 0)) out.insert(c);
  return out;
}

void set_sizes(Graph& small, const std::set<ClassId>& classes, std::span<const std::int64_t> pool) {
  std::size_t next = 0;
  for (const ClassId c : classes) small.classes[static_cast<std::size_t>(c)].size = pool[next++ % pool.size()];
  for (const Factor& f : small.ops[0].factors) {
    if (f.until < 0) continue;
    const Factor& limit = small.ops[0].factors[static_cast<std::size_t>(f.until)];
    for (std::size_t p = 0; p < f.parts.size(); ++p)
      small.classes[static_cast<std::size_t>(f.parts[p])].size =
          small.classes[static_cast<std::size_t>(limit.parts[p])].size;
  }
}

bool all_small(const Graph& small) {
  for (const auto* side : {&small.ops[0].inputs, &small.ops[0].outputs})
    for (const Operand& operand : *side)
      if (small.elements(operand.tensor) > kSmall) return false;
  return true;
}

// Positions along the one dimension that a factor's first part is.
at::Tensor positions(const Graph& graph, const Operand& o, int factor) {
  for (std::size_t d = 0; d < o.map.size(); ++d) {
    if (o.map[d] != std::vector<PartRef>{{factor, 0}}) continue;
    std::vector<std::int64_t> shape(o.map.size(), 1);
    shape[d] = graph.sizes(o.tensor)[d];
    return at::arange(shape[d]).view(shape);
  }
  return {};
}

// Where the model's mask is causal, so is the drawn one (causal.h).
at::Tensor as_causal(const Graph& graph, const Operand& o, at::Tensor drawn) {
  const Op& op = graph.ops[0];
  for (std::size_t f = 0; f < op.factors.size(); ++f) {
    if (op.factors[f].until < 0) continue;
    const at::Tensor key = positions(graph, o, static_cast<int>(f)), query = positions(graph, o, op.factors[f].until);
    if (!key.defined() || !query.defined()) continue;
    const at::Tensor behind = key.gt(query);
    drawn = drawn.scalar_type() == at::kBool ? drawn.logical_and(behind.logical_not())
                                             : drawn.masked_fill(behind, -INFINITY);
  }
  return drawn;
}

// An operator under no_grad, or with integer results alone, has no gradient.
bool differentiable(const Graph& graph) {
  if (graph.node(0).no_grad) return false;
  for (const Operand& o : graph.ops[0].outputs)
    if (carries_gradient(graph.model->values[static_cast<std::size_t>(o.tensor)].dtype)) return true;
  return false;
}

}  // namespace

Graph small_graph(const Graph& graph, OpId id, bool keep_frozen) {
  Graph small;
  small.model = graph.model;
  small.classes = graph.classes;
  small.tensors.resize(graph.tensors.size());
  small.ops = {graph.ops[static_cast<std::size_t>(id)]};
  const Op& op = small.ops[0];
  for (const auto* side : {&op.inputs, &op.outputs})
    for (const Operand& operand : *side)
      small.tensors[static_cast<std::size_t>(operand.tensor)] = graph.tensors[static_cast<std::size_t>(operand.tensor)];
  static constexpr std::int64_t wide[] = {4, 6, 5, 8, 7, 9, 10, 11, 12, 13}, narrow[] = {3, 4, 2, 5}, least[] = {2, 3};
  const std::set<ClassId> classes = resized(graph, op, keep_frozen);
  for (const std::span<const std::int64_t> pool :
       {std::span<const std::int64_t>(wide), std::span<const std::int64_t>(narrow), std::span<const std::int64_t>(least)}) {
    set_sizes(small, classes, pool);
    if (all_small(small)) break;
  }
  return small;
}

bool AuditedOperator::run_whole(std::string& why) {
  for (const Operand& operand : op().inputs)
    if (graph_.elements(operand.tensor) > kLargest) return why = "its operands are too large", false;
  for (std::size_t i = 0; i < op().inputs.size(); ++i) {
    const TensorId tensor = op().inputs[i].tensor;
    const std::uint64_t key = random_key(kAuditOptions.seed, "operand " + std::to_string(i));
    inputs.push_back(
        as_causal(graph_, op().inputs[i], sample_operand(graph_, 0, i, part_sizes(graph_, tensor), key)));
  }
  for (const bool all : {true, false}) {
    all_operands_ = all;
    try {
      execute_whole();
      why.clear();
      break;
    } catch (const c10::Error& e) {
      why = e.what_without_backtrace();
    } catch (const std::exception& e) {
      why = e.what();
    }
  }
  if (!why.empty()) return false;
  for (std::size_t o = 0; o < op().outputs.size(); ++o)
    if (whole.outputs[o].defined() && whole.outputs[o].sizes() != graph_.sizes(op().outputs[o].tensor))
      return why = "output " + std::to_string(o) + " has other sizes than its parts say", false;
  return true;
}

void AuditedOperator::execute_whole() {
  upstream.clear();
  whole = run(OperatorShard::whole(graph_, 0, kAuditOptions), inputs, [&](const TensorList& outputs) {
    if (outputs.size() != op().outputs.size())  // as unbind, of a dimension of another size
      throw std::runtime_error("it gives " + std::to_string(outputs.size()) + " results at these sizes, the model has " +
                               std::to_string(op().outputs.size()));
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const std::uint64_t key = random_key(kAuditOptions.seed, "gradient " + std::to_string(o));
      const TensorId tensor = op().outputs[o].tensor;
      upstream.push_back(random_normal(key, part_sizes(graph_, tensor), whole_region(graph_, tensor),
                                       outputs[o].defined() && outputs[o].is_complex()));
    }
    return upstream;
  });
}

Outcome AuditedOperator::run(const OperatorShard& shard, const TensorList& operands, const Upstream& given_for,
                             const std::shared_ptr<TensorList>& whole_results) const {
  TensorList leaves;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    leaves.push_back(operands[i].detach());
    const bool wanted =
        all_operands_ || graph_.tensors[static_cast<std::size_t>(op().inputs[i].tensor)].gradient;
    if (wanted && differentiable(graph_) && carries_gradient(operands[i])) leaves.back().requires_grad_();
  }
  Outcome outcome;
  at::AutoGradMode recording(true);
  outcome.outputs = shard(leaves, whole_results);
  outcome.gradients.resize(operands.size());
  const TensorList given = given_for(outcome.outputs);
  TensorList outputs, gradients, wanted;
  std::vector<std::size_t> position;
  for (std::size_t o = 0; o < outcome.outputs.size(); ++o) {
    if (!outcome.outputs[o].defined() || !outcome.outputs[o].requires_grad()) continue;
    outputs.push_back(outcome.outputs[o]);
    gradients.push_back(given[o]);
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].requires_grad()) continue;
    wanted.push_back(leaves[i]);
    position.push_back(i);
  }
  if (!outputs.empty() && !wanted.empty()) {
    const auto found = torch::autograd::grad(outputs, wanted, gradients, false, false, true);
    for (std::size_t k = 0; k < found.size(); ++k)
      outcome.gradients[position[k]] = found[k].defined() ? settled(found[k]) : at::zeros_like(wanted[k]);
  }
  for (at::Tensor& t : outcome.outputs) t = t.defined() ? settled(t.detach()) : t;
  return outcome;
}

std::string AuditedOperator::input_name(std::size_t i) const {
  const Operand& operand = op().inputs[i];
  const std::string& name = node().arguments[static_cast<std::size_t>(operand.argument)].name;
  return operand.element < 0 ? name : name + "[" + std::to_string(operand.element) + "]";
}

double difference(const at::Tensor& got, const at::Tensor& expected) {
  if (!got.defined() || !expected.defined()) return got.defined() == expected.defined() ? 0 : INFINITY;
  if (got.sizes() != expected.sizes()) return INFINITY;
  if (expected.numel() == 0) return 0;
  const at::ScalarType type = expected.is_complex() ? at::kComplexDouble : at::kDouble;
  const at::Tensor a = got.to(type), b = expected.to(type);
  const at::Tensor alike = a.eq(b).logical_or(a.isnan().logical_and(b.isnan()));  // infinities, and what is no number
  const double largest = a.sub(b).abs().masked_fill(alike, 0).max().item<double>();
  const at::Tensor finite = b.abs().masked_fill(b.isfinite().logical_not(), 0);
  return std::isnan(largest) ? INFINITY : largest / std::max(1.0, finite.max().item<double>());
}

}  // namespace planscope
