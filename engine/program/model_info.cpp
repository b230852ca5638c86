#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "engine/graph/inner.h"
#include "engine/plan/selection.h"
#include "engine/program/materialize.h"

namespace planscope {

namespace {

plan::FactorKind kind_of(FactorKind k) {
  switch (k) {
    case FactorKind::free:
      return plan::FactorKind::free;
    case FactorKind::sum:
      return plan::FactorKind::sum;
    case FactorKind::merge:
      return plan::FactorKind::merge;
    case FactorKind::softmax:
      return plan::FactorKind::softmax;
    case FactorKind::frozen:
      return plan::FactorKind::frozen;
  }
  return plan::FactorKind::frozen;
}

plan::FactorInfo factor_info(const Graph& g, const std::vector<ClassId>& parts, std::vector<std::string> names,
                             FactorKind kind, std::string reason) {
  plan::FactorInfo f;
  f.names = std::move(names);
  f.kind = kind_of(kind);
  f.reason = std::move(reason);
  f.size = 1;
  f.parts.reserve(parts.size());
  for (const ClassId c : parts) {
    const PartClass& k = g.classes[static_cast<std::size_t>(c)];
    f.parts.push_back({k.size, k.name, k.frozen});
    f.size *= k.size;
  }
  return f;
}

plan::ModuleInfo module_of(const Node& n) { return {n.module, n.module_type}; }

}  // namespace

std::vector<plan::InputDimension> model_settings(const Graph& g) {
  std::vector<plan::InputDimension> out;
  for (const auto& [name, size] : input_dimensions(g)) out.push_back({name, size});
  const Model& model = *g.model;
  const std::vector<std::size_t> scalars = scalar_outputs(model);
  if (scalars.size() < 2) return out;
  plan::InputDimension loss{std::string(kLossSetting), 0, {}};
  for (const std::size_t k : scalars) {
    if (model.outputs[k] == model.loss) loss.size = static_cast<std::int64_t>(loss.words.size());
    loss.words.push_back(output_name(model, k));
  }
  out.push_back(std::move(loss));
  return out;
}

plan::ModelInfo model_info(const Graph& g) {
  plan::ModelInfo m;
  std::unordered_set<std::string_view> seen;
  m.operators.reserve(g.ops.size());
  const std::vector<int> inner = inner_factors(g);
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    const Op& op = g.ops[static_cast<std::size_t>(o)];
    const Node& n = g.node(o);
    plan::OperatorInfo& info = m.operators.emplace_back();
    info.module = n.module;
    info.call = n.call;
    info.kind = n.kind;
    info.ordinal = n.ordinal;
    info.parameter_free = op.parameter_free;
    info.has_backward = op.backward;
    for (const Operand& in : op.inputs) {
      const ValueKind k = g.model->values[static_cast<std::size_t>(in.tensor)].kind;
      info.has_weight_gradient |= k == ValueKind::parameter && g.tensors[static_cast<std::size_t>(in.tensor)].gradient;
    }
    info.factors.reserve(op.factors.size());
    for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
      const Factor& factor = op.factors[static_cast<std::size_t>(f)];
      info.factors.push_back(factor_info(g, factor.parts, factor_names(g, o, f), factor.kind, factor.reason));
      if (inner[static_cast<std::size_t>(o)] == f) info.factors.back().names.emplace_back("inner");
    }
    if (seen.insert(n.module).second) m.modules.push_back(module_of(n));
  }
  for (const Parameter& p : g.parameters) {
    plan::ParameterInfo info;
    info.name = g.tensor_name(p.tensor);
    const PTensor& t = g.tensors[static_cast<std::size_t>(p.tensor)];
    for (const OpId r : t.readers) info.readers.push_back(r);
    for (std::size_t d = 0; d < t.dims.size(); ++d)
      info.factors.push_back(factor_info(g, t.dims[d], {"dim" + std::to_string(d)}, FactorKind::free, ""));
    m.parameters.push_back(std::move(info));
  }
  m.inputs = model_settings(g);
  m.index = std::make_shared<const plan::ModelIndex>(plan::model_index(m));
  return m;
}

}  // namespace planscope
