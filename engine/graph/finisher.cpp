#include "engine/graph/finisher.h"

#include <algorithm>

#include "engine/graph/keys.h"
#include "engine/graph/reconcile.h"

namespace planscope {

void Finisher::tensors() {
  g_.tensors.resize(model_.values.size());
  for (std::size_t v = 0; v < model_.values.size(); ++v) {
    g_.tensors[v].id = static_cast<TensorId>(v);
    for (const auto& list : dims_[v]) g_.tensors[v].dims.push_back(classes(list));
  }
}

Op Finisher::finish(const Draft& d, int node) {
  Op op;
  op.node = node;
  op.rule = d.rule;
  op.known = d.known;
  op.linear = d.linear;
  op.saves = d.saves;
  op.shard = d.shard;
  op.log_sums = d.log_sums;
  op.elementwise_cost = !d.product;
  op.inputs.reserve(d.inputs.size());
  op.outputs.reserve(d.outputs.size());
  if (d.leafwise) {
    leaves(d, op);
  } else {
    const std::vector<std::vector<int>> offsets = factors(d, op);
    for (const DraftOperand& o : d.inputs) op.inputs.push_back(operand(d, o, offsets, op));
    for (const DraftOperand& o : d.outputs) op.outputs.push_back(operand(d, o, offsets, op));
    const bool keyed = std::any_of(d.factors.begin(), d.factors.end(), [](const DraftFactor& f) { return f.key >= 0; });
    const std::size_t made = op.factors.size();
    if (!reconcile(g_, op) || (keyed && op.factors.size() != made)) {
      freeze(g_, op);
      return op;
    }
  }
  for (std::size_t f = 0; f < d.factors.size(); ++f) {
    if (d.factors[f].key >= 0)
      set_key(g_, op, static_cast<int>(f), static_cast<std::size_t>(d.factors[f].key), d.factors[f].rows);
    if (d.factors[f].counted)
      for (const ClassId c : classes(d.factors[f].nodes)) g_.classes[static_cast<std::size_t>(c)].counted = true;
  }
  for (const SizeRelation& r : d.relations) relation(r);
  for (const auto& [n, name] : d.names) declare(n, name);
  return op;
}

std::vector<ClassId> Finisher::classes(const std::vector<int>& nodes) {
  std::vector<ClassId> out;
  for (const int n : nodes) {
    const std::vector<ClassId>& own = classes(n);
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

const std::vector<ClassId>& Finisher::classes(int node) {
  std::vector<ClassId>& out = of_node_[static_cast<std::size_t>(node)];
  if (!out.empty()) return out;
  for (const int leaf : parts_.leaves({node})) {
    ClassId& id = ids_[static_cast<std::size_t>(leaf)];
    if (id < 0) {
      id = static_cast<ClassId>(g_.classes.size());
      PartClass c;
      c.size = parts_.size(leaf);
      g_.classes.push_back(c);
    }
    out.push_back(id);
  }
  return out;
}

// offsets[f][k]: position in the final factor's parts of the first leaf of node k.
std::vector<std::vector<int>> Finisher::factors(const Draft& d, Op& op) {
  std::vector<std::vector<int>> offsets;
  offsets.reserve(d.factors.size());
  op.factors.reserve(d.factors.size());
  for (const DraftFactor& f : d.factors) {
    Factor out;
    out.name = f.name;
    out.kind = f.kind;
    out.reason = f.reason;
    std::vector<int> at;
    for (const int n : f.nodes) {
      at.push_back(static_cast<int>(out.parts.size()));
      const std::vector<ClassId>& leaves = classes(n);
      out.parts.insert(out.parts.end(), leaves.begin(), leaves.end());
    }
    op.factors.push_back(std::move(out));
    offsets.push_back(std::move(at));
  }
  return offsets;
}

Operand Finisher::operand(const Draft& d, const DraftOperand& o, const std::vector<std::vector<int>>& offsets,
                          const Op&) {
  Operand out;
  out.tensor = o.tensor;
  out.argument = o.argument;
  out.element = o.element;
  out.added = o.added;
  out.map.reserve(o.dims.size());
  for (const auto& refs : o.dims) {
    std::vector<PartRef> map;
    map.reserve(refs.size());
    for (const DraftRef& r : refs) {
      if (r.factor < 0) {
        map.resize(map.size() + classes(r.node).size());
        continue;
      }
      const int node = d.factors[static_cast<std::size_t>(r.factor)].nodes[static_cast<std::size_t>(r.node)];
      const int first = offsets[static_cast<std::size_t>(r.factor)][static_cast<std::size_t>(r.node)];
      const int count = static_cast<int>(classes(node).size());
      for (int k = 0; k < count; ++k) map.push_back({r.factor, first + k});
    }
    out.map.push_back(std::move(map));
  }
  return out;
}

namespace {

// Which part of the operand each part of a view's result is, from the front and from behind; -1: none, or not known.
std::vector<int> matched(const Graph& g, const std::vector<ClassId>& in, const std::vector<ClassId>& out) {
  std::vector<int> of(out.size(), -1);
  const auto one = [&](ClassId c) { return g.classes[static_cast<std::size_t>(c)].size == 1; };
  std::size_t i = 0, o = 0;
  while (i < in.size() && o < out.size()) {
    if (in[i] == out[o]) {
      of[o++] = static_cast<int>(i++);
      continue;
    }
    if (!one(in[i]) && !one(out[o])) break;
    std::size_t ahead = o;  // of the parts of size 1 in the result, one may be the operand's
    while (one(in[i]) && ahead < out.size() && one(out[ahead]) && out[ahead] != in[i]) ++ahead;
    if (one(out[o]) && (!one(in[i]) || (ahead < out.size() && out[ahead] == in[i])))
      ++o;
    else
      ++i;
  }
  std::size_t i_end = in.size(), o_end = out.size();
  while (i_end > i && o_end > o && in[i_end - 1] == out[o_end - 1]) of[--o_end] = static_cast<int>(--i_end);
  return of;
}

}  // namespace

// A view: every part is a factor of its own; those that do not stand in the result in the same order are whole.
void Finisher::leaves(const Draft& d, Op& op) {
  const auto& in = g_.tensors[static_cast<std::size_t>(d.inputs[0].tensor)].dims;
  const auto& out = g_.tensors[static_cast<std::size_t>(d.outputs[0].tensor)].dims;
  const std::string reason = "it is cut in two ways that do not fit";
  const auto flat = [](const std::vector<std::vector<ClassId>>& dims) {
    std::vector<ClassId> all;
    for (const auto& dim : dims) all.insert(all.end(), dim.begin(), dim.end());
    return all;
  };
  const auto start = [](const DraftOperand& o) {
    Operand made;
    made.tensor = o.tensor;
    made.argument = o.argument;
    made.element = o.element;
    return made;
  };
  const std::vector<int> of = matched(g_, flat(in), flat(out));
  Operand from = start(d.inputs[0]), to = start(d.outputs[0]);
  for (const auto& dim : in) {
    from.map.emplace_back();
    for (const ClassId c : dim) {
      const int f = static_cast<int>(op.factors.size());
      const bool kept = std::find(of.begin(), of.end(), f) != of.end();
      op.factors.push_back({"", kept ? FactorKind::free : FactorKind::frozen, {c}, kept ? "" : reason});
      from.map.back().push_back({f, 0});
    }
  }
  std::size_t next = 0;
  for (const auto& dim : out) {
    to.map.emplace_back();
    for (const ClassId c : dim) {
      int f = of[next++];
      if (f < 0) {
        f = static_cast<int>(op.factors.size());
        op.factors.push_back({"", FactorKind::frozen, {c}, reason});
      }
      to.map.back().push_back({f, 0});
    }
  }
  op.inputs = {std::move(from)};
  op.outputs = {std::move(to)};
}

void Finisher::relation(SizeRelation r) {
  r.op = static_cast<OpId>(g_.ops.size());
  const std::vector<ClassId>& out = classes(r.out);
  if (out.size() != 1) return;
  r.out = out[0];
  for (ClassId& t : r.terms) {
    const std::vector<ClassId>& term = classes(t);
    if (term.size() != 1) return;
    t = term[0];
  }
  g_.relations.push_back(std::move(r));
}

}  // namespace planscope
