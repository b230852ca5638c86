#include "planner/search/splits/network.h"

#include <algorithm>
#include <functional>
#include <set>

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using Ways = std::vector<Interface>;  // sorted, each once

constexpr std::size_t kMostSets = 400, kMostSimilar = 100;
constexpr double kMostPairs = 1e5;  // of strategies, over all kinds of operators

Ways sorted(Ways w) {
  std::sort(w.begin(), w.end());
  w.erase(std::unique(w.begin(), w.end()), w.end());
  return w;
}

// The ways in which readers together read a tensor. Where a partial gradient would pass backward if all contributions were
// partial, one of a mixed set that is not has a reader that gives it: else sets would be padded to keep it from passing.
struct Reading {
  Ways ways;
  int witness = -1;  // position among the readers; -1: none is needed
  Interface of = {};
  bool operator==(const Reading&) const = default;
  auto operator<=>(const Reading&) const = default;
};

// A tensor and the operators that strategies are chosen for.
struct Wire {
  TensorId tensor = -1;
  std::vector<OpId> readers;
};

class Builder {
 public:
  Builder(Space& space, const plan::ModelInfo& info, const std::vector<int>& alike, const Weights& weights,
          std::int64_t limit)
      : space_(space), g_(space.graph()), info_(info), alike_(alike), weights_(weights) {
    if (limit > 0) out_.costs.limits = {limit};
  }

  Network run() {
    const auto count = g_.ops.size();
    out_.node_of.assign(count, -1);
    out_.kind_of.assign(count, -1);
    for (OpId o = 0; o < static_cast<OpId>(count); ++o) add_operator(o);
    double squares = 0;
    for (const auto& s : out_.strategies) squares += static_cast<double>(s.size()) * static_cast<double>(s.size());
    out_.too_large = squares > kMostPairs;
    if (out_.too_large) return std::move(out_);
    for (const Op& op : g_.ops)
      for (const Operand& written : op.outputs)
        if (!op.parameter_free) connect(written.tensor);
    for (const Parameter& p : g_.parameters) connect(p.tensor);
    return std::move(out_);
  }

 private:
  const std::vector<Strategy>& strategies(OpId o) const { return out_.strategies[at(out_.kind_of[at(o)])]; }
  const PTensor& tensor(TensorId t) const { return g_.tensors[at(t)]; }

  // ---- kinds of operators

  int number_of(const std::string& text) { return words_.emplace(text, static_cast<int>(words_.size())).first->second; }

  std::vector<std::int64_t> signature(OpId o) {
    const Op& op = g_.ops[at(o)];
    std::vector<std::int64_t> key = {alike_[at(o)], number_of(g_.node(o).target), op.log_sums,
                                     static_cast<std::int64_t>(op.flops)};
    for (const int s : op.saves) key.push_back(s);
    key.push_back(-100);
    const auto add = [&](const Operand& x) {
      const PTensor& t = tensor(x.tensor);
      std::int64_t saved = 0;
      for (const OpId r : t.readers)
        for (const int s : g_.ops[at(r)].saves)
          saved += s >= 0 && g_.ops[at(r)].backward && g_.ops[at(r)].inputs[at(s)].tensor == x.tensor;
      key.insert(key.end(), {static_cast<std::int64_t>(g_.model->values[at(x.tensor)].dtype),
                             static_cast<std::int64_t>(g_.model->values[at(x.tensor)].kind), is_anywhere(g_, x.tensor),
                             t.readers.size() == 1, saved > 0});
    };
    for (const Operand& x : op.inputs) {
      add(x);
      std::int64_t first = 0;  // the same tensor twice is another kind
      while (op.inputs[static_cast<std::size_t>(first)].tensor != x.tensor) ++first;
      key.push_back(first);
    }
    for (const Operand& x : op.outputs) add(x);
    for (const plan::FactorInfo& f : info_.operators[at(o)].factors)
      for (const std::string& n : f.names) key.push_back(number_of(n));
    return key;
  }

  void add_operator(OpId o) {
    if (g_.ops[at(o)].parameter_free) return;
    const auto [known, fresh] = operator_kinds_.emplace(signature(o), static_cast<int>(out_.strategies.size()));
    if (fresh) {
      out_.strategies.push_back(strategies_of(space_, o, info_.operators[at(o)], weights_));
      layouts::Kind kind;
      for (const Strategy& s : out_.strategies.back()) kind.cost.push_back(s.cost);
      if (!out_.costs.limits.empty()) {
        kind.memory.emplace_back();
        for (const Strategy& s : out_.strategies.back()) kind.memory[0].push_back(s.bytes);
      }
      node_kinds_.push_back(static_cast<int>(out_.costs.kinds.size()));
      out_.costs.kinds.push_back(std::move(kind));
    }
    out_.kind_of[at(o)] = known->second;
    out_.node_of[at(o)] = add_node(node_kinds_[at(known->second)]);
  }

  int add_node(int kind) {
    out_.costs.nodes.push_back(kind);
    return static_cast<int>(out_.costs.nodes.size()) - 1;
  }

  // ---- tensors

  void connect(TensorId t) {
    Wire wire{t, {}};
    for (const OpId r : tensor(t).readers)
      if (!g_.ops[at(r)].parameter_free) wire.readers.push_back(r);
    const bool parameter = g_.model->values[at(t)].kind == ValueKind::parameter;
    if (parameter && tensor(t).readers.size() == 1) return;  // a part of its reader's cost
    if (wire.readers.size() == 1 && !parameter && t != g_.model->loss) return connect_pair(wire, wire.readers[0]);
    if (wire.readers.empty() && t != g_.model->loss) return;
    connect_all(wire);
  }

  std::vector<int> positions(OpId o, TensorId t) const {
    std::vector<int> out;
    const Op& op = g_.ops[at(o)];
    for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i)
      if (op.inputs[at(i)].tensor == t) out.push_back(i);
    return out;
  }

  Ways ways(OpId reader, const std::vector<int>& inputs, const Strategy& s) const {
    Ways out;
    for (const int i : inputs) {
      Interface x = s.reads[at(i)];
      if (!g_.ops[at(reader)].backward) x.contribution = -1;
      out.push_back(x);
    }
    return sorted(std::move(out));
  }

  double between(TensorId t, const Strategy& writer, const Ways& read) {
    const OpId producer = tensor(t).producer;
    const int output = tensor(t).output;
    if (!may_write(space_, producer, writer, output, read)) return kNever;
    return space_.tensor_cost(t, writer.writes[at(output)], writer.needed[at(output)], read);
  }

  void connect_pair(const Wire& w, OpId reader) {
    const OpId producer = tensor(w.tensor).producer;
    const std::vector<int> inputs = positions(reader, w.tensor);
    std::vector<std::int64_t> key = {0, out_.kind_of[at(producer)], tensor(w.tensor).output, out_.kind_of[at(reader)]};
    key.insert(key.end(), inputs.begin(), inputs.end());
    add_edge(out_.node_of[at(producer)], out_.node_of[at(reader)], std::move(key), [&] {
      layouts::Matrix m{static_cast<int>(strategies(producer).size()), static_cast<int>(strategies(reader).size()), {}};
      for (const Strategy& a : strategies(producer))
        for (const Strategy& b : strategies(reader)) {
          bool possible = true;
          for (const int i : inputs)
            possible = possible && may_read(space_, reader, b, i, a.writes[at(tensor(w.tensor).output)]);
          m.values.push_back(possible ? between(w.tensor, a, ways(reader, inputs, b)) : kNever);
        }
      return m;
    });
  }

  void add_edge(int from, int to, std::vector<std::int64_t> key, const std::function<layouts::Matrix()>& make) {
    const auto [known, fresh] = pairs_.emplace(std::move(key), static_cast<int>(out_.costs.pairs.size()));
    if (fresh) out_.costs.pairs.push_back(make());
    const layouts::Matrix& m = out_.costs.pairs[at(known->second)];
    if (std::all_of(m.values.begin(), m.values.end(), [](double v) { return v == 0; })) return;
    out_.costs.edges.push_back({from, to, known->second});
  }

  // ---- tensors with several readers

  // Where there are very many: single ways, and pairs that differ on one axis. Whether a backward reads it is one word for all.
  std::vector<Ways> similar_pairs(std::set<Ways> each, const std::set<Interface>& single) const {
    const bool saved = std::any_of(single.begin(), single.end(), [](const Interface& x) { return x.saved; });
    Ways all;
    for (Interface x : single) {
      x.saved = saved;
      all.push_back(x);
    }
    all = sorted(std::move(all));
    std::set<Ways> out;
    for (Ways u : each) {
      for (Interface& x : u) x.saved = saved;
      out.insert(sorted(std::move(u)));
    }
    const std::set<Ways> alone = out;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (differ_on_one_axis(all[k], all[i])) out.insert({all[k], all[i]});
    const std::set<Ways>& taken = out.size() <= kMostSimilar ? out : alone;
    return {taken.begin(), taken.end()};
  }

  bool differ_on_one_axis(const Interface& x, const Interface& y) const {
    int differ = 0;
    for (int a = 0; a < space_.axes(); ++a) {
      const bool gradient = x.contribution >= 0 && y.contribution >= 0;
      differ += !alike_on(space_.layout(x.read), space_.layout(y.read), a) ||
                (gradient && !alike_on(space_.layout(x.contribution), space_.layout(y.contribution), a));
    }
    return differ <= 1;
  }

  // Whether a reader's ways are among those of a set.
  static bool covers(const Ways& u, const Ways& own) {
    return std::all_of(own.begin(), own.end(), [&](const Interface& x) {
      return std::any_of(u.begin(), u.end(), [&](const Interface& y) { return covers(y, x); });
    });
  }
  static bool covers(const Interface& y, const Interface& x) {
    return y.read == x.read && (x.contribution < 0 || x.contribution == y.contribution) && (y.saved || !x.saved);
  }

  // The sets of ways in which readers together may read it.
  std::vector<Reading> readings(const Wire& w) const {
    std::vector<Reading> out;
    const OpId producer = tensor(w.tensor).producer;
    const bool back = producer >= 0 && can_pass_back(g_, g_.ops[at(producer)]);
    for (const Ways& u : sets(w)) {
      std::vector<Interface> kept;  // those that do not pass, where others would
      for (int a = 0; a < space_.axes() && back; ++a) add_unlike(u, a, kept);
      if (kept.empty()) out.push_back({u});
      for (const Interface& x : kept)
        for (int r = 0; r < static_cast<int>(w.readers.size()); ++r) out.push_back({u, r, x});
    }
    return out;
  }

  void add_unlike(const Ways& u, int axis, std::vector<Interface>& kept) const {
    const auto partial = [&](const Interface& x) { return is_partial_on(space_.layout(x.contribution), axis); };
    std::vector<Interface> others;
    bool any = false;
    for (const Interface& x : u) {
      if (x.contribution < 0) continue;
      if (partial(x))
        any = true;
      else
        others.push_back(x);
    }
    if (!any) return;
    for (const Interface& x : others)
      if (std::find(kept.begin(), kept.end(), x) == kept.end()) kept.push_back(x);
  }

  std::vector<Ways> sets(const Wire& w) const {
    std::set<Ways> each;  // of one reader
    std::set<Interface> single;
    std::set<std::pair<int, std::vector<int>>> seen;
    for (const OpId r : w.readers) {
      const std::vector<int> inputs = positions(r, w.tensor);
      if (!seen.emplace(out_.kind_of[at(r)], inputs).second) continue;
      for (const Strategy& s : strategies(r)) {
        const Ways x = ways(r, inputs, s);
        each.insert(x);
        single.insert(x.begin(), x.end());
      }
    }
    const std::size_t n = single.size(), pairs = n + n * (n - 1) / 2, triples = pairs + n * (n - 1) * (n - 2) / 6;
    if (w.readers.size() > 1 && pairs > kMostSets) return similar_pairs(std::move(each), single);
    const std::size_t most = std::min<std::size_t>(w.readers.size(), triples <= kMostSets ? 3 : 2);
    std::set<Ways> out = std::move(each);
    for (std::size_t k = 1; k < most; ++k) {
      std::set<Ways> longer = out;
      for (const Ways& u : out)
        for (const Interface& x : single) {
          Ways more = u;
          more.push_back(x);
          more = sorted(std::move(more));
          if (more.size() <= most) longer.insert(std::move(more));
        }
      out = std::move(longer);
    }
    if (out.empty()) out.insert(Ways{});
    return {out.begin(), out.end()};
  }

  int number_of(const std::vector<Reading>& all) {
    return sets_.emplace(all, static_cast<int>(sets_.size())).first->second;
  }

  void connect_all(const Wire& w) {
    std::vector<Reading> all = readings(w);
    const bool loss = w.tensor == g_.model->loss;
    if (loss)
      for (Reading& u : all) {
        u.ways.push_back({space_.whole(), -1, false});
        u.ways = sorted(std::move(u.ways));
      }
    const int number = number_of(all);
    const bool parameter = g_.model->values[at(w.tensor)].kind == ValueKind::parameter;
    const int kind = tensor_kind(w, all, number, parameter);
    const int node = add_node(kind);
    if (!parameter) {
      const OpId producer = tensor(w.tensor).producer;
      add_edge(out_.node_of[at(producer)], node, {1, out_.kind_of[at(producer)], tensor(w.tensor).output, number}, [&] {
        layouts::Matrix m{static_cast<int>(strategies(producer).size()), static_cast<int>(all.size()), {}};
        for (const Strategy& a : strategies(producer))
          for (const Reading& u : all) m.values.push_back(between(w.tensor, a, u.ways));
        return m;
      });
    }
    const bool witnesses = std::any_of(all.begin(), all.end(), [](const Reading& u) { return u.witness >= 0; });
    for (int k = 0; k < static_cast<int>(w.readers.size()); ++k) {
      const OpId r = w.readers[at(k)];
      const std::vector<int> inputs = positions(r, w.tensor);
      std::vector<std::int64_t> key = {2, number, out_.kind_of[at(r)], witnesses ? k : -1};
      key.insert(key.end(), inputs.begin(), inputs.end());
      add_edge(node, out_.node_of[at(r)], std::move(key), [&] {
        layouts::Matrix m{static_cast<int>(all.size()), static_cast<int>(strategies(r).size()), {}};
        for (const Reading& u : all)
          for (const Strategy& s : strategies(r)) {
            const Ways own = ways(r, inputs, s);
            const bool gives = u.witness != k || std::any_of(own.begin(), own.end(), [&](const Interface& x) {
                                 return x.contribution == u.of.contribution && covers(u.of, x);
                               });
            m.values.push_back(gives && covers(u.ways, own) ? 0 : kNever);
          }
        return m;
      });
    }
  }

  int tensor_kind(const Wire& w, const std::vector<Reading>& all, int number, bool parameter) {
    const std::vector<std::int64_t> key = {number, parameter ? space_.kind(w.tensor) : -1};
    const auto [known, fresh] = tensor_kinds_.emplace(key, static_cast<int>(out_.costs.kinds.size()));
    if (!fresh) return known->second;
    layouts::Kind kind;
    if (!out_.costs.limits.empty()) kind.memory.emplace_back();
    for (const Reading& u : all) {
      const ParameterCost c = parameter ? parameter_cost(space_, w.tensor, u.ways, weights_) : ParameterCost{};
      kind.cost.push_back(c.cost);
      if (!out_.costs.limits.empty()) kind.memory[0].push_back(c.bytes);
    }
    out_.costs.kinds.push_back(std::move(kind));
    return known->second;
  }

  Space& space_;
  const Graph& g_;
  const plan::ModelInfo& info_;
  const std::vector<int>& alike_;
  const Weights& weights_;
  Network out_;
  std::map<std::string, int> words_;
  std::map<std::vector<std::int64_t>, int> operator_kinds_, pairs_, tensor_kinds_;
  std::map<std::vector<Reading>, int> sets_;
  std::vector<int> node_kinds_;  // by kind of operator
};

}  // namespace

Network make_network(Space& space, const plan::ModelInfo& info, const std::vector<int>& alike, const Weights& weights,
                     std::int64_t limit) {
  return Builder(space, info, alike, weights, limit).run();
}

}  // namespace planscope::splits
