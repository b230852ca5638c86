#include "planner/search/stages/model_shape.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engine/base/text.h"

namespace planscope::stages {
namespace {

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

// A module path as list, member and what lies below it.
struct InList {
  std::string list, rest;
  int member = -1;
};
InList in_list(const std::string& module) {
  InList out;
  const std::vector<std::string> parts = split(module, '.');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!is_number(parts[i]) || i == 0) continue;
    out.list = join({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i)}, ".");
    out.member = std::stoi(parts[i]);
    out.rest = join({parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end()}, ".");
    break;
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

// Normalizations: modules with a parameter and no product, outside attention. Additions: of modules that hold no product
// and no attention themselves.
std::vector<std::string> residual_modules(const std::map<std::string, Own>& own, const std::set<std::string>& lists) {
  std::set<std::string> out;
  for (const auto& [module, o] : own) {
    const InList where = in_list(module);
    const bool inside = lists.contains(where.list);
    const std::string base = inside ? (where.rest.empty() ? "L" : "L." + without_numbers(where.rest)) : module;
    const auto above = own.find(parent(module));
    const bool in_attention = above != own.end() && above->second.attention;
    if (o.reads && !o.product && o.sequence && !in_attention && !module.empty()) out.insert(base);
    if (inside && o.adds && !o.product && !o.attention && !o.reads) out.insert(base + ":add");
  }
  return {out.begin(), out.end()};
}

}  // namespace

int ModelShape::unit_count() const { return std::accumulate(units.begin(), units.end(), 0); }

std::string ModelShape::selection() const {
  std::vector<std::string> out;
  for (const std::string& l : layers) out.push_back(l + "[*]");
  return join(out, ", ");
}

ModelShape model_shape(const plan::ModelInfo& info) {
  ModelShape out;
  std::map<std::string, std::set<int>> members;
  for (const plan::OperatorInfo& op : info.operators) {
    const InList where = in_list(op.module);
    if (where.member < 0 || op.parameter_free) continue;
    if (members[where.list].empty()) out.layers.push_back(where.list);
    members[where.list].insert(where.member);
  }
  std::erase_if(out.layers, [&](const std::string& l) { return members[l].size() < 2; });
  const std::set<std::string> lists(out.layers.begin(), out.layers.end());
  for (const std::string& l : out.layers) out.units.push_back(static_cast<int>(members[l].size()));
  for (const plan::InputDimension& d : info.inputs)
    if (d.name == "batch") out.batch = d.name, out.batch_size = d.size;
  for (const plan::OperatorInfo& op : info.operators) {
    if (lists.contains(in_list(op.module).list)) {
      out.sequence = out.sequence || has_factor(op, "seq");
      continue;
    }
    for (const plan::FactorInfo& f : op.factors)
      if (std::find(f.names.begin(), f.names.end(), "vocab") != f.names.end() && f.kind != plan::FactorKind::frozen &&
          !op.module.empty() && !out.vocabulary.contains(op.module))
        out.vocabulary[op.module] = f.size;
  }
  out.residual = residual_modules(own_operators(info), lists);
  return out;
}

}  // namespace planscope::stages
