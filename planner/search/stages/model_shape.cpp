#include "planner/search/stages/model_shape.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/text.h"

namespace planscope::stages {
namespace {

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

// A module path as list, member and what lies below it, for each list that it is in: of `encoder.layers.0.blocks.1.mlp`
// {`encoder.layers`, `encoder.layers.0`, `blocks.1.mlp`} and {`encoder.layers[*].blocks`, `encoder.layers.0.blocks.1`, `mlp`}.
struct InList {
  std::string list, member, rest;
};
std::vector<InList> lists_of(const std::string& module) {
  std::vector<InList> out;
  const std::vector<std::string> parts = split(module, '.');
  std::string list, path;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    path += (i > 0 ? "." : "") + parts[i];
    if (i > 0 && is_number(parts[i])) {
      out.push_back({list, path, join({parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end()}, ".")});
      list += "[*]";
    } else {
      list += (i > 0 ? "." : "") + parts[i];
    }
  }
  return out;
}

bool has_factor(const plan::OperatorInfo& op, const std::string& name) {
  return std::any_of(op.factors.begin(), op.factors.end(), [&](const plan::FactorInfo& f) {
    return f.kind != plan::FactorKind::frozen && std::find(f.names.begin(), f.names.end(), name) != f.names.end();
  });
}
bool sums(const plan::OperatorInfo& op) {
  return std::any_of(op.factors.begin(), op.factors.end(),
                     [](const plan::FactorInfo& f) { return f.kind == plan::FactorKind::sum; });
}
bool is_attention(const plan::OperatorInfo& op) {
  return op.kind == "scaled_dot_product_attention" || op.kind == "softmax";
}

std::string parent(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

// By module: what its own operators are.
struct Own {
  bool product = false, attention = false, reads = false, sequence = true;
  bool adds = false;
};

std::map<std::string, Own> own_operators(const plan::ModelInfo& info) {
  std::map<std::string, Own> out;
  std::vector<bool> reads(info.operators.size(), false);
  for (const plan::ParameterInfo& p : info.parameters)
    for (int r : p.readers) reads[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = 0; i < info.operators.size(); ++i) {
    const plan::OperatorInfo& op = info.operators[i];
    if (op.parameter_free) continue;
    Own& own = out[op.module];
    own.product = own.product || (reads[i] && sums(op));
    own.attention = own.attention || is_attention(op);
    own.reads = own.reads || reads[i];
    own.sequence = own.sequence && has_factor(op, "seq");
    own.adds = own.adds || (op.kind == "add" && has_factor(op, "seq") && !reads[i]);
  }
  return out;
}

// Normalizations: modules with a parameter and no product, outside attention; products outside the layers that are none of the
// vocabulary (what an operator that nothing names binds depends on how many micro-batches there are). Additions: of modules that
// hold no product and no attention themselves.
std::vector<std::string> residual_modules(const std::map<std::string, Own>& own, const ModelShape& shape) {
  std::set<std::string> out;
  for (const auto& [module, o] : own) {
    const int layer = shape.layer_of(module);
    const bool inside = layer >= 0;
    const std::string& unit = inside ? shape.units[static_cast<std::size_t>(layer)] : module;
    const std::string base =
        inside ? (module == unit ? "L" : "L." + without_numbers(module.substr(unit.size() + 1))) : module;
    const auto above = own.find(parent(module));
    const bool in_attention = above != own.end() && above->second.attention;
    const bool product = o.product && (inside || shape.vocabulary.contains(module));
    if (o.reads && !product && o.sequence && !in_attention && !module.empty()) out.insert(base);
    if (inside && o.adds && !o.product && !o.attention && !o.reads) out.insert(base + ":add");
  }
  return {out.begin(), out.end()};
}

// What holds the products of layers: the outermost modules inside a layer whose own modules are products.
std::vector<std::string> product_blocks(const std::map<std::string, Own>& own, const ModelShape& shape) {
  std::set<std::string> out;
  for (const auto& [module, o] : own) {
    const int layer = shape.layer_of(module);
    if (!o.product || layer < 0) continue;
    const std::size_t unit = shape.units[static_cast<std::size_t>(layer)].size();
    const std::string holder = parent(module);
    if (holder.size() > unit) out.insert(without_numbers(holder.substr(unit + 1)));
  }
  std::erase_if(out, [&](const std::string& b) {
    return std::any_of(out.begin(), out.end(), [&](const std::string& o) { return b.starts_with(o + "."); });
  });
  return {out.begin(), out.end()};
}

// A list of modules: its members in program order, and what lies below them.
struct ModuleList {
  std::vector<std::string> members;
  std::map<std::string, std::set<std::string>> below;  // by member: submodules with operators
  int operators = 0;
};
using ModuleLists = std::map<std::string, ModuleList>;

ModuleLists module_lists(const plan::ModelInfo& info, std::vector<std::string>& outermost) {
  ModuleLists out;
  for (const plan::OperatorInfo& op : info.operators) {
    if (op.parameter_free) continue;
    bool first = true;
    for (const InList& in : lists_of(op.module)) {
      ModuleList& list = out[in.list];
      if (list.members.empty() && first) outermost.push_back(in.list);
      if (!list.below.contains(in.member)) list.members.push_back(in.member);
      list.below[in.member].insert(in.rest);
      ++list.operators;
      first = false;
    }
  }
  return out;
}

// Most of a layer is one list of modules with the same submodules: these are the layers.
std::string innermost_layers(const ModuleLists& lists, const std::string& list) {
  const std::string prefix = list + "[*].";
  const ModuleList& own = lists.at(list);
  for (auto l = lists.lower_bound(prefix); l != lists.end() && l->first.starts_with(prefix); ++l) {
    const std::string name = l->first.substr(prefix.size());
    const auto& below = l->second.below;
    if (name.find_first_of(".[") != std::string::npos || 2 * l->second.operators < own.operators) continue;
    if (std::all_of(below.begin(), below.end(), [&](const auto& b) { return b.second == below.begin()->second; }))
      return innermost_layers(lists, l->first);
  }
  return list;
}

// How often every layer is called: as often as each of its modules is. What a layer calls twice itself (a module that it shares
// with others) is no second call of the layer.
int calls_of_layers(const plan::ModelInfo& info, const ModelShape& shape) {
  std::map<std::string, int> calls;  // by module
  for (const plan::OperatorInfo& op : info.operators) {
    if (op.parameter_free || shape.layer_of(op.module) < 0) continue;
    int& most = calls[op.module];
    most = std::max(most, op.call + 1);
  }
  std::optional<int> least;
  for (const auto& [module, most] : calls) least = std::min(least.value_or(most), most);
  return std::max(1, least.value_or(1));
}

}  // namespace

int ModelShape::layer_of(const std::string& module) const {
  for (std::size_t end = module.size(); end != std::string::npos && end > 0; end = module.rfind('.', end - 1))
    if (const auto found = index_.find(module.substr(0, end)); found != index_.end()) return found->second;
  return -1;
}

std::string ModelShape::selection() const {
  std::vector<std::string> out;
  for (const std::string& l : layers) out.push_back(l + "[*]");
  return join(out, ", ");
}

ModelShape model_shape(const plan::ModelInfo& info) {
  ModelShape out;
  std::vector<std::string> outermost;
  const ModuleLists lists = module_lists(info, outermost);
  for (const std::string& outer : outermost) {
    const std::string list = innermost_layers(lists, outer);
    const std::vector<std::string>& members = lists.at(list).members;
    if (members.size() < 2) continue;
    out.layers.push_back(list);
    out.units.insert(out.units.end(), members.begin(), members.end());
  }
  for (std::size_t i = 0; i < out.units.size(); ++i) out.index_[out.units[i]] = static_cast<int>(i);
  for (const plan::InputDimension& d : info.inputs)
    if (d.name == "batch") out.batch = d.name, out.batch_size = d.size;
  for (const plan::OperatorInfo& op : info.operators) {
    if (out.layer_of(op.module) >= 0) {
      out.sequence = out.sequence || has_factor(op, "seq");
      continue;
    }
    for (const plan::FactorInfo& f : op.factors) {
      if (std::find(f.names.begin(), f.names.end(), "vocab") == f.names.end() || f.kind == plan::FactorKind::frozen)
        continue;
      if (!op.module.empty())
        out.vocabulary.emplace(op.module, f.size);
      else if (std::find(out.vocabulary_kinds.begin(), out.vocabulary_kinds.end(), op.kind) ==
               out.vocabulary_kinds.end())
        out.vocabulary_kinds.push_back(op.kind);
    }
  }
  out.calls = calls_of_layers(info, out);
  out.first_trained = out.calls - 1;
  for (const plan::OperatorInfo& op : info.operators)
    if (op.has_backward && out.layer_of(op.module) >= 0)
      out.first_trained = std::min(out.first_trained, std::max(0, op.call));
  const std::map<std::string, Own> own = own_operators(info);
  out.residual = residual_modules(own, out);
  out.blocks = product_blocks(own, out);
  return out;
}

}  // namespace planscope::stages
