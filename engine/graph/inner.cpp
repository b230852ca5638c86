#include "engine/graph/inner.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace planscope {

namespace {

struct Product {
  OpId op = -1;
  int factor = -1;
};

struct Inner {
  ClassId of = -1;
  std::vector<Product> columns, rows;
  std::int64_t weights = 0;  // elements
  bool comes_back = false;
};

class Finder {
 public:
  explicit Finder(const Graph& g) : g_(g), weight_(g.tensors.size(), false), out_(g.ops.size(), -1) {}

  std::vector<int> run() {
    find_weights();
    for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o) note(o);
    std::vector<Inner> all;
    for (auto& [c, inner] : found_) {
      inner.of = c;
      if (inner.columns.empty() || inner.rows.empty()) continue;
      inner.comes_back = comes_back(inner);
      all.push_back(std::move(inner));
    }
    std::sort(all.begin(), all.end(), [](const Inner& a, const Inner& b) {
      return std::tuple(a.comes_back, -a.weights, a.columns[0].op) <
             std::tuple(b.comes_back, -b.weights, b.columns[0].op);
    });
    std::set<ClassId> chosen;
    for (const Inner& inner : all)
      if (is_free(inner)) {
        chosen.insert(inner.of);
        for (const auto* list : {&inner.columns, &inner.rows})
          for (const Product& p : *list) out_[static_cast<std::size_t>(p.op)] = p.factor;
      }
    add_attention(chosen);
    return out_;
  }

 private:
  // Tensors that parameters alone decide.
  void find_weights() {
    for (TensorId t = 0; t < static_cast<TensorId>(g_.tensors.size()); ++t)
      weight_[static_cast<std::size_t>(t)] =
          g_.model->values[static_cast<std::size_t>(t)].kind == ValueKind::parameter;
    for (const Op& op : g_.ops) {
      const bool weights =
          !op.inputs.empty() && std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) {
            const ValueKind kind = g_.model->values[static_cast<std::size_t>(in.tensor)].kind;
            return is_weight(in) || kind == ValueKind::buffer || kind == ValueKind::constant;
          });
      if (weights && std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return is_weight(in); }))
        for (const Operand& out : op.outputs) weight_[static_cast<std::size_t>(out.tensor)] = true;
    }
  }
  bool is_weight(const Operand& o) const { return weight_[static_cast<std::size_t>(o.tensor)]; }

  static bool has(const Operand& o, int factor) {
    return std::any_of(o.map.begin(), o.map.end(), [&](const std::vector<PartRef>& dim) {
      return std::any_of(dim.begin(), dim.end(), [&](const PartRef& r) { return r.factor == factor; });
    });
  }

  // The part that an axis would split; -1: all of them are frozen.
  ClassId outermost(const Factor& f) const {
    for (const ClassId c : f.parts)
      if (!g_.classes[static_cast<std::size_t>(c)].frozen) return c;
    return -1;
  }

  void note(OpId o) {
    const Op& op = g_.ops[static_cast<std::size_t>(o)];
    if (op.elementwise_cost) return;
    std::int64_t weights = 0;
    for (const Operand& in : op.inputs)
      if (is_weight(in) && !in.added) weights += g_.elements(in.tensor);
    if (weights == 0) return;
    for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
      const Factor& factor = op.factors[static_cast<std::size_t>(f)];
      const ClassId c = outermost(factor);
      if (c < 0 || factor.key >= 0) continue;
      bool by_weights = false, by_data = false;
      for (const Operand& in : op.inputs)
        if (!in.added && has(in, f)) (is_weight(in) ? by_weights : by_data) = true;
      const bool given =
          std::any_of(op.outputs.begin(), op.outputs.end(), [&](const Operand& out) { return has(out, f); });
      const bool column = factor.kind == FactorKind::free && by_weights && !by_data && given;
      const bool row = factor.kind == FactorKind::sum && by_weights && by_data && !given;
      if (!column && !row) continue;
      Inner& inner = found_[c];
      (column ? inner.columns : inner.rows).push_back({o, f});
      inner.weights += weights;
    }
  }

  bool is_free(const Inner& inner) const {
    std::set<OpId> own;
    for (const auto* list : {&inner.columns, &inner.rows})
      for (const Product& p : *list)
        if (!own.insert(p.op).second || out_[static_cast<std::size_t>(p.op)] >= 0) return false;
    return true;
  }

  // Whether a column parallel product reads what a row parallel one of the same calls gives.
  bool comes_back(const Inner& inner) const {
    std::set<int> calls;
    for (const Product& p : inner.rows) calls.insert(g_.node(p.op).call);
    return std::any_of(calls.begin(), calls.end(), [&](int call) {
      std::set<OpId> columns, behind;
      for (const Product& p : inner.columns)
        if (g_.node(p.op).call == call) columns.insert(p.op);
      if (columns.empty()) return false;
      for (const Product& p : inner.rows)
        if (g_.node(p.op).call == call) behind.insert(p.op);
      while (!behind.empty() && *behind.begin() <= *columns.rbegin()) {
        const OpId o = *behind.begin();
        behind.erase(behind.begin());
        if (columns.contains(o)) return true;
        for (const Operand& out : g_.ops[static_cast<std::size_t>(o)].outputs) {
          const std::vector<OpId>& readers = g_.tensors[static_cast<std::size_t>(out.tensor)].readers;
          behind.insert(readers.begin(), readers.end());
        }
      }
      return false;
    });
  }

  void add_attention(const std::set<ClassId>& chosen) {
    for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o) {
      const std::string& kind = g_.node(o).kind;
      if (kind != "scaled_dot_product_attention" && kind != "softmax") continue;
      const Op& op = g_.ops[static_cast<std::size_t>(o)];
      for (int f = 0; f < static_cast<int>(op.factors.size()); ++f) {
        const Factor& factor = op.factors[static_cast<std::size_t>(f)];
        if (factor.kind == FactorKind::free && chosen.contains(outermost(factor))) out_[static_cast<std::size_t>(o)] = f;
      }
    }
  }

  const Graph& g_;
  std::vector<bool> weight_;  // by tensor
  std::map<ClassId, Inner> found_;
  std::vector<int> out_;
};

}  // namespace

std::vector<int> inner_factors(const Graph& g) { return Finder(g).run(); }

}  // namespace planscope
