#include "engine/graph/graph.h"

#include <algorithm>
#include <future>
#include <map>

#include "engine/base/text.h"
#include "engine/graph/alike.h"
#include "engine/graph/causal.h"
#include "engine/graph/draft.h"
#include "engine/graph/keys.h"
#include "engine/graph/marks.h"
#include "engine/graph/own_rules.h"
#include "engine/graph/tables.h"
#include "engine/graph/unknown_sizes.h"

namespace planscope {

std::string_view to_string(Phase p) {
  static constexpr std::string_view names[] = {"f", "b", "w", "r", "fetch", "grad", "update", "load", "store"};
  return names[static_cast<std::size_t>(p)];
}

std::string_view to_string(FactorKind k) {
  static constexpr std::string_view names[] = {"free", "sum", "merge", "softmax", "frozen"};
  return names[static_cast<std::size_t>(k)];
}

std::int64_t Graph::size(TensorId t, int dim) const {
  std::int64_t n = 1;
  for (const ClassId c : tensors[static_cast<std::size_t>(t)].dims[static_cast<std::size_t>(dim)])
    n *= classes[static_cast<std::size_t>(c)].size;
  return n;
}

std::vector<std::int64_t> Graph::sizes(TensorId t) const {
  std::vector<std::int64_t> out;
  for (std::size_t d = 0; d < tensors[static_cast<std::size_t>(t)].dims.size(); ++d)
    out.push_back(size(t, static_cast<int>(d)));
  return out;
}

std::int64_t Graph::elements(TensorId t) const {
  std::int64_t n = 1;
  for (const auto& dim : tensors[static_cast<std::size_t>(t)].dims)
    for (const ClassId c : dim) n *= classes[static_cast<std::size_t>(c)].size;
  return n;
}

std::int64_t Graph::bytes(TensorId t) const {
  return elements(t) * byte_size(model->values[static_cast<std::size_t>(t)].dtype);
}

const std::string& Graph::tensor_name(TensorId t) const { return model->values[static_cast<std::size_t>(t)].name; }

namespace {

// Turns drafts, whose parts are nodes of the table, into operators over part classes.
class Finisher {
 public:
  Finisher(const Model& model, PartTable& parts, const std::vector<std::vector<std::vector<int>>>& dims, Graph& graph)
      : model_(model), parts_(parts), dims_(dims), g_(graph), ids_(parts.count(), -1), of_node_(parts.count()) {}

  void tensors() {
    g_.tensors.resize(model_.values.size());
    for (std::size_t v = 0; v < model_.values.size(); ++v) {
      g_.tensors[v].id = static_cast<TensorId>(v);
      for (const auto& list : dims_[v]) g_.tensors[v].dims.push_back(classes(list));
    }
  }

  Op finish(const Draft& d, int node) {
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
    std::vector<std::vector<int>> offsets = d.leafwise ? leaf_factors(d, op) : factors(d, op);
    for (const DraftOperand& o : d.inputs) op.inputs.push_back(operand(d, o, offsets, op));
    for (const DraftOperand& o : d.outputs) op.outputs.push_back(operand(d, o, offsets, op));
    if (!fits(op)) return whole(op);
    for (std::size_t f = 0; f < d.factors.size(); ++f)
      if (d.factors[f].key >= 0)
        set_key(g_, op, static_cast<int>(f), static_cast<std::size_t>(d.factors[f].key), d.factors[f].rows);
    for (const SizeRelation& r : d.relations) relation(r);
    for (const auto& [n, name] : d.names) declare(n, name);
    return op;
  }

  std::vector<ClassId> classes(const std::vector<int>& nodes) {
    std::vector<ClassId> out;
    for (const int n : nodes) {
      const std::vector<ClassId>& own = classes(n);
      out.insert(out.end(), own.begin(), own.end());
    }
    return out;
  }

  // Of the parts that one node stands for; never none.
  const std::vector<ClassId>& classes(int node) {
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

 private:
  // offsets[f][k]: position in the final factor's parts of the first leaf of node k.
  std::vector<std::vector<int>> factors(const Draft& d, Op& op) {
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

  std::vector<std::vector<int>> leaf_factors(const Draft& d, Op& op) {
    std::vector<int> at;
    for (const int n : d.factors[0].nodes) {
      at.push_back(static_cast<int>(op.factors.size()));
      for (const ClassId c : classes(n)) {
        Factor f;
        f.parts = {c};
        op.factors.push_back(std::move(f));
      }
    }
    return {at};
  }

  Operand operand(const Draft& d, const DraftOperand& o, const std::vector<std::vector<int>>& offsets, const Op& op) {
    Operand out;
    out.tensor = o.tensor;
    out.argument = o.argument;
    out.element = o.element;
    out.added = o.added;
    std::size_t next = 0;  // leafwise outputs: the next factor to be met
    out.map.reserve(o.dims.size());
    for (const auto& refs : o.dims) {
      std::vector<PartRef> map;
      map.reserve(refs.size());
      for (const DraftRef& r : refs) {
        if (r.factor < 0) {
          for (const ClassId c : classes(r.node)) map.push_back(d.leafwise ? leaf_ref(op, c, next) : PartRef{-1, 0});
          continue;
        }
        const int node = d.factors[static_cast<std::size_t>(r.factor)].nodes[static_cast<std::size_t>(r.node)];
        const int first = offsets[static_cast<std::size_t>(r.factor)][static_cast<std::size_t>(r.node)];
        const int count = static_cast<int>(classes(node).size());
        for (int k = 0; k < count; ++k)
          map.push_back(d.leafwise ? PartRef{first + k, 0} : PartRef{r.factor, first + k});
      }
      out.map.push_back(std::move(map));
    }
    return out;
  }

  static PartRef leaf_ref(const Op& op, ClassId c, std::size_t& next) {
    for (std::size_t f = next; f < op.factors.size(); ++f)
      if (op.factors[f].parts[0] == c) {
        next = f + 1;
        return {static_cast<int>(f), 0};
      }
    return {-1, 0};
  }

  bool fits(const Op& op) const {
    for (const auto* list : {&op.inputs, &op.outputs})
      for (const Operand& o : *list) {
        const auto& dims = g_.tensors[static_cast<std::size_t>(o.tensor)].dims;
        if (dims.size() != o.map.size()) return false;
        for (std::size_t d = 0; d < dims.size(); ++d) {
          if (dims[d].size() != o.map[d].size()) return false;
          for (std::size_t p = 0; p < dims[d].size(); ++p) {
            const PartRef r = o.map[d][p];
            if (r.factor >= 0 &&
                op.factors[static_cast<std::size_t>(r.factor)].parts[static_cast<std::size_t>(r.part)] != dims[d][p])
              return false;
          }
        }
      }
    return true;
  }

  // No common refinement of the parts: the operator stays whole.
  Op whole(const Op& op) {
    Op out;
    out.node = op.node;
    out.rule = "opaque";
    out.saves = op.saves;
    for (const Operand& o : op.inputs) out.inputs.push_back(frozen(o, out));
    for (const Operand& o : op.outputs) out.outputs.push_back(frozen(o, out));
    return out;
  }

  Operand frozen(Operand o, Op& op) {
    o.map.clear();
    o.added = false;
    for (const auto& dim : g_.tensors[static_cast<std::size_t>(o.tensor)].dims) {
      std::vector<PartRef> map;
      for (const ClassId c : dim) {
        op.factors.push_back({"", FactorKind::frozen, {c}, "its parts do not fit those of the other operands"});
        map.push_back({static_cast<int>(op.factors.size()) - 1, 0});
      }
      o.map.push_back(std::move(map));
    }
    return o;
  }

  void relation(SizeRelation r) {
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

  void declare(int node, const std::string& name) { declared.emplace_back(classes(node).front(), name); }

  const Model& model_;
  PartTable& parts_;
  const std::vector<std::vector<std::vector<int>>>& dims_;
  Graph& g_;
  std::vector<ClassId> ids_;                   // by uncut part; -1: none yet
  std::vector<std::vector<ClassId>> of_node_;  // by part; empty: not asked for yet

 public:
  std::vector<std::pair<ClassId, std::string>> declared;
};

void connect(Graph& g) {
  for (std::size_t o = 0; o < g.ops.size(); ++o) {
    const OpId id = static_cast<OpId>(o);
    for (std::size_t k = 0; k < g.ops[o].outputs.size(); ++k) {
      PTensor& t = g.tensors[static_cast<std::size_t>(g.ops[o].outputs[k].tensor)];
      t.producer = id;
      t.output = static_cast<int>(k);
    }
    for (const Operand& in : g.ops[o].inputs) {
      auto& readers = g.tensors[static_cast<std::size_t>(in.tensor)].readers;
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
  }
}

}  // namespace

Result<Graph> make_graph(std::shared_ptr<const Model> model) { return make_graph(std::move(model), OwnRules{}); }

namespace {
// What is derived last, from all else.
void number_and_digest(Graph& g) {
  std::future<std::vector<int>> alike = std::async(std::launch::async, [&g] { return alike_operators(g); });
  digest_graph(g);
  g.alike = alike.get();
}
}  // namespace

namespace {
// How many operators each of one's own rules holds for.
std::vector<Diagnostic> told(const OwnRules& own, const std::vector<int>& held) {
  std::vector<Diagnostic> out;
  int operators = 0;
  for (std::size_t k = 0; k < held.size(); ++k) {
    operators += held[k];
    if (held[k] > 0) continue;
    Diagnostic d = warning("the rule fits no operator of the model", "",
                           "'planscope rules MODEL' lists the operators and their targets");
    d.file = own.file;
    d.line = own.lines[k];
    d.subject = own.rules[k].target;
    out.push_back(std::move(d));
  }
  if (operators == 0) return out;
  Diagnostic d = note("its rules hold for " + std::to_string(operators) +
                          (operators == 1 ? " operator" : " operators") + "; verify takes them for true",
                      "", "'planscope rules MODEL --audit' executes them");
  d.file = own.file;
  out.push_back(std::move(d));
  return out;
}
}  // namespace

Result<Graph> make_graph(std::shared_ptr<const Model> model, const OwnRules& own) {
  Graph g;
  g.model = model;
  PartTable parts;
  std::vector<std::vector<std::vector<int>>> dims(model->values.size());
  for (std::size_t v = 0; v < model->values.size(); ++v) {
    const Value& value = model->values[v];
    if (value.kind == ValueKind::computed) continue;
    for (const std::int64_t s : value.sizes)
      dims[v].push_back(s == 1 && value.kind != ValueKind::input ? std::vector<int>{}
                                                                 : std::vector<int>{parts.make(s)});
  }
  std::map<TensorId, std::vector<int>> domains;  // of keys
  std::vector<int> held(own.rules.size(), 0);
  std::vector<Draft> drafts;
  drafts.reserve(model->nodes.size());
  for (const Node& node : model->nodes) {
    RuleContext context(*model, parts, dims, node);
    context.own = &own.rules;
    apply_rule(context);
    if (context.own_rule >= 0) ++held[static_cast<std::size_t>(context.own_rule)];
    for (const DraftFactor& f : context.draft.factors) {  // what one key numbers is cut alike
      if (f.key < 0) continue;
      const TensorId key = context.draft.inputs[static_cast<std::size_t>(f.key)].tensor;
      const auto [known, fresh] = domains.emplace(key, f.nodes);
      if (!fresh) parts.unify(known->second, f.nodes);
    }
    drafts.push_back(std::move(context.draft));
  }
  Finisher finisher(*model, parts, dims, g);
  finisher.tensors();
  Result<Graph> result;
  g.ops.reserve(drafts.size());
  for (std::size_t n = 0; n < drafts.size(); ++n) {
    g.ops.push_back(finisher.finish(drafts[n], static_cast<int>(n)));
    if (!drafts[n].known) {
      Diagnostic d = note("no rule for " + model->nodes[n].target, "it is kept whole and repeated on every device");
      d.subject = model->nodes[n].name();
      result.diagnostics.push_back(d);
    }
  }
  for (Diagnostic& d : told(own, held)) result.diagnostics.push_back(std::move(d));
  connect(g);
  name_classes(g, finisher.declared);
  mark(g);
  mark_causal(g);
  spread_keys(g);
  count_flops(g);
  for (std::size_t v = 0; v < model->values.size(); ++v)
    if (model->values[v].kind == ValueKind::parameter && !g.tensors[v].readers.empty())
      g.parameters.push_back({static_cast<TensorId>(v), g.tensors[v].gradient});
  number_and_digest(g);
  result.value = std::move(g);
  return result;
}

Result<Graph> resize(const Graph& graph, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  Graph g = graph;
  std::vector<bool> set(g.classes.size(), false);
  for (const auto& [name, size] : sizes) {
    bool found = false;
    for (std::size_t c = 0; c < g.classes.size(); ++c) {
      if (!g.classes[c].from_input || g.classes[c].name != name) continue;
      found = true;
      g.classes[c].size = size;
      set[c] = true;
    }
    std::vector<std::string> known;
    for (const auto& [n, s] : input_dimensions(graph)) known.push_back(n);
    if (!found) {
      const std::string near = nearest(name, known);
      return error("no input dimension '" + name + "'", "the model's inputs have " + join(known, ", "),
                   near.empty() ? "" : "Did you mean '" + near + "'?");
    }
    if (size < 1) return error("'" + name + "' cannot be " + std::to_string(size), "sizes are at least 1");
  }
  for (const SizeRelation& r : g.relations) {
    std::int64_t n = r.constant;
    for (const ClassId t : r.terms) n += g.classes[static_cast<std::size_t>(t)].size;
    PartClass& out = g.classes[static_cast<std::size_t>(r.out)];
    if (out.size == n) continue;
    if (set[static_cast<std::size_t>(r.out)] || n < 1) {
      Diagnostic d = error("the sizes do not fit", "'" + out.name + "' would have to be " + std::to_string(n));
      d.subject = g.node(r.op).name();
      return d;
    }
    out.size = n;
  }
  for (const Value& value : g.model->values) {
    if (value.kind != ValueKind::parameter && value.kind != ValueKind::buffer && value.kind != ValueKind::constant)
      continue;
    const TensorId id = static_cast<TensorId>(&value - g.model->values.data());
    if (g.sizes(id) != value.sizes) {
      Diagnostic d = error("the sizes do not fit", "'" + value.name + "' is stored in the model with its own size");
      return d;
    }
  }
  if (auto d = short_table(g)) return *d;
  if (auto d = unknown_size(g)) return *d;
  count_flops(g);
  number_and_digest(g);
  return g;
}

std::vector<std::pair<std::string, std::int64_t>> input_dimensions(const Graph& g) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const ValueId v : g.model->inputs)
    for (const auto& dim : g.tensors[static_cast<std::size_t>(v)].dims)
      for (const ClassId c : dim) {
        const PartClass& k = g.classes[static_cast<std::size_t>(c)];
        const auto same = [&](const auto& p) { return p.first == k.name; };
        if (k.from_input && std::find_if(out.begin(), out.end(), same) == out.end()) out.emplace_back(k.name, k.size);
      }
  return out;
}

}  // namespace planscope
