#include "planner/search/stages/fewer_layers.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/alike.h"

namespace planscope::stages {
namespace {

constexpr int kLongestPeriod = 8;  // in layers: kinds of attention that take turns
constexpr int kFewest = 3;         // periods that are worth being called a run

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Where a value comes from: output `output` of operator `place` of a layer.
struct Source {
  int layer = -1, place = -1, output = -1;
  bool operator==(const Source&) const = default;
};

// Of two layers, the parameters and whatever else no layer makes: one for one.
struct Pairs {
  std::map<TensorId, TensorId> there, back;
};

class Layers {
 public:
  Layers(const Graph& g, const ModelShape& shape)
      : g_(g), shape_(shape), ops_(at(shape.unit_count())), source_(g.tensors.size()) {
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
      const int l = shape.layer_of(g.node(o).module);
      if (l < 0) continue;
      const auto& outputs = g.node(o).outputs;
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] >= 0) source_[at(outputs[i])] = {l, static_cast<int>(ops_[at(l)].size()), static_cast<int>(i)};
      ops_[at(l)].push_back(o);
    }
  }

  int count() const { return static_cast<int>(ops_.size()); }
  const std::vector<OpId>& ops(int layer) const { return ops_[at(layer)]; }
  const Source& source(TensorId t) const { return source_[at(t)]; }

  // Whether layer `b` is equal to `a`, `period` layers before it in a run from `first` on; by operator, which it is alike.
  bool equal(int a, int b, int first, const std::vector<int>& alike) const {
    const std::vector<OpId>&of_a = ops(a), &of_b = ops(b);
    if (of_a.size() != of_b.size()) return false;
    Pairs own;
    for (std::size_t k = 0; k < of_a.size(); ++k) {
      if (alike[at(of_a[k])] != alike[at(of_b[k])] || !same_node(of_a[k], of_b[k], a, b)) return false;
      const auto &in_a = g_.ops[at(of_a[k])].inputs, &in_b = g_.ops[at(of_b[k])].inputs;
      for (std::size_t i = 0; i < in_a.size(); ++i)
        if (!same_input(in_a[i].tensor, in_b[i].tensor, a, b, first, own)) return false;
      const auto &by_a = g_.ops[at(of_a[k])].factors, &by_b = g_.ops[at(of_b[k])].factors;
      for (std::size_t f = 0; f < by_a.size(); ++f)
        if (!same_input(by_a[f].key, by_b[f].key, a, b, first, own)) return false;
    }
    return true;
  }

  // Whether nothing but the run itself, and what stands directly behind it, reads its layers from the second period on.
  bool closed(const LayerRun& run) const {
    const int end = run.first + run.period * run.periods;
    for (int l = run.first + run.period; l < end; ++l)
      for (const OpId o : ops(l))
        for (const ValueId v : g_.node(o).outputs)
          if (v >= 0 && !read_near(v, l, run, end)) return false;
    return true;
  }

  // Whether several layers of a run add to one gradient of what is made outside.
  bool add_together(const LayerRun& run) const {
    const int end = run.first + run.period * run.periods;
    const auto inside = [&](int layer) { return layer >= run.first && layer < end; };
    return std::any_of(g_.tensors.begin(), g_.tensors.end(), [&](const PTensor& t) {
      if (!t.gradient || inside(source(t.id).layer)) return false;
      std::set<int> layers;
      for (const OpId r : t.readers)
        if (const int layer = shape_.layer_of(g_.node(r).module); inside(layer)) layers.insert(layer);
      return layers.size() > 1;
    });
  }

 private:
  bool same_node(OpId a, OpId b, int layer_a, int layer_b) const {
    const Node &x = g_.node(a), &y = g_.node(b);
    const auto below = [&](const Node& n, int layer) {
      return std::string_view(n.module).substr(shape_.units[at(layer)].size());
    };
    return x.kind == y.kind && x.call == y.call && x.ordinal == y.ordinal && below(x, layer_a) == below(y, layer_b);
  }

  bool same_input(TensorId a, TensorId b, int layer_a, int layer_b, int first, Pairs& own) const {
    if (a < 0 || b < 0) return a == b;
    const Value &x = g_.model->values[at(a)], &y = g_.model->values[at(b)];
    if (x.kind != y.kind || x.dtype != y.dtype || x.sizes != y.sizes) return false;
    const Source &from_a = source(a), &from_b = source(b);
    if (from_a.layer == layer_a || from_b.layer == layer_b)
      return from_a.layer == layer_a && from_b.layer == layer_b && from_a.place == from_b.place &&
             from_a.output == from_b.output;
    if (a == b) return true;
    if (x.kind != ValueKind::computed)
      return own.there.emplace(a, b).first->second == b && own.back.emplace(b, a).first->second == a;
    const int period = layer_b - layer_a;
    if (from_b.layer < layer_a || from_b.layer > layer_b) return false;
    if (from_b.layer - period < first) return true;  // what the first period reads stands before the run
    return from_a == Source{from_b.layer - period, from_b.place, from_b.output};
  }

  bool read_near(ValueId v, int layer, const LayerRun& run, int end) const {
    const auto is = [&](ValueId o) { return o == v; };
    const Model& m = *g_.model;
    const bool last = layer >= end - run.period;
    if (!last && (m.loss == v || std::any_of(m.outputs.begin(), m.outputs.end(), is))) return false;
    if (std::any_of(m.mutations.begin(), m.mutations.end(), [&](const Mutation& x) { return x.value == v; }))
      return false;
    return std::all_of(g_.tensors[at(v)].readers.begin(), g_.tensors[at(v)].readers.end(), [&](OpId r) {
      const int reader = shape_.layer_of(g_.node(r).module);
      if (last) return true;
      return reader >= layer && reader < end && reader - layer <= run.period;
    });
  }

  const Graph& g_;
  const ModelShape& shape_;
  std::vector<std::vector<OpId>> ops_;  // of each layer, in program order
  std::vector<Source> source_;          // by tensor
};

// The model without some of its layers.
class Without {
 public:
  // By tensor, what is read instead; -1: it is gone.
  Without(const Graph& g, const std::vector<bool>& gone_ops, std::vector<TensorId> instead)
      : g_(g), gone_(gone_ops), instead_(std::move(instead)) {}

  std::optional<Model> run() {
    const Model& m = *g_.model;
    number_values();
    Model out;
    out.name = m.name;
    out.path = m.path;
    out.torch_version = m.torch_version;
    for (std::size_t v = 0; v < m.values.size(); ++v)
      if (number_[v] >= 0 && instead_[v] == static_cast<TensorId>(v)) out.values.push_back(m.values[v]);
    for (std::size_t n = 0; n < m.nodes.size(); ++n) {
      if (gone_[n]) continue;
      out.nodes.push_back(m.nodes[n]);
      for (NamedArgument& a : out.nodes.back().arguments) renumber(a.value);
      renumber(out.nodes.back().outputs);
      ValueId& like = out.nodes.back().like;  // it is not read: what is gone says nothing
      like = like < 0 || instead_[at(like)] < 0 ? -1 : number_[at(instead_[at(like)])];
    }
    out.inputs = m.inputs;
    out.outputs = m.outputs;
    renumber(out.inputs);
    renumber(out.outputs);
    out.loss = numbered(m.loss);
    for (const Mutation& x : m.mutations)
      if (number_[at(x.buffer)] >= 0) out.mutations.push_back({numbered(x.buffer), numbered(x.value)});
    out.digest = m.digest;
    for (const Node& n : out.nodes) out.digest = digest(n.module, out.digest);
    return lost_ ? std::nullopt : std::optional(std::move(out));
  }

 private:
  // What only operators that are gone made or read is gone.
  void number_values() {
    const Model& m = *g_.model;
    number_.assign(m.values.size(), -1);
    int next = 0;
    for (std::size_t v = 0; v < m.values.size(); ++v) {
      const PTensor& t = g_.tensors[v];
      const auto stays = [&](OpId o) { return !gone_[at(o)]; };
      const bool input = m.values[v].kind == ValueKind::input;
      if (t.producer >= 0 ? stays(t.producer)
                          : input || t.readers.empty() || std::any_of(t.readers.begin(), t.readers.end(), stays))
        number_[v] = next++;
      else
        instead_[v] = instead_[v] == static_cast<TensorId>(v) ? -1 : instead_[v];
    }
  }

  ValueId numbered(ValueId v) {
    if (v < 0) return v;
    const TensorId instead = instead_[at(v)];
    lost_ = lost_ || instead < 0 || number_[at(instead)] < 0;
    return lost_ ? -1 : number_[at(instead)];
  }
  void renumber(std::vector<ValueId>& all) {
    for (ValueId& v : all) v = numbered(v);
  }
  void renumber(Argument& a) {
    if (auto* one = std::get_if<Tensor>(&a)) one->id = numbered(one->id);
    if (auto* list = std::get_if<std::vector<Tensor>>(&a))
      for (Tensor& t : *list) t.id = numbered(t.id);
  }

  const Graph& g_;
  const std::vector<bool>& gone_;
  std::vector<TensorId> instead_;
  std::vector<int> number_;
  bool lost_ = false;
};

}  // namespace

std::vector<LayerRun> equal_layers(const Graph& g, const ModelShape& shape) {
  const Layers layers(g, shape);
  const std::vector<int> alike = alike_operators(g, true);
  std::vector<LayerRun> out;
  for (int first = 0; first < layers.count();) {
    LayerRun best;
    for (int period = 1; period <= kLongestPeriod && best.periods < kFewest; ++period) {
      int end = first + period;
      while (end < layers.count() && layers.equal(end - period, end, first, alike)) ++end;
      best = {first, period, (end - first) / period};
    }
    if (best.periods >= kFewest && layers.closed(best) && !layers.add_together(best)) {
      out.push_back(best);
      first += best.period * best.periods;
    } else {
      ++first;
    }
  }
  return out;
}

Result<FewerLayers> fewer_layers(const Graph& g, const ModelShape& shape, const std::vector<LayerRun>& runs,
                                 const std::vector<int>& periods) {
  const Layers layers(g, shape);
  std::vector<int> stands_for(at(layers.count()));  // each layer: the one that stays, and is equal to it
  for (int l = 0; l < layers.count(); ++l) stands_for[at(l)] = l;
  std::vector<bool> gone(g.ops.size(), false);
  std::vector<TensorId> instead(g.tensors.size());
  for (std::size_t t = 0; t < instead.size(); ++t) instead[t] = static_cast<TensorId>(t);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const LayerRun& run = runs[r];
    const int dropped = run.periods - periods[r];
    if (periods[r] < 2 || dropped <= 0) continue;
    const int from =
        run.first + run.period * ((periods[r] + 1) / 2);  // the periods that stay stand around those that go
    for (int l = from; l < from + dropped * run.period; ++l) {
      const int like = from - run.period + (l - from) % run.period;
      stands_for[at(l)] = like;
      for (std::size_t k = 0; k < layers.ops(l).size(); ++k) {
        const OpId op = layers.ops(l)[k];
        gone[at(op)] = true;
        const auto &outputs = g.node(op).outputs, &others = g.node(layers.ops(like)[k]).outputs;
        for (std::size_t i = 0; i < outputs.size(); ++i)
          if (outputs[i] >= 0) instead[at(outputs[i])] = others[i];
      }
    }
  }
  std::optional<Model> model = Without(g, gone, std::move(instead)).run();
  if (!model) return error("what equal layers make is read elsewhere");
  Result<Graph> made = make_graph(std::make_shared<const Model>(std::move(*model)));
  if (!made.ok()) return made.diagnostics;
  Result<Graph> sized = resize(*made, input_dimensions(g));
  if (!sized.ok()) return sized.diagnostics;
  FewerLayers out{std::move(*sized), shape, {}};
  out.shape.units.clear();
  out.shape.index_.clear();
  std::vector<int> place(at(layers.count()), -1);
  for (int l = 0; l < layers.count(); ++l)
    if (stands_for[at(l)] == l) {
      place[at(l)] = out.shape.unit_count();
      out.shape.index_[shape.units[at(l)]] = out.shape.unit_count();
      out.shape.units.push_back(shape.units[at(l)]);
    }
  for (const int l : stands_for) out.like.push_back(place[at(l)]);
  for (Parameter& p : out.graph.parameters) {
    const int layer = out.shape.layer_of(out.graph.node(out.graph.tensors[at(p.tensor)].readers.front()).module);
    if (layer >= 0) p.stands_for = static_cast<int>(std::count(out.like.begin(), out.like.end(), layer));
  }
  return out;
}

}  // namespace planscope::stages
