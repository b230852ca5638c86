#include "planner/search/splits/storage.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "planner/cost/operator_class.h"

namespace planscope::splits {
namespace {

constexpr std::size_t kMostChildren = 6;  // that have words of their own

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

// `model.layers.3` of `model.layers.3.mlp.act`, for the list `model.layers`; else nothing.
std::string member_of(const std::string& list, const std::string& module) {
  if (!module.starts_with(list + ".")) return "";
  const std::size_t from = list.size() + 1, to = std::min(module.find('.', from), module.size());
  return is_number(module.substr(from, to - from)) ? module.substr(0, to) : "";
}

// `.mlp` of `model.layers.3.mlp.act`, `.blocks.4` of `layers.0.blocks.4.norm`: what is right below the layer.
std::string child_of(const std::string& layer, const std::string& module) {
  if (module.size() <= layer.size()) return "";
  const std::vector<std::string> names = split(module.substr(layer.size() + 1), '.');
  std::string out = "." + names[0];
  if (names.size() > 1 && is_number(names[1])) out += "." + names[1];
  return out;
}

bool is_below(const std::string& module, const std::string& path) {
  return module == path || module.starts_with(path + ".");
}

bool is_cheap(OperatorClass c) { return c != OperatorClass::product && c != OperatorClass::attention; }

}  // namespace

Storage::Storage(const Graph& g, const plan::ModelInfo& info, const StorageSpec& spec, bool few)
    : g_(g), layer_of_(g.ops.size(), -1), position_(g.ops.size(), -1), readers_(g.tensors.size()) {
  if (spec.recompute || spec.offload) find_layers(info, spec, few);
  find_readers();
}

void Storage::find_layers(const plan::ModelInfo& info, const StorageSpec& spec, bool few) {
  std::map<std::string, int> known;
  for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o) {
    if (g_.ops[at(o)].parameter_free) continue;
    for (const std::string& list : spec.layers) {
      const std::string path = member_of(list, info.operators[at(o)].module);
      if (path.empty()) continue;
      const auto [layer, fresh] = known.emplace(path, static_cast<int>(layers_.size()));
      if (fresh) layers_.push_back({path, {}, {}, {}});
      layer_of_[at(o)] = layer->second;
      position_[at(o)] = static_cast<int>(layers_[at(layer->second)].operators.size());
      layers_[at(layer->second)].operators.push_back(o);
      break;
    }
  }
  for (Layer& l : layers_) add_words(l, info, spec, few);
}

void Storage::add_words(Layer& l, const plan::ModelInfo& info, const StorageSpec& spec, bool few) const {
  std::vector<std::string> children;
  for (const OpId o : l.operators) {
    const std::string child = child_of(l.path, info.operators[at(o)].module);
    if (!child.empty() && std::find(children.begin(), children.end(), child) == children.end())
      children.push_back(child);
  }
  l.words = {{StorageMode::keep, {}}};
  // For each of `below`, whether an operator is in it.
  std::vector<std::vector<std::vector<bool>>> members = {{}};
  const auto add = [&](StorageMode mode, const std::vector<std::string>& below, bool cheap) {
    StorageWord word{mode, {}};
    std::vector<std::vector<bool>> named;
    for (const std::string& b : below) {
      const Cheap c = cheap ? cheap_below(l, l.path + b, info) : Cheap{};
      if (cheap && c.kinds.empty()) continue;
      word.below.push_back(cheap ? b + ":{" + join({c.kinds.begin(), c.kinds.end()}, ",") + "}" : b);
      named.emplace_back();
      for (std::size_t k = 0; k < l.operators.size(); ++k)
        named.back().push_back(cheap ? c.named[k] : is_below(info.operators[at(l.operators[k])].module, l.path + b));
    }
    if (word.below.empty()) return;
    l.words.push_back(std::move(word));
    members.push_back(std::move(named));
  };
  if (spec.recompute) {
    add(StorageMode::recompute, {""}, false);
    if (children.size() > 1) add(StorageMode::recompute, children, false);
    add(StorageMode::recompute, {""}, true);
    if (!few && children.size() > 1 && children.size() <= kMostChildren)
      for (const std::string& c : children) {
        add(StorageMode::recompute, {c}, false);
        add(StorageMode::recompute, {c}, true);
      }
  }
  if (spec.offload) add(StorageMode::offload, {""}, false);
  for (std::size_t k = 0; k < l.operators.size(); ++k) {
    l.roles.emplace_back();
    for (std::size_t w = 0; w < l.words.size(); ++w) {
      Role role;
      for (int u = 0; u < static_cast<int>(members[w].size()); ++u)
        if (members[w][at(u)][k]) role = {l.words[w].mode, u};
      l.roles.back().push_back(role);
    }
  }
}

// Kinds of which no operator there is a product or an attention; nothing where all are such kinds. `X:kind` names the
// module's own operators first.
Storage::Cheap Storage::cheap_below(const Layer& l, const std::string& path, const plan::ModelInfo& info) const {
  Cheap out;
  std::set<std::string> dear, own;
  for (const OpId o : l.operators) {
    const plan::OperatorInfo& op = info.operators[at(o)];
    if (!is_below(op.module, path)) continue;
    (is_cheap(classify(g_, o)) ? out.kinds : dear).insert(op.kind);
    if (op.module == path) own.insert(op.kind);
  }
  for (const std::string& kind : dear) out.kinds.erase(kind);
  if (dear.empty()) out.kinds.clear();
  for (const OpId o : l.operators) {
    const plan::OperatorInfo& op = info.operators[at(o)];
    out.named.push_back(is_below(op.module, path) && out.kinds.contains(op.kind) &&
                        (op.module == path || !own.contains(op.kind)));
  }
  return out;
}

// A view lies where what it views lies.
TensorId Storage::root(TensorId t) const {
  for (;;) {
    const OpId o = g_.tensors[at(t)].producer;
    if (o < 0 || g_.ops[at(o)].parameter_free || classify(g_, o) != OperatorClass::view || g_.ops[at(o)].inputs.empty())
      return t;
    t = g_.ops[at(o)].inputs[0].tensor;
  }
}

void Storage::find_readers() {
  for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o) {
    const Op& op = g_.ops[at(o)];
    if (op.parameter_free) continue;
    const auto saves = [&](int which) {
      return op.backward && std::find(op.saves.begin(), op.saves.end(), which) != op.saves.end();
    };
    for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
      const TensorId t = op.inputs[at(i)].tensor;
      readers_[at(root(t))].push_back({o, t, saves(i)});
    }
    for (int k = 0; k < static_cast<int>(op.outputs.size()); ++k)
      if (saves(-1 - k)) readers_[at(root(op.outputs[at(k)].tensor))].push_back({o, -1, true});
  }
}

Storage::Role Storage::role(OpId o, int word) const {
  return layer_of(o) < 0 ? Role{} : layers_[at(layer_of(o))].roles[at(position_[at(o)])][at(word)];
}

bool Storage::inside(TensorId t, OpId reader, int word) const {
  const OpId producer = g_.tensors[at(t)].producer;
  return producer >= 0 && layer_of(producer) >= 0 && layer_of(producer) == layer_of(reader) &&
         role(producer, word) == role(reader, word);
}

Demand Storage::demand(const Reader& r, int word) const {
  const Role role = this->role(r.op, word);
  if (role.mode == StorageMode::keep) return r.saves ? Demand::device : Demand::none;
  if (role.mode == StorageMode::offload) return r.saves ? Demand::host : Demand::none;
  // Its own result is made again with it.
  return r.tensor < 0 || inside(r.tensor, r.op, word) ? Demand::none : Demand::device;
}

std::vector<int> Storage::layers_about(TensorId t) const {
  std::set<int> out;
  for (const Reader& r : readers_[at(t)])
    if (layer_of(r.op) >= 0) out.insert(layer_of(r.op));
  return {out.begin(), out.end()};
}

Demand Storage::demand(TensorId t, int layer, int word) const {
  Demand out = Demand::none;
  for (const Reader& r : readers_[at(t)])
    if (layer_of(r.op) == layer) out = std::max(out, demand(r, word));
  return out;
}

Demand Storage::demand_anyway(TensorId t) const {
  Demand out = Demand::none;
  for (const Reader& r : readers_[at(t)])
    if (layer_of(r.op) < 0 && r.saves) out = Demand::device;
  return out;
}

}  // namespace planscope::splits
