// Parameters under ZeRO, and what waits for backward: nodes beside those of operators and tensors.
//
//   parameters  of an operator that alone reads them: how far they are split, and bytes
//   layers      the words of a Storage
//   kept        results of an operator that layers decide about: gone, in host memory, or on the device with so many bytes
//   again       conversions of a tensor whose readers a layer computes again: not, or as written and from where
//
// Bytes and costs of a state are upper ends: whoever needs less may have it too. That changes no optimum (there is a state of
// its own), and lets dominated strategies be seen (planner/search/layout/dominance.h).
#include <algorithm>

#include "planner/search/splits/builder.h"
#include "planner/search/splits/parameters.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

layouts::Matrix matrix(int rows, int columns, const std::function<double(int, int)>& value) {
  layouts::Matrix m{rows, columns, {}};
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k) m.values.push_back(value(i, k));
  return m;
}

bool same(const std::vector<ParameterCost>& a, const std::vector<ParameterCost>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ParameterCost& x, const ParameterCost& y) {
    return x.cost == y.cost && x.bytes == y.bytes;
  });
}

template <class T>
int index_of(const std::vector<T>& all, const T& x) {
  return static_cast<int>(std::find(all.begin(), all.end(), x) - all.begin());
}

template <class T>
int add_once(std::vector<T>& all, const T& x) {
  const int i = index_of(all, x);
  if (i == static_cast<int>(all.size())) all.push_back(x);
  return i;
}

}  // namespace

// ---- parameters

// A state is a level and bytes; a strategy may have it if it needs no more there, and pays what it costs at that level.
void Builder::add_parameters(OpId o) {
  const std::vector<int> own = own_parameters(g_, o);
  if (own.empty()) return;
  const int kind = out_.kind_of[at(o)];
  const auto [known, fresh] = zero_.try_emplace(kind);
  Zero& z = known->second;
  if (fresh) {
    std::vector<std::vector<ParameterCost>> costs(4);  // by level and strategy
    for (int level = 0; level <= 3; ++level) {
      if (level == 2 && weights_.micro_batches == 1) continue;
      std::vector<std::int64_t> sizes;
      for (const Strategy& s : strategies(o)) {
        costs[at(level)].push_back(own_cost(o, own, s, level));
        add_once(sizes, costs[at(level)].back().bytes);
      }
      if (level > 0 && same(costs[at(level)], costs[0])) continue;
      std::sort(sizes.begin(), sizes.end());
      for (const std::int64_t b : sizes) {
        z.levels.push_back(level);
        z.bytes.push_back(b);
      }
    }
    const int count = static_cast<int>(z.levels.size());
    z.kind = add_kind(std::vector<double>(at(count), 0), z.bytes);
    z.costs = matrix(static_cast<int>(strategies(o).size()), count, [&](int i, int k) {
      const ParameterCost& c = costs[at(z.levels[at(k)])][at(i)];
      return c.bytes <= z.bytes[at(k)] ? c.cost : kNever;
    });
  }
  const int node = add_node(z.kind);
  add_edge(out_.node_of[at(o)], node, {20, kind}, [&] { return z.costs; });
  out_.parameters.push_back({node, {o}, z.levels});
}

ParameterCost Builder::own_cost(OpId o, const std::vector<int>& own, const Strategy& s, int level) {
  ParameterCost out;
  const std::vector<std::vector<Interface>> reads = parameter_reads(g_, o, s);
  for (std::size_t p = 0; p < own.size(); ++p) {
    const ParameterCost c = parameter_cost(space_, g_.ops[at(o)].inputs[at(own[p])].tensor, reads[p], weights_, level);
    out.cost += c.cost;
    out.bytes += c.bytes;
  }
  return out;
}

// ---- what waits for backward

Builder::Wants Builder::wants(OpId o) const {
  Wants out;
  const Op& op = g_.ops[at(o)];
  const auto add = [&](int thing, Demand anyway, std::vector<std::pair<int, std::vector<Demand>>> by) {
    bool open = false;
    for (const auto& [layer, said] : by) {
      const auto [least, most] = std::minmax_element(said.begin(), said.end());
      anyway = std::max(anyway, *least);
      open = open || *least != *most;
    }
    if (anyway == Demand::device) return out.always.push_back(thing);
    if (!open) return;
    Kept k{std::move(by), {thing}};
    const auto same = std::find_if(out.open.begin(), out.open.end(), [&](const Kept& x) { return x.by == k.by; });
    if (same != out.open.end())
      same->things.push_back(thing);
    else
      out.open.push_back(std::move(k));
  };
  for (int k = 0; k < static_cast<int>(op.outputs.size()); ++k) {
    const TensorId t = op.outputs[at(k)].tensor;
    std::vector<std::pair<int, std::vector<Demand>>> by;
    for (const int layer : storage_.layers_about(t)) {
      by.emplace_back(layer, std::vector<Demand>{});
      for (int w = 0; w < static_cast<int>(storage_.layers()[at(layer)].words.size()); ++w)
        by.back().second.push_back(storage_.demand(t, layer, w));
    }
    add(k, storage_.demand_anyway(t), std::move(by));
  }
  const int layer = storage_.layer_of(o);
  if (!op.backward) return out;
  if (layer < 0) {
    add(-1, Demand::device, {});
    return out;
  }
  std::vector<Demand> said;
  for (int w = 0; w < static_cast<int>(storage_.layers()[at(layer)].words.size()); ++w) {
    const StorageMode mode = storage_.role(o, w).mode;
    said.push_back(mode == StorageMode::keep      ? Demand::device
                   : mode == StorageMode::offload ? Demand::host
                                                  : Demand::none);
  }
  add(-1, Demand::none, {{layer, std::move(said)}});
  return out;
}

std::int64_t Builder::bytes_of(const Strategy& s, const std::vector<int>& things) const {
  std::int64_t out = 0;
  for (const int thing : things) out += thing < 0 ? s.aside : s.results[at(thing)];
  return out;
}

double Builder::host_time(std::int64_t bytes) const {
  const HostMemory& host = space_.cluster().host;
  const auto moved = static_cast<double>(bytes);
  if (host.bandwidth > 0) return host.latency.count + moved / host.bandwidth * 1e6;
  return 2 * space_.slowest_us([&](const DeviceType& d) { return memory_time(2 * moved, d, space_.costs()); });
}

void Builder::add_layers() {
  out_.node_of_layer.assign(storage_.layers().size(), -1);
  for (std::size_t i = 0; i < storage_.layers().size(); ++i) {
    const Storage::Layer& layer = storage_.layers()[i];
    const int words = static_cast<int>(layer.words.size());
    if (words < 2) continue;
    const auto [known, fresh] = other_kinds_.emplace(std::vector<std::int64_t>{2, words}, 0);
    if (fresh) known->second = add_kind(std::vector<double>(at(words), 0), std::vector<std::int64_t>(at(words), 0));
    const int node = out_.node_of_layer[i] = add_node(known->second);
    for (std::size_t k = 0; k < layer.operators.size(); ++k) {
      const OpId o = layer.operators[k];
      std::vector<std::int64_t> key = {21, out_.kind_of[at(o)]};
      for (const Storage::Role& r : layer.roles[k]) key.push_back(r.mode == StorageMode::recompute);
      add_edge(out_.node_of[at(o)], node, std::move(key), [&] {
        const std::vector<Strategy>& all = strategies(o);
        return matrix(static_cast<int>(all.size()), words, [&](int s, int w) {
          return layer.roles[k][at(w)].mode == StorageMode::recompute ? all[at(s)].forward : 0;
        });
      });
    }
  }
}

void Builder::add_kept(OpId o, const Kept& kept) {
  std::vector<std::int64_t> sizes;
  for (const Strategy& s : strategies(o)) add_once(sizes, bytes_of(s, kept.things));
  if (sizes.size() == 1 && sizes[0] == 0) return;
  std::sort(sizes.begin(), sizes.end());
  struct State {
    Demand where = Demand::none;
    std::int64_t bytes = 0;
    int by = -1;  // on the device since this one of `kept.by` says so; -1: whoever does
  };
  std::vector<State> states = {{}};
  bool host = false;
  for (const auto& [layer, said] : kept.by)
    host = host || std::find(said.begin(), said.end(), Demand::host) != said.end();
  for (const std::int64_t b : sizes) {
    if (host) states.push_back({Demand::host, b});
    // What could wait in host memory is on the device only if it has to be: copies cost time.
    for (int by = host ? 0 : -1; by < (host ? static_cast<int>(kept.by.size()) : 0); ++by)
      states.push_back({Demand::device, b, by});
  }
  std::vector<std::int64_t> key = {3, host ? static_cast<std::int64_t>(kept.by.size()) : 0};
  key.insert(key.end(), sizes.begin(), sizes.end());
  const auto [known, fresh] = other_kinds_.emplace(key, 0);
  if (fresh) {
    std::vector<double> cost;
    std::vector<std::int64_t> bytes;
    for (const State& s : states) {
      cost.push_back(s.where == Demand::host ? host_time(s.bytes) : 0);
      bytes.push_back(s.where == Demand::device ? s.bytes * memory_.under_way : 0);
    }
    known->second = add_kind(std::move(cost), std::move(bytes));
  }
  const int kind = known->second, node = add_node(kind);
  std::vector<std::int64_t> pair = {22, out_.kind_of[at(o)], kind};
  for (const int thing : kept.things) pair.push_back(thing);
  add_edge(out_.node_of[at(o)], node, std::move(pair), [&] {
    const std::vector<Strategy>& all = strategies(o);
    return matrix(static_cast<int>(all.size()), static_cast<int>(states.size()), [&](int i, int k) {
      const State& s = states[at(k)];
      return s.where == Demand::none || s.bytes >= bytes_of(all[at(i)], kept.things) ? 0 : kNever;
    });
  });
  for (int by = 0; by < static_cast<int>(kept.by.size()); ++by) {
    const auto& [layer, said] = kept.by[at(by)];
    if (out_.node_of_layer[at(layer)] < 0) continue;
    std::vector<std::int64_t> asked = {23, kind, by};
    for (const Demand d : said) asked.push_back(static_cast<std::int64_t>(d));
    add_edge(node, out_.node_of_layer[at(layer)], std::move(asked), [&, &said = said] {
      return matrix(static_cast<int>(states.size()), static_cast<int>(said.size()), [&](int i, int k) {
        const State& s = states[at(i)];
        return (s.by == by ? said[at(k)] == Demand::device : s.where >= said[at(k)]) ? 0 : kNever;
      });
    });
  }
}

// ---- conversions that are done again

void Builder::add_again(const Wire& w, const Other& other) {
  std::set<int> layers;
  for (const OpId r : w.readers)
    if (storage_.layer_of(r) >= 0) layers.insert(storage_.layer_of(r));
  for (const int layer : layers) {
    if (out_.node_of_layer[at(layer)] < 0) continue;
    std::vector<int> said;  // by word: 0 no reader is computed again, 1 some are, 2 the tensor with one of them
    for (int word = 0; word < static_cast<int>(storage_.layers()[at(layer)].words.size()); ++word) {
      said.push_back(0);
      for (const OpId r : w.readers)
        if (storage_.layer_of(r) == layer && storage_.role(r, word).mode == StorageMode::recompute)
          said.back() = std::max(said.back(), storage_.inside(w.tensor, r, word) ? 2 : 1);
    }
    add_again(w, other, layer, said);
  }
}

const Builder::Again& Builder::again(const Wire& w, const Other& other, const std::vector<std::int64_t>& key,
                                     bool outside, bool inside) {
  const auto [known, fresh] = again_.try_emplace(key);
  Again& out = known->second;
  if (!fresh) return out;
  const std::vector<Strategy>& writers = strategies(tensor(w.tensor).producer);
  out.states = {{0, std::vector<double>(other.ways.size(), 0)}};
  out.state_of.assign(3, std::vector<int>(writers.size(), 0));
  for (const int c : {1, 2}) {
    if (!(c == 1 ? outside : inside)) continue;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      std::vector<double> costs;
      for (const Ways& u : other.ways)
        costs.push_back(space_.again_cost(w.tensor, writers[i].writes[at(tensor(w.tensor).output)], u, c == 2));
      out.any = out.any || std::any_of(costs.begin(), costs.end(), [](double x) { return x > 0; });
      out.state_of[at(c)][i] = add_once(out.states, std::pair{c, std::move(costs)});
    }
  }
  return out;
}

void Builder::add_again(const Wire& w, const Other& other, int layer, const std::vector<int>& said) {
  const OpId producer = tensor(w.tensor).producer;
  const bool outside = std::find(said.begin(), said.end(), 1) != said.end(),
             inside = std::find(said.begin(), said.end(), 2) != said.end();
  if (!outside && !inside) return;
  std::vector<std::int64_t> key = {24, outside, inside};
  key.insert(key.end(), other.key.begin(), other.key.end());
  const Again& states = again(w, other, key, outside, inside);
  if (!states.any) return;
  const int count = static_cast<int>(states.states.size());
  const auto named = [&](std::int64_t which) {
    std::vector<std::int64_t> out = key;
    out.push_back(which - 200);
    return out;
  };
  const auto [known, fresh] = other_kinds_.emplace(std::vector<std::int64_t>{4, count}, 0);
  if (fresh) known->second = add_kind(std::vector<double>(at(count), 0), std::vector<std::int64_t>(at(count), 0));
  const int node = add_node(known->second);
  add_edge(out_.node_of[at(producer)], node, named(0), [&] {
    return matrix(static_cast<int>(strategies(producer).size()), count, [&](int i, int k) {
      const int c = states.states[at(k)].first;
      if (c == 0) return 0.0;
      const std::vector<double>& own = states.states[at(states.state_of[at(c)][at(i)])].second;
      const std::vector<double>& here = states.states[at(k)].second;
      return std::equal(own.begin(), own.end(), here.begin(), std::less_equal<>()) ? 0 : kNever;
    });
  });
  add_edge(node, other.node, named(1), [&] {
    return matrix(count, static_cast<int>(other.ways.size()),
                  [&](int i, int k) { return states.states[at(i)].second[at(k)]; });
  });
  std::vector<std::int64_t> asked = named(2);
  asked.insert(asked.end(), said.begin(), said.end());
  add_edge(node, out_.node_of_layer[at(layer)], std::move(asked), [&] {
    return matrix(count, static_cast<int>(said.size()),
                  [&](int i, int k) { return states.states[at(i)].first == said[at(k)] ? 0 : kNever; });
  });
}

}  // namespace planscope::splits
