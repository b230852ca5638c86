#include <algorithm>
#include <map>
#include <set>

#include "app/workbench/workbench.h"

namespace planscope {

namespace {

// Operators that have a factor which may be split and has more than one element.
bool splittable(const Graph& g, const Op& op) {
  for (const Factor& f : op.factors) {
    if (f.kind == FactorKind::frozen) continue;
    for (const ClassId c : f.parts)
      if (g.classes[static_cast<std::size_t>(c)].size > 1) return true;
  }
  return false;
}

std::string reason_of(const Graph& g, const Op& op) {
  if (!op.known) return "no rule for its target";
  for (const Factor& f : op.factors)
    if (f.kind == FactorKind::frozen && !f.reason.empty()) return f.reason;
  for (const Operand& o : op.outputs)
    if (g.elements(o.tensor) > 1) return "nothing to split";
  return "a single element";
}

std::int64_t activation_bytes(const Graph& g) {
  std::set<TensorId> saved;
  for (const Op& op : g.ops) {
    if (!op.backward) continue;
    for (const int s : op.saves) {
      const std::size_t k = static_cast<std::size_t>(s >= 0 ? s : -1 - s);
      const std::vector<Operand>& from = s >= 0 ? op.inputs : op.outputs;
      if (k < from.size() && g.model->values[static_cast<std::size_t>(from[k].tensor)].kind == ValueKind::computed)
        saved.insert(from[k].tensor);
    }
  }
  std::int64_t bytes = 0;
  for (const TensorId t : saved) bytes += g.bytes(t);
  return bytes;
}

// The first two components of a module path, numbers folded: `model.layers.*`.
std::string top_module(const std::string& path) {
  std::string out;
  int depth = 0;
  std::size_t at = 0;
  while (at < path.size() && depth < 3) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    std::string part = path.substr(at, end - at);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    out += (out.empty() ? "" : ".") + (number ? std::string("*") : part);
    ++depth;
    if (number) break;
    at = end + 1;
  }
  return out.empty() ? "(root)" : out;
}

}  // namespace

ModelSummary summarize(const Graph& g) {
  ModelSummary s;
  const Model& m = *g.model;
  s.name = m.name;
  s.operators = static_cast<std::int64_t>(g.ops.size());
  s.has_loss = m.loss >= 0;
  for (const Parameter& p : g.parameters) {
    s.parameters += g.elements(p.tensor);
    s.parameter_bytes += g.bytes(p.tensor);
  }
  for (const std::int64_t n : m.unused_parameter_elements) s.unused_parameters += n;
  std::int64_t stored = 0;
  for (const Weight& w : m.weights)
    if (m.values[static_cast<std::size_t>(w.value)].kind == ValueKind::parameter)
      stored += static_cast<std::int64_t>(w.bytes);
  s.has_weights = stored > 0;
  s.activation_bytes = activation_bytes(g);
  std::map<std::string, std::int64_t> kinds;
  std::map<std::string, std::size_t> modules;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    const Op& op = g.ops[static_cast<std::size_t>(o)];
    s.flops += op.flops;
    const Node& n = g.node(o);
    ++kinds[n.kind];
    const auto [it, fresh] = modules.emplace(top_module(n.module), s.modules.size());
    if (fresh) s.modules.push_back({it->first, 0, 0});
    ++s.modules[it->second].operators;
    s.modules[it->second].flops += op.flops;
    if (!op.known)
      ++s.unknown;
    else if (splittable(g, op))
      ++s.split;
    else
      ++s.replicate_only;
    if (!op.known || !splittable(g, op)) s.whole.push_back({n.name(), n.target, reason_of(g, op)});
  }
  s.kinds.assign(kinds.begin(), kinds.end());
  std::stable_sort(s.kinds.begin(), s.kinds.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  s.inputs = input_dimensions(g);
  for (const ValueId v : m.inputs)
    if (g.tensors[static_cast<std::size_t>(v)].readers.empty() &&
        std::find(m.outputs.begin(), m.outputs.end(), v) == m.outputs.end())
      s.unread_inputs.push_back(m.values[static_cast<std::size_t>(v)].name);
  for (const Value& v : m.values) {
    if (v.aliases.empty()) continue;
    s.tied.push_back({v.name});
    s.tied.back().insert(s.tied.back().end(), v.aliases.begin(), v.aliases.end());
  }
  for (const std::size_t k : scalar_outputs(m)) {
    s.scalar_outputs.push_back(output_name(m, k));
    if (m.outputs[k] == m.loss && s.loss.empty()) s.loss = output_name(m, k);
  }
  return s;
}

}  // namespace planscope
