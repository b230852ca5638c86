#include "engine/runtime/rule_audit.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <set>
#include <sstream>

#include "engine/runtime/attention.h"
#include "engine/runtime/operator_shard.h"
#include "engine/runtime/sample_values.h"

namespace planscope {

namespace {

constexpr double kTolerance = 1e-9;
constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // elements of one operand
const ShardOptions kOptions{Precision::float64, 7};

std::string text(const Argument& argument) {
  std::ostringstream out;
  std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Tensor>)
          out << (held.id < 0 ? "none" : "tensor");
        else if constexpr (std::is_same_v<T, std::vector<Tensor>>)
          for (const Tensor& t : held) out << (t.id < 0 ? "-" : "t");
        else if constexpr (std::is_same_v<T, DType>)
          out << to_string(held);
        else if constexpr (std::is_same_v<T, bool> || std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          out << held;
        else if constexpr (requires { held.size(); })
          for (std::size_t i = 0; i < held.size(); ++i) out << held[i] << ',';
      },
      argument);
  return out.str();
}

std::string signature(const Graph& graph, OpId id) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  const Node& node = graph.node(id);
  std::ostringstream out;
  out << node.target << (node.no_grad ? " no_grad" : "");
  for (const NamedArgument& a : node.arguments) out << ' ' << a.name << '=' << text(a.value);
  for (const Factor& f : op.factors) {
    out << " {" << f.name << ' ' << to_string(f.kind);
    for (const ClassId c : f.parts) out << ' ' << graph.classes[static_cast<std::size_t>(c)].size;
    if (f.key >= 0) out << " selects " << f.rows;
    out << '}';
  }
  for (const auto* side : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *side) {
      out << " [" << to_string(graph.model->values[static_cast<std::size_t>(operand.tensor)].dtype);
      for (const auto& dim : operand.map) {
        for (const PartRef& ref : dim) out << ' ' << ref.factor << '.' << ref.part;
        out << ';';
      }
      out << (operand.added ? "+]" : "]");
    }
    out << " ->";
  }
  for (const std::int64_t size : graph.sizes(op.outputs.empty() ? op.inputs[0].tensor : op.outputs[0].tensor))
    out << ' ' << size;
  return out.str();
}

// A graph of this operator alone, with other class sizes.
Graph reduced(const Graph& graph, OpId id, bool keep_frozen) {
  Graph small;
  small.model = graph.model;
  small.classes = graph.classes;
  small.tensors.resize(graph.tensors.size());
  small.ops = {graph.ops[static_cast<std::size_t>(id)]};
  const Op& op = small.ops[0];
  std::set<ClassId> used, frozen;
  for (const auto* side : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *side) {
      const auto t = static_cast<std::size_t>(operand.tensor);
      small.tensors[t] = graph.tensors[t];
      for (const auto& dim : graph.tensors[t].dims) used.insert(dim.begin(), dim.end());
    }
  }
  std::set<ClassId> tied;
  for (const Factor& f : op.factors) {
    tied.insert(f.parts.begin(), f.parts.end());
    if (f.kind == FactorKind::frozen) frozen.insert(f.parts.begin(), f.parts.end());
  }
  static constexpr std::int64_t pool[] = {4, 6, 5, 8, 7, 9, 10, 11, 12, 13};
  std::size_t next = 0;
  for (const ClassId c : used) {
    if (!tied.count(c) || (keep_frozen && frozen.count(c))) continue;
    small.classes[static_cast<std::size_t>(c)].size = pool[next++ % std::size(pool)];
  }
  for (const Factor& f : op.factors) {
    if (f.until < 0) continue;
    const Factor& limit = op.factors[static_cast<std::size_t>(f.until)];
    for (std::size_t p = 0; p < f.parts.size(); ++p)
      small.classes[static_cast<std::size_t>(f.parts[p])].size =
          small.classes[static_cast<std::size_t>(limit.parts[p])].size;
  }
  return small;
}

// Positions along the one dimension that a factor's first part is.
at::Tensor positions(const Graph& graph, const Operand& o, int factor) {
  for (std::size_t d = 0; d < o.map.size(); ++d) {
    if (o.map[d] != std::vector<PartRef>{{factor, 0}}) continue;
    std::vector<std::int64_t> shape(o.map.size(), 1);
    shape[d] = graph.sizes(o.tensor)[d];
    return at::arange(shape[d]).view(shape);
  }
  return {};
}

// Where the model's mask is causal, so is the drawn one (causal.h).
at::Tensor as_causal(const Graph& graph, const Operand& o, at::Tensor drawn) {
  const Op& op = graph.ops[0];
  for (std::size_t f = 0; f < op.factors.size(); ++f) {
    if (op.factors[f].until < 0) continue;
    const at::Tensor key = positions(graph, o, static_cast<int>(f)), query = positions(graph, o, op.factors[f].until);
    if (!key.defined() || !query.defined()) continue;
    const at::Tensor behind = key.gt(query);
    drawn = drawn.scalar_type() == at::kBool ? drawn.logical_and(behind.logical_not())
                                             : drawn.masked_fill(behind, -INFINITY);
  }
  return drawn;
}

at::Tensor random_operand(const Graph& graph, std::size_t input) {
  const TensorId tensor = graph.ops[0].inputs[input].tensor;
  const std::uint64_t key = random_key(kOptions.seed, "operand " + std::to_string(input));
  return sample_operand(graph, 0, input, part_sizes(graph, tensor), key);
}

// Outputs of one run and the gradients of its operands (undefined where none flows).
struct Outcome {
  TensorList outputs, gradients;
};

Outcome execute(const OperatorShard& op, bool differentiable, const TensorList& inputs,
                const std::function<TensorList(const TensorList&)>& upstream,
                const std::shared_ptr<TensorList>& whole = nullptr) {
  TensorList leaves;
  for (const at::Tensor& x : inputs) {
    leaves.push_back(x.detach());
    if (differentiable && x.is_floating_point()) leaves.back().requires_grad_();
  }
  Outcome outcome;
  at::AutoGradMode recording(true);
  outcome.outputs = op(leaves, whole);
  outcome.gradients.resize(inputs.size());
  const TensorList given = upstream(outcome.outputs);
  TensorList outputs, gradients, wanted;
  std::vector<std::size_t> position;
  for (std::size_t o = 0; o < outcome.outputs.size(); ++o) {
    const at::Tensor& output = outcome.outputs[o];
    if (!output.defined() || !output.requires_grad() || !output.is_floating_point()) continue;
    outputs.push_back(output);
    gradients.push_back(given[o]);
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].requires_grad()) continue;
    wanted.push_back(leaves[i]);
    position.push_back(i);
  }
  if (!outputs.empty() && !wanted.empty()) {
    const auto found = torch::autograd::grad(outputs, wanted, gradients, false, false, true);
    for (std::size_t k = 0; k < found.size(); ++k) {
      outcome.gradients[position[k]] = found[k].defined() ? found[k] : at::zeros_like(wanted[k]);
    }
  }
  for (at::Tensor& t : outcome.outputs) t = t.defined() ? t.detach() : t;
  return outcome;
}

double difference(const at::Tensor& got, const at::Tensor& expected) {
  if (!got.defined() || !expected.defined()) return got.defined() == expected.defined() ? 0 : INFINITY;
  if (got.sizes() != expected.sizes()) return INFINITY;
  if (expected.numel() == 0) return 0;
  const at::Tensor a = got.to(at::kDouble), b = expected.to(at::kDouble);
  const at::Tensor gap = a.sub(b).abs().masked_fill(a.eq(b), 0);  // equal infinities
  const double largest = gap.max().item<double>();
  const at::Tensor finite = b.abs().masked_fill(b.isfinite().logical_not(), 0);
  return std::isnan(largest) ? INFINITY : largest / std::max(1.0, finite.max().item<double>());
}

class Audit {
 public:
  Audit(Graph graph, std::string name, AuditReport& report)
      : graph_(std::move(graph)), name_(std::move(name)), report_(report) {}

  // False: the operator does not run at these sizes (reason in `why`).
  bool whole(std::string& why) {
    const Op& op = graph_.ops[0];
    for (const Operand& operand : op.inputs) {
      if (graph_.elements(operand.tensor) > kLargest) return why = "its operands are too large", false;
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      inputs_.push_back(as_causal(graph_, op.inputs[i], random_operand(graph_, i)));
    try {
      whole_ =
          execute(OperatorShard::whole(graph_, 0, kOptions), differentiable(), inputs_, [&](const TensorList& outputs) {
            for (std::size_t o = 0; o < outputs.size(); ++o) {
              const std::uint64_t key = random_key(kOptions.seed, "gradient " + std::to_string(o));
              const TensorId tensor = op.outputs[o].tensor;
              upstream_.push_back(random_normal(key, part_sizes(graph_, tensor), whole_region(graph_, tensor)));
            }
            return upstream_;
          });
    } catch (const c10::Error& e) {
      return why = e.what_without_backtrace(), false;
    } catch (const std::exception& e) {
      return why = e.what(), false;
    }
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      if (whole_.outputs[o].defined() && whole_.outputs[o].sizes() != graph_.sizes(op.outputs[o].tensor)) {
        return why = "output " + std::to_string(o) + " has other sizes than its parts say", false;
      }
    }
    return true;
  }

  void factors() {
    const Op& op = graph_.ops[0];
    for (std::size_t f = 0; f < op.factors.size(); ++f) {
      if (op.factors[f].kind == FactorKind::frozen) continue;
      for (std::size_t p = 0; p < op.factors[f].parts.size(); ++p) {
        for (const std::int64_t shards : {2, 3}) {
          guarded(op.factors[f].name + " part " + std::to_string(p) + " by " + std::to_string(shards), [&] {
            if (op.factors[f].key < 0)
              split({static_cast<int>(f), static_cast<int>(p)}, shards);
            else
              select(static_cast<int>(f), shards);
          });
          if (op.factors[f].until < 0 || p > 0) continue;
          guarded(op.factors[f].name + " up to a block by " + std::to_string(shards),
                  [&] { up_to(static_cast<int>(f), shards); });
        }
      }
    }
  }

  void linear_sets() {
    for (const std::vector<int>& set : graph_.ops[0].linear) {
      bool floating = true;
      for (const int i : set) floating = floating && inputs_[static_cast<std::size_t>(i)].is_floating_point();
      if (!floating || set.empty()) continue;
      std::string name = "linear {";
      for (const int i : set) name += (name.back() == '{' ? "" : ", ") + input_name(static_cast<std::size_t>(i));
      guarded(name + "}", [&] { add_up(set); });
    }
  }

 private:
  void guarded(const std::string& factor, const std::function<void()>& test) {
    factor_ = factor;
    ++report_.tested;
    try {
      test();
    } catch (const c10::Error& e) {
      fail(std::string("does not run: ") + e.what_without_backtrace(), 0);
    } catch (const std::exception& e) {
      fail(std::string("does not run: ") + e.what(), 0);
    }
  }

  void fail(const std::string& what, double error) {
    report_.failed.push_back({name_, graph_.node(0).target, factor_, what, error});
  }

  void compare(const std::string& what, const at::Tensor& got, const at::Tensor& expected) {
    const double error = difference(got, expected);
    if (!(error <= kTolerance)) fail(what, error);
  }

  // An operator under no_grad, or with integer results alone, has no gradient.
  bool differentiable() const {
    if (graph_.node(0).no_grad) return false;
    for (const Operand& o : graph_.ops[0].outputs) {
      if (is_floating(graph_.model->values[static_cast<std::size_t>(o.tensor)].dtype)) return true;
    }
    return false;
  }

  std::string input_name(std::size_t i) const {
    const Operand& operand = graph_.ops[0].inputs[i];
    const std::string& name = graph_.node(0).arguments[static_cast<std::size_t>(operand.argument)].name;
    return operand.element < 0 ? name : name + "[" + std::to_string(operand.element) + "]";
  }

  static bool has(const Operand& operand, PartRef factor) {
    for (const auto& dim : operand.map) {
      for (const PartRef& ref : dim) {
        if (ref == factor) return true;
      }
    }
    return false;
  }

  Region shard_region(const Operand& operand, PartRef factor, std::int64_t shards, std::int64_t index) const {
    Region region = whole_region(graph_, operand.tensor);
    for (std::size_t d = 0; d < operand.map.size(); ++d) {
      for (std::size_t p = 0; p < operand.map[d].size(); ++p) {
        if (operand.map[d][p] == factor) region[d][p] = block(region[d][p].size(), shards, index);
      }
    }
    return region;
  }

  // Runs the shards twice where the gradient of a shard needs the whole results.
  void split(PartRef factor, std::int64_t shards) {
    const Op& op = graph_.ops[0];
    const FactorKind kind = op.factors[static_cast<std::size_t>(factor.factor)].kind;
    std::vector<std::vector<Region>> in(static_cast<std::size_t>(shards)), out(static_cast<std::size_t>(shards));
    std::vector<Outcome> parts;
    TensorList combined(op.outputs.size());
    const bool twice = kind == FactorKind::merge || kind == FactorKind::softmax;
    for (int pass = 0; pass < (twice ? 2 : 1); ++pass) {
      const bool backward = differentiable() && (pass > 0 || kind != FactorKind::softmax);
      parts.clear();
      for (std::size_t s = 0; s < static_cast<std::size_t>(shards); ++s) {
        in[s].clear(), out[s].clear();
        TensorList inputs;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
          in[s].push_back(shard_region(op.inputs[i], factor, shards, static_cast<std::int64_t>(s)));
          const bool partial = op.inputs[i].added && kind == FactorKind::sum && !has(op.inputs[i], factor);
          const Region all = whole_region(graph_, op.inputs[i].tensor);
          inputs.push_back(partial && s > 0 ? at::zeros_like(inputs_[i]) : cut(inputs_[i], all, in[s].back()));
        }
        for (const Operand& o : op.outputs)
          out[s].push_back(shard_region(o, factor, shards, static_cast<std::int64_t>(s)));
        parts.push_back(execute(
            OperatorShard(graph_, 0, in[s], out[s], kOptions), backward, inputs,
            [&](const TensorList& outputs) {
              TensorList gradients;
              for (std::size_t o = 0; o < outputs.size(); ++o) {
                const Region all = whole_region(graph_, op.outputs[o].tensor);
                at::Tensor g = cut(upstream_[o], all, out[s][o]);
                const bool merged = kind == FactorKind::merge && !has(op.outputs[o], factor) && combined[o].defined();
                if (merged) g = g * outputs[o].detach().sub(combined[o]).exp();
                gradients.push_back(g);
              }
              return gradients;
            },
            std::make_shared<TensorList>(combined)));
      }
      for (std::size_t o = 0; o < op.outputs.size(); ++o)
        combined[o] = join(op.outputs[o], o, factor, kind, parts, out);
      if (kind == FactorKind::softmax) combined = join_softmax(parts);
    }
    for (std::size_t o = 0; o < op.outputs.size(); ++o)
      if (static_cast<int>(o) != op.log_sums) compare("output " + std::to_string(o), combined[o], whole_.outputs[o]);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const bool partial = op.inputs[i].added && kind == FactorKind::sum;
      compare_gradient(i, has(op.inputs[i], factor), partial, parts, in);
    }
  }

  // Blocks of the factor that limits this one (Factor::until), each with no more of this one than it can need.
  void up_to(int factor, std::int64_t shards) {
    const Op& op = graph_.ops[0];
    const PartRef own{factor, 0}, until{op.factors[static_cast<std::size_t>(factor)].until, 0};
    ShardOptions options = kOptions;
    options.prefix = true;
    TensorList outputs, gradients;
    for (const at::Tensor& t : whole_.outputs) outputs.push_back(t.defined() ? at::zeros_like(t) : t);
    for (const at::Tensor& t : whole_.gradients) gradients.push_back(t.defined() ? at::zeros_like(t) : t);
    const auto add = [&](at::Tensor& sum, const Operand& o, const at::Tensor& part, const Region& at) {
      const Region all = whole_region(graph_, o.tensor);
      if (sum.defined() && part.defined()) paste(sum, all, cut(sum, all, at) + part, at);
    };
    for (std::int64_t s = 0; s < shards; ++s) {
      const auto region = [&](const Operand& o) {
        Region r = shard_region(o, until, shards, s);
        for (std::size_t d = 0; d < o.map.size(); ++d)
          for (std::size_t p = 0; p < o.map[d].size(); ++p)
            if (o.map[d][p] == own) r[d][p] = {0, block(r[d][p].size(), shards, s).end};
        return r;
      };
      std::vector<Region> in, out;
      TensorList inputs;
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        in.push_back(region(op.inputs[i]));
        inputs.push_back(cut(inputs_[i], whole_region(graph_, op.inputs[i].tensor), in.back()));
      }
      for (const Operand& o : op.outputs) out.push_back(region(o));
      const Outcome shard =
          execute(OperatorShard(graph_, 0, in, out, options), differentiable(), inputs, [&](const TensorList&) {
            TensorList given;
            for (std::size_t o = 0; o < op.outputs.size(); ++o)
              given.push_back(cut(upstream_[o], whole_region(graph_, op.outputs[o].tensor), out[o]));
            return given;
          });
      for (std::size_t o = 0; o < outputs.size(); ++o) add(outputs[o], op.outputs[o], shard.outputs[o], out[o]);
      for (std::size_t i = 0; i < gradients.size(); ++i) add(gradients[i], op.inputs[i], shard.gradients[i], in[i]);
    }
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (static_cast<int>(o) != op.log_sums) compare("output " + std::to_string(o), outputs[o], whole_.outputs[o]);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined()) compare("gradient of " + input_name(i), gradients[i], whole_.gradients[i]);
  }

  static TensorList join_softmax(const std::vector<Outcome>& parts) {
    TensorList joined{parts[0].outputs[0].clone(), parts[0].outputs[1].clone()};
    for (std::size_t s = 1; s < parts.size(); ++s)
      join_block(joined[0], joined[1], parts[s].outputs[0], parts[s].outputs[1]);
    return joined;
  }

  // The key of an operator that has none as an operand is anything: its rows do not look at it.
  at::Tensor keys_of(const Factor& f, std::int64_t rows) const {
    const Op& op = graph_.ops[0];
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (op.inputs[i].tensor == f.key) return inputs_[i];
    const std::int64_t domain = graph_.classes[static_cast<std::size_t>(f.parts[0])].size;
    return random_integers(random_key(kOptions.seed, "key"), domain, {{rows}}, {{{0, rows}}});
  }

  // Runs a keyed factor: each shard has a block of the domain, and the rows whose key lies in it.
  void select(int factor, std::int64_t shards) {
    const Op& op = graph_.ops[0];
    const Factor& f = op.factors[static_cast<std::size_t>(factor)];
    std::int64_t rows = 1;
    for (const ClassId c : op.factors[static_cast<std::size_t>(f.rows)].parts)
      rows *= graph_.classes[static_cast<std::size_t>(c)].size;
    const at::Tensor keys = keys_of(f, rows);
    TensorList outputs, gradients;
    for (const at::Tensor& t : whole_.outputs) outputs.push_back(t.defined() ? at::zeros_like(t) : t);
    for (const at::Tensor& t : whole_.gradients) gradients.push_back(t.defined() ? at::zeros_like(t) : t);
    for (std::int64_t s = 0; s < shards; ++s) {
      const Interval held = block(graph_.classes[static_cast<std::size_t>(f.parts[0])].size, shards, s);
      const at::Tensor own = keys.ge(held.begin).logical_and(keys.lt(held.end)).nonzero().squeeze(1);
      std::vector<Region> in, out;
      TensorList inputs;
      const auto rows_of = [&](const Operand& o, const at::Tensor& t) {
        const int dim = selected_dim(op, o, factor);
        return dim < 0 ? t : t.index_select(dim, own);
      };
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        in.push_back(shard_region(op.inputs[i], {factor, 0}, shards, s));
        inputs.push_back(rows_of(op.inputs[i], cut(inputs_[i], whole_region(graph_, op.inputs[i].tensor), in.back())));
      }
      for (const Operand& o : op.outputs) out.push_back(whole_region(graph_, o.tensor));
      const auto upstream = [&](const TensorList&) {
        TensorList given;
        for (std::size_t o = 0; o < op.outputs.size(); ++o) given.push_back(rows_of(op.outputs[o], upstream_[o]));
        return given;
      };
      const Outcome shard = execute(OperatorShard(graph_, 0, in, out, kOptions), differentiable(), inputs, upstream);
      for (std::size_t o = 0; o < outputs.size(); ++o)
        if (outputs[o].defined())
          outputs[o].index_copy_(selected_dim(op, op.outputs[o], factor), own, shard.outputs[o]);
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        if (!gradients[i].defined() || !shard.gradients[i].defined()) continue;
        const int dim = selected_dim(op, op.inputs[i], factor);
        if (dim >= 0)
          gradients[i].index_add_(dim, own, shard.gradients[i]);
        else
          paste(gradients[i], whole_region(graph_, op.inputs[i].tensor),
                cut(gradients[i], whole_region(graph_, op.inputs[i].tensor), in[i]) + shard.gradients[i], in[i]);
      }
    }
    for (std::size_t o = 0; o < outputs.size(); ++o)
      compare("output " + std::to_string(o), outputs[o], whole_.outputs[o]);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined()) compare("gradient of " + input_name(i), gradients[i], whole_.gradients[i]);
  }

  at::Tensor join(const Operand& output, std::size_t o, PartRef factor, FactorKind kind,
                  const std::vector<Outcome>& parts, const std::vector<std::vector<Region>>& regions) const {
    if (!parts[0].outputs[o].defined()) return {};
    if (has(output, factor)) {
      const at::Tensor whole = at::zeros(graph_.sizes(output.tensor), parts[0].outputs[o].options());
      for (std::size_t s = 0; s < parts.size(); ++s) {
        paste(whole, whole_region(graph_, output.tensor), parts[s].outputs[o], regions[s][o]);
      }
      return whole;
    }
    TensorList all;
    for (const Outcome& part : parts) all.push_back(part.outputs[o]);
    if (kind == FactorKind::merge) return at::logsumexp(at::stack(all), {0});
    if (kind == FactorKind::softmax) return {};  // join_softmax
    if (kind == FactorKind::sum) return at::stack(all).sum(0).to(all[0].scalar_type());
    return all.back();  // computed alike on every shard
  }

  void compare_gradient(std::size_t i, bool split, bool partial, const std::vector<Outcome>& parts,
                        const std::vector<std::vector<Region>>& regions) {
    if (!whole_.gradients[i].defined()) return;
    const std::string what = "gradient of " + input_name(i);
    const TensorId tensor = graph_.ops[0].inputs[i].tensor;
    at::Tensor total = at::zeros_like(whole_.gradients[i]);
    for (std::size_t s = 0; s < parts.size(); ++s) {
      const at::Tensor& g = parts[s].gradients[i];
      if (!g.defined()) continue;  // an empty block of a table has none
      if (split)
        paste(total, whole_region(graph_, tensor), g, regions[s][i]);
      else if (partial)
        compare(what + " on shard " + std::to_string(s), g, whole_.gradients[i]);
      else
        total = total + g;
    }
    if (split || !partial) compare(what, total, whole_.gradients[i]);
  }

  void add_up(const std::vector<int>& set) {
    const Op& op = graph_.ops[0];
    std::vector<TensorList> addends(2, inputs_);
    std::vector<bool> partial(op.inputs.size(), false);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i].added) {
        addends[1][i] = at::zeros_like(inputs_[i]);
        partial[i] = true;
      }
    }
    for (const int member : set) {
      const auto i = static_cast<std::size_t>(member);
      const TensorId tensor = op.inputs[i].tensor;
      const std::uint64_t key = random_key(kOptions.seed, "addend " + std::to_string(i));
      addends[0][i] = random_normal(key, part_sizes(graph_, tensor), whole_region(graph_, tensor));
      addends[1][i] = inputs_[i] - addends[0][i];
      partial[i] = true;
    }
    const OperatorShard whole = OperatorShard::whole(graph_, 0, kOptions);
    std::vector<Outcome> parts;
    for (const TensorList& inputs : addends) {
      parts.push_back(execute(whole, differentiable(), inputs, [&](const TensorList&) { return upstream_; }));
    }
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      if (!whole_.outputs[o].defined()) continue;
      compare("output " + std::to_string(o), parts[0].outputs[o] + parts[1].outputs[o], whole_.outputs[o]);
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i) compare_gradient(i, false, partial[i], parts, {});
  }

  Graph graph_;
  std::string name_, factor_;
  AuditReport& report_;
  TensorList inputs_, upstream_;
  Outcome whole_;
};

// Memory that nobody has written yet.
bool undefined_elements(const std::string& target) {
  return target.starts_with("aten::empty") || target.starts_with("aten::new_empty");
}

bool splits(const Op& op) {
  for (const Factor& f : op.factors) {
    if (f.kind != FactorKind::frozen && !f.parts.empty()) return true;
  }
  return !op.linear.empty();
}

void audit_operator(const Graph& graph, OpId id, AuditReport& report) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  const Node& node = graph.node(id);
  const auto skip = [&](const std::string& why) { report.skipped.push_back({node.name(), node.target, "", why, 0}); };
  if (!op.known) return skip("has no rule: replicated");
  if (!splits(op)) return skip("nothing of it may be split");
  if (undefined_elements(node.target)) return skip("its elements are undefined");
  std::string why, first;
  for (const bool keep_frozen : {false, true}) {
    Audit audit(reduced(graph, id, keep_frozen), node.name(), report);
    if (!audit.whole(why)) {
      if (!keep_frozen) first = why;
      continue;
    }
    audit.factors();
    audit.linear_sets();
    return;
  }
  report.failed.push_back({node.name(), node.target, "", "does not run: " + why, 0});
}

}  // namespace

AuditReport audit_rules(const Graph& graph) {
  AuditReport report;
  std::set<std::string> seen;
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::set_num_threads(1);  // operands are small; waiting threads only slow each other down
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const OpId id = static_cast<OpId>(i);
    if (!seen.insert(signature(graph, id)).second) continue;
    ++report.signatures;
    audit_operator(graph, id, report);
  }
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  return report;
}

}  // namespace planscope
