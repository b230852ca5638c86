#include "engine/graph/graph.h"

#include <algorithm>
#include <future>
#include <map>

#include "engine/base/saturated.h"
#include "engine/base/text.h"
#include "engine/graph/alike.h"
#include "engine/graph/causal.h"
#include "engine/graph/countable.h"
#include "engine/graph/counted_literals.h"
#include "engine/graph/draft.h"
#include "engine/graph/finisher.h"
#include "engine/graph/flops.h"
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
    n = saturated_product(n, classes[static_cast<std::size_t>(c)].size);
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
    for (const ClassId c : dim) n = saturated_product(n, classes[static_cast<std::size_t>(c)].size);
  return n;
}

std::int64_t Graph::bytes(TensorId t) const {
  return saturated_product(elements(t), byte_size(model->values[static_cast<std::size_t>(t)].dtype));
}

const std::string& Graph::tensor_name(TensorId t) const { return model->values[static_cast<std::size_t>(t)].name; }

namespace {

// What depends on data is whole for every operator.
void freeze_bounded(Graph& g) {
  const auto is_bounded = [&](ClassId c) { return g.classes[static_cast<std::size_t>(c)].bounded; };
  for (const bool single : {true, false})  // of a dimension of several parts those that are known stay
    for (std::size_t v = 0; v < g.model->values.size(); ++v)
      for (const int d : g.model->values[v].bounded) {
        const std::vector<ClassId>& parts = g.tensors[v].dims.at(static_cast<std::size_t>(d));
        if ((parts.size() == 1) != single || std::any_of(parts.begin(), parts.end(), is_bounded)) continue;
        for (const ClassId c : parts) g.classes[static_cast<std::size_t>(c)].bounded = true;
      }
  for (Op& op : g.ops)
    for (Factor& f : op.factors)
      if (std::any_of(f.parts.begin(), f.parts.end(), is_bounded)) {
        f.kind = FactorKind::frozen;
        f.reason = "its size depends on data";
        f.key = f.rows = -1;
      }
}

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
  for (const Node& node : model->nodes)
    if (std::count(node.outputs.begin(), node.outputs.end(), -1) > 0)
      throw std::logic_error("a result of " + node.name() + " has no value");
  g.own_rules = std::make_shared<const OwnRules>(own);
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
    if (drafts[n].known && !model->nodes[n].bodies.empty()) {
      Diagnostic d = note("it runs its sub-graphs as they are written", "what memory they need is not known");
      d.subject = model->nodes[n].name();
      result.diagnostics.push_back(d);
    }
    if (!drafts[n].known) {
      Diagnostic d =
          note(drafts[n].why, "it is kept whole and repeated on every device; what memory it needs is not known");
      d.subject = model->nodes[n].name();
      result.diagnostics.push_back(d);
    }
  }
  for (Diagnostic& d : told(own, held)) result.diagnostics.push_back(std::move(d));
  if (auto d = uncountable(g)) return *d;
  freeze_bounded(g);
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

namespace {

std::int64_t total(const Graph& g, const std::vector<ClassId>& parts) {
  std::int64_t n = 1;
  for (const ClassId c : parts) n *= g.classes[static_cast<std::size_t>(c)].size;
  return n;
}

bool has_name(const Graph& g, const std::vector<ClassId>& dim, const std::string& name) {
  if (dim.empty()) return false;
  const PartClass& first = g.classes[static_cast<std::size_t>(dim.front())];
  return first.from_input && first.name == name;
}

// Of a dimension in several parts the first one grows that is no number of pieces.
std::optional<Diagnostic> set_dimension(Graph& g, const std::vector<ClassId>& dim, const std::string& name,
                                        std::int64_t size, std::vector<bool>& set) {
  const auto counted = [&](ClassId c) { return g.classes[static_cast<std::size_t>(c)].counted; };
  const auto grows = std::find_if_not(dim.begin(), dim.end(), counted);
  const auto c = static_cast<std::size_t>(grows == dim.end() ? dim.front() : *grows);
  if (grows == dim.end() && total(g, dim) != size)
    return error("'" + name + "' cannot be " + std::to_string(size),
                 "an operator takes it apart or joins it as " + std::to_string(g.classes[c].size) +
                     " pieces, and their number stands in the file",
                 "export the model with " + name + "=" + std::to_string(size));
  const std::int64_t rest = g.classes[c].size == 0 ? 0 : total(g, dim) / g.classes[c].size;
  if (rest == 0) return error("'" + name + "' cannot be " + std::to_string(size), "it has no elements in the file");
  if (rest < 1 || size % rest != 0)
    return error("'" + name + "' cannot be " + std::to_string(size),
                 "the model cuts it into pieces of " + std::to_string(rest), "choose a multiple of it");
  if (set[c] && g.classes[c].size != size / rest)
    return error("'" + name + "' cannot be " + std::to_string(size),
                 "inputs of different sizes have a part of it in common");
  g.classes[c].size = size / rest;
  set[c] = true;
  return std::nullopt;
}

// An input dimension, with its size in the file.
struct InputDimension {
  ValueId input = -1;
  std::size_t dim = 0;
  std::int64_t file = 0;
};

std::vector<InputDimension> dimensions_called(const Graph& g, const std::string& name) {
  std::vector<InputDimension> out;
  for (const ValueId v : g.model->inputs) {
    const auto& dims = g.tensors[static_cast<std::size_t>(v)].dims;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (has_name(g, dims[d], name)) out.push_back({v, d, g.model->values[static_cast<std::size_t>(v)].sizes[d]});
  }
  return out;
}

// Inputs may have a dimension of one name and different sizes: a mask of 7 beside 8 tokens. That of the first one is meant.
Diagnostic another_dimension(const Graph& g, const std::string& name, const InputDimension& meant, const InputDimension& other) {
  const auto size = [&](const InputDimension& i) { return std::to_string(i.file) + " of '" + g.tensor_name(i.input) + "'"; };
  return warning("'" + name + "' of the input '" + g.tensor_name(other.input) + "' stays " +
                     std::to_string(g.size(other.input, static_cast<int>(other.dim))),
                 "in the file it is " + size(other) + " and " + size(meant) + ", so the two are not one dimension",
                 "if it follows, export the model at the size that you want");
}

// The same graph with another scalar output as its loss: what has a gradient follows from that.
Result<Graph> with_loss(const Graph& graph, std::int64_t position) {
  const Model& model = *graph.model;
  const std::vector<std::size_t> scalars = scalar_outputs(model);
  if (position < 0 || position >= static_cast<std::int64_t>(scalars.size())) {
    std::vector<std::string> names;
    for (const std::size_t k : scalars) names.push_back(output_name(model, k));
    return error("no scalar output " + std::to_string(position), "the model has " + (names.empty() ? "none" : join(names, ", ")));
  }
  const ValueId loss = model.outputs[scalars[static_cast<std::size_t>(position)]];
  if (loss == model.loss) return graph;
  Model other = model;
  other.loss = loss;
  other.digest = digest("loss " + std::to_string(loss), model.digest);
  Result<Graph> made = make_graph(std::make_shared<const Model>(std::move(other)), *graph.own_rules);
  if (!made.ok()) return made;
  made.diagnostics.clear();  // told of the model as it is
  const bool trains = std::any_of(made->parameters.begin(), made->parameters.end(), [&](const Parameter& p) {
    return made->tensors[static_cast<std::size_t>(p.tensor)].gradient;
  });
  if (!trains)
    return error("'" + output_name(model, scalars[static_cast<std::size_t>(position)]) + "' cannot be the loss",
                 "it depends on no parameter that is trained", "name another scalar output, as 'model loss=NAME'");
  return made;
}
}  // namespace

Result<Graph> resize(const Graph& graph, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  Graph g = graph;
  for (const auto& [name, size] : sizes) {
    if (name != kLossSetting) continue;
    Result<Graph> other = with_loss(graph, size);
    if (!other.ok()) return other.diagnostics;
    g = std::move(*other);
  }
  std::vector<bool> set(g.classes.size(), false);
  for (const auto& [name, size] : sizes) {
    if (name == kLossSetting) continue;
    std::vector<std::string> known;
    for (const auto& [n, s] : input_dimensions(graph)) known.push_back(n);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = nearest(name, known);
      return error("no input dimension '" + name + "'", "the model's inputs have " + join(known, ", "),
                   near.empty() ? "" : "Did you mean '" + near + "'?");
    }
    if (size < 1) return error("'" + name + "' cannot be " + std::to_string(size), "sizes are at least 1");
    const std::vector<InputDimension> all = dimensions_called(g, name);
    for (const InputDimension& i : all) {
      if (i.file != all.front().file) continue;
      if (auto d = set_dimension(g, g.tensors[static_cast<std::size_t>(i.input)].dims[i.dim], name, size, set)) return *d;
    }
  }
  for (const SizeRelation& r : g.relations) {
    std::int64_t terms = 0;
    for (const ClassId t : r.terms) terms += g.classes[static_cast<std::size_t>(t)].size;
    const std::int64_t of_windows = r.constant + r.times * terms, n = of_windows < 0 ? 0 : of_windows / r.per;
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
  if (auto d = uncountable(g)) return *d;
  if (auto d = short_table(g)) return *d;
  if (auto d = unknown_size(g)) return *d;
  count_flops(g);
  number_and_digest(g);
  Result<Graph> result;
  for (const auto& [name, size] : sizes) {
    const std::vector<InputDimension> all = dimensions_called(g, name);
    for (const InputDimension& i : all) {
      const bool stays = g.size(i.input, static_cast<int>(i.dim)) == i.file && size != all.front().file;
      if (i.file != all.front().file && stays) result.diagnostics.push_back(another_dimension(g, name, all.front(), i));
    }
  }
  for (Diagnostic& d : counted_literals(g)) result.diagnostics.push_back(std::move(d));
  result.value = std::move(g);
  return result;
}

std::vector<std::pair<std::string, std::int64_t>> input_dimensions(const Graph& g) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const ValueId v : g.model->inputs)
    for (const auto& dim : g.tensors[static_cast<std::size_t>(v)].dims) {
      const std::string name = dim.empty() ? "" : g.classes[static_cast<std::size_t>(dim.front())].name;
      const auto same = [&](const auto& p) { return p.first == name; };
      if (has_name(g, dim, name) && std::find_if(out.begin(), out.end(), same) == out.end())
        out.emplace_back(name, total(g, dim));
    }
  return out;
}

}  // namespace planscope
