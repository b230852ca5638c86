#include "planner/search/splits/network.h"

#include <algorithm>

#include "planner/search/splits/builder.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr double kMostPairs = 1e6;             // of strategies, over all kinds of operators
constexpr std::size_t kMostWhereTooMany = 24;  // strategies of an operator, if there are more pairs

// Those that cost least by themselves, in order; and the one that splits nothing.
void cut(std::vector<Strategy>& all) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) order[i] = i;
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].cost < all[b].cost; });
  order.resize(kMostWhereTooMany);
  std::sort(order.begin(), order.end());
  std::vector<Strategy> out;
  for (const std::size_t i : order) out.push_back(std::move(all[i]));
  all = std::move(out);
}

}  // namespace

Builder::Builder(Space& space, const plan::ModelInfo& info, const Weights& weights, const Storage& storage,
                 const Memory& memory, const layouts::Ended& ended)
    : space_(space), g_(space.graph()), info_(info), weights_(weights), storage_(storage), memory_(memory), ended_(ended) {
  if (memory.limit > 0) out_.costs.limits = {memory.limit};
}

Network Builder::run() {
  const auto count = g_.ops.size();
  out_.node_of.assign(count, -1);
  out_.kind_of.assign(count, -1);
  for (OpId o = 0; o < static_cast<OpId>(count); ++o) find_kind(o);
  double squares = 0;
  for (const auto& s : out_.strategies) squares += static_cast<double>(s.size()) * static_cast<double>(s.size());
  if (squares > kMostPairs)
    for (auto& s : out_.strategies)
      if (s.size() > kMostWhereTooMany) {
        cut(s);
        ++out_.cut_kinds;
      }
  node_kinds_.assign(out_.strategies.size(), -1);
  for (OpId o = 0; o < static_cast<OpId>(count); ++o) add_operator(o);
  add_layers();
  for (OpId o = 0; o < static_cast<OpId>(count); ++o) {
    if (out_.node_of[at(o)] < 0 || is_ended()) continue;
    if (!weights_.zero.empty()) add_parameters(o);
    for (const Kept& k : wants(o).open) add_kept(o, k);
  }
  for (const Op& op : g_.ops)
    for (const Operand& written : op.outputs)
      if (!op.parameter_free && !is_ended()) connect(written.tensor);
  for (const Parameter& p : g_.parameters)
    if (!is_ended()) connect(p.tensor);
  return std::move(out_);
}

const std::vector<Strategy>& Builder::strategies(OpId o) const { return out_.strategies[at(out_.kind_of[at(o)])]; }

std::vector<std::int64_t> Builder::signature(OpId o) {
  const Op& op = g_.ops[at(o)];
  std::vector<std::int64_t> key = {g_.alike[at(o)]};
  const Wants kept = wants(o);
  for (const int thing : kept.always) key.push_back(thing);
  key.push_back(-101);
  const auto add = [&](const Operand& x) {
    const PTensor& t = tensor(x.tensor);
    key.insert(key.end(), {is_anywhere(g_, x.tensor), t.readers.size() == 1});
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

void Builder::find_kind(OpId o) {
  if (g_.ops[at(o)].parameter_free) return;
  const auto [known, fresh] = operator_kinds_.emplace(signature(o), static_cast<int>(out_.strategies.size()));
  if (fresh) out_.strategies.push_back(strategies_of(space_, o, info_.operators[at(o)], weights_));
  out_.kind_of[at(o)] = known->second;
}

void Builder::add_operator(OpId o) {
  if (out_.kind_of[at(o)] < 0) return;
  int& kind = node_kinds_[at(out_.kind_of[at(o)])];
  if (kind < 0) {
    const std::vector<int> always = wants(o).always;
    std::vector<double> cost;
    std::vector<std::int64_t> bytes;
    for (const Strategy& s : strategies(o)) {
      cost.push_back(s.cost);
      bytes.push_back(s.bytes + memory_.under_way * bytes_of(s, always));
    }
    kind = add_kind(std::move(cost), std::move(bytes));
  }
  out_.node_of[at(o)] = add_node(kind);
}

int Builder::add_node(int kind) {
  out_.costs.nodes.push_back(kind);
  return static_cast<int>(out_.costs.nodes.size()) - 1;
}

int Builder::add_kind(std::vector<double> cost, std::vector<std::int64_t> bytes) {
  layouts::Kind kind;
  kind.cost = std::move(cost);
  if (is_limited()) kind.memory.push_back(std::move(bytes));
  out_.costs.kinds.push_back(std::move(kind));
  return static_cast<int>(out_.costs.kinds.size()) - 1;
}

void Builder::add_edge(int from, int to, std::vector<std::int64_t> key, const std::function<layouts::Matrix()>& make) {
  const auto [known, fresh] = pairs_.emplace(std::move(key), static_cast<int>(out_.costs.pairs.size()));
  if (fresh) out_.costs.pairs.push_back(make());
  const layouts::Matrix& m = out_.costs.pairs[at(known->second)];
  if (std::all_of(m.values.begin(), m.values.end(), [](double v) { return v == 0; })) return;
  out_.costs.edges.push_back({from, to, known->second});
}

void Builder::connect(TensorId t) {
  Wire wire{t, {}};
  for (const OpId r : tensor(t).readers)
    if (!g_.ops[at(r)].parameter_free) wire.readers.push_back(r);
  const bool parameter = g_.model->values[at(t)].kind == ValueKind::parameter;
  if (parameter && tensor(t).readers.size() == 1) return;  // a part of its reader's cost, or a node beside it
  if (wire.readers.size() == 1 && !parameter && t != g_.model->loss) return connect_pair(wire, wire.readers[0]);
  if (wire.readers.empty() && t != g_.model->loss) return;
  connect_all(wire);
}

std::vector<int> Builder::positions(OpId o, TensorId t) const {
  std::vector<int> out;
  const Op& op = g_.ops[at(o)];
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i)
    if (op.inputs[at(i)].tensor == t) out.push_back(i);
  return out;
}

Ways Builder::ways(OpId reader, const std::vector<int>& inputs, const Strategy& s) const {
  Ways out;
  for (const int i : inputs) {
    Interface x = s.reads[at(i)];
    if (!g_.ops[at(reader)].backward) x.contribution = -1;
    out.push_back(x);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double Builder::between(TensorId t, const Strategy& writer, const Ways& read) {
  const OpId producer = tensor(t).producer;
  const int output = tensor(t).output;
  if (!may_write(space_, producer, writer, output, read)) return kNever;
  return space_.tensor_cost(t, writer.writes[at(output)], writer.needed[at(output)], read);
}

void Builder::connect_pair(const Wire& w, OpId reader) {
  const OpId producer = tensor(w.tensor).producer;
  const int output = tensor(w.tensor).output;
  const std::vector<int> inputs = positions(reader, w.tensor);
  std::vector<std::int64_t> key = {0, out_.kind_of[at(producer)], output, out_.kind_of[at(reader)]};
  key.insert(key.end(), inputs.begin(), inputs.end());
  add_edge(out_.node_of[at(producer)], out_.node_of[at(reader)], key, [&] {
    layouts::Matrix m{static_cast<int>(strategies(producer).size()), static_cast<int>(strategies(reader).size()), {}};
    for (const Strategy& a : strategies(producer))
      for (const Strategy& b : strategies(reader)) {
        const bool possible = std::all_of(inputs.begin(), inputs.end(),
                                          [&](int i) { return may_read(space_, reader, b, i, a.writes[at(output)]); });
        m.values.push_back(possible ? between(w.tensor, a, ways(reader, inputs, b)) : kNever);
      }
    return m;
  });
  if (storage_.layers().empty()) return;
  Other other{out_.node_of[at(reader)], std::move(key), {}};
  for (const Strategy& b : strategies(reader)) other.ways.push_back(ways(reader, inputs, b));
  add_again(w, other);
}

Network make_network(Space& space, const plan::ModelInfo& info, const Weights& weights, const Storage& storage,
                     const Memory& memory, const layouts::Ended& ended) {
  return Builder(space, info, weights, storage, memory, ended).run();
}

}  // namespace planscope::splits
