#include "engine/runtime/audit_splits.h"

#include <cmath>
#include <map>

#include "engine/runtime/attention.h"
#include "engine/runtime/random_numbers.h"

namespace planscope {

namespace {

bool has(const Operand& operand, PartRef part) {
  for (const auto& dim : operand.map)
    for (const PartRef& ref : dim)
      if (ref == part) return true;
  return false;
}

// What one shard holds of every operand: a region, and of that the rows of a key where it selects some.
struct Shard {
  Point at;
  std::vector<Region> in, out;
  at::Tensor rows;  // of the keyed cut
};

class Shards {
 public:
  Shards(const AuditedOperator& one, const Division& division, const Differs& differs)
      : one_(one), op_(one.op()), graph_(one.graph()), division_(division), differs_(differs) {
    for (const Cut& cut : division.cuts)
      if (op_.factors[static_cast<std::size_t>(cut.part.factor)].key >= 0) keyed_ = &cut;
  }

  void compare() {
    if (keyed_) draw_keys();
    for (std::size_t o = 0; o < op_.outputs.size(); ++o) outputs_.push_back(begin(one_.whole.outputs[o], o));
    for (const at::Tensor& g : one_.whole.gradients) gradients_.push_back(g.defined() ? at::zeros_like(g) : g);
    every([&](const Point& at) { run(at); });
    for (std::size_t o = 0; o < outputs_.size(); ++o)
      if (static_cast<int>(o) != op_.log_sums)
        differs_("output " + std::to_string(o), difference(outputs_[o], one_.whole.outputs[o]));
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      if (!gradients_[i].defined()) continue;
      const std::string what = "gradient of " + one_.input_name(i);
      if (!read_as_partial(i)) differs_(what, difference(gradients_[i], one_.whole.gradients[i]));
      for (const auto& [addend, total] : partial_gradients_[i])
        differs_(what + " on shard " + std::to_string(addend), difference(total, one_.whole.gradients[i]));
    }
  }

 private:
  const Factor& factor(const Cut& cut) const { return op_.factors[static_cast<std::size_t>(cut.part.factor)]; }

  // Points of all axes; an axis that turns a digit stands at 1.
  void every(const std::function<void(const Point&)>& visit) const {
    Point at(division_.axes.size(), 0);
    const auto turns = [&](std::size_t a) { return division_.axes[a] == 1; };
    for (std::size_t a = 0; a < at.size(); ++a) at[a] = turns(a) ? 1 : 0;
    for (bool more = true; more;) {
      visit(at);
      more = false;
      for (std::size_t a = at.size(); a-- > 0 && !more;) {
        if (turns(a)) continue;
        more = ++at[a] < division_.axes[a];
        if (!more) at[a] = 0;
      }
    }
  }

  Region region_of(const Operand& o, const Point& at) const {
    Layout layout;
    for (std::size_t d = 0; d < o.map.size(); ++d)
      for (std::size_t p = 0; p < o.map[d].size(); ++p)
        for (const Cut& cut : division_.cuts)
          if (o.map[d][p] == cut.part) layout.splits.push_back({static_cast<int>(d), static_cast<int>(p), cut.digits, -1});
    return planscope::region(graph_, o.tensor, layout, at);
  }

  // Number of the block of a cut; 0 is the first.
  std::int64_t index(const Cut& cut, const Point& at) const {
    std::int64_t out = 0;
    for (const Digit& digit : cut.digits) out = out * digit.size + digit_value(digit, at);
    return out;
  }

  // The key of an operator that has none as an operand is anything: its rows do not look at it.
  void draw_keys() {
    const Factor& f = factor(*keyed_);
    std::int64_t rows = 1;
    for (const ClassId c : op_.factors[static_cast<std::size_t>(f.rows)].parts)
      rows *= graph_.classes[static_cast<std::size_t>(c)].size;
    const std::int64_t domain = graph_.classes[static_cast<std::size_t>(f.parts[0])].size;
    keys_ = random_integers(random_key(kAuditOptions.seed, "key"), domain, {{rows}}, {{{0, rows}}});
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      if (op_.inputs[i].tensor == f.key) keys_ = one_.inputs[i];
  }

  int rows_of(const Operand& o) const { return keyed_ ? selected_dim(op_, o, keyed_->part.factor) : -1; }

  at::Tensor part_of(const Operand& o, const at::Tensor& whole, const Region& region, const Shard& s) const {
    const at::Tensor block = cut(whole, whole_region(graph_, o.tensor), region);
    const int dim = rows_of(o);
    return dim < 0 ? block : block.index_select(dim, s.rows);
  }

  // Changes what `whole` has at the shard's place.
  void change(const at::Tensor& whole, const Operand& o, const Region& region, const Shard& s,
              const std::function<at::Tensor(const at::Tensor& now)>& next) const {
    const Region all = whole_region(graph_, o.tensor);
    at::Tensor block = cut(whole, all, region);
    if (const int dim = rows_of(o); dim < 0)
      block = next(block);
    else
      block.index_copy_(dim, s.rows, next(block.index_select(dim, s.rows)));
    paste(whole, all, block, region);
  }

  // Kinds by which an output is made of several shards' results.
  bool combined_by(const Operand& output, FactorKind kind) const {
    for (const Cut& cut : division_.cuts)
      if (factor(cut).kind == kind && &cut != keyed_ && !has(output, cut.part)) return true;
    return false;
  }

  at::Tensor begin(const at::Tensor& whole, std::size_t o) const {
    if (!whole.defined()) return {};
    const bool merged = combined_by(op_.outputs[o], FactorKind::merge);
    return merged ? at::full(whole.sizes(), -INFINITY, whole.options()) : at::zeros(whole.sizes(), whole.options());
  }

  // An added operand is read as a partial value under a sum: block 0 has it.
  bool read_as_partial(std::size_t i) const {
    for (const Cut& cut : division_.cuts)
      if (op_.inputs[i].added && factor(cut).kind == FactorKind::sum && &cut != keyed_ && !has(op_.inputs[i], cut.part))
        return true;
    return false;
  }
  std::int64_t addend(std::size_t i, const Point& at) const {
    std::int64_t out = 0;
    for (const Cut& cut : division_.cuts)
      if (factor(cut).kind == FactorKind::sum && &cut != keyed_ && !has(op_.inputs[i], cut.part))
        out = out * 64 + index(cut, at);
    return out;
  }

  void run(const Point& at) {
    Shard s{at, {}, {}, {}};
    if (keyed_) {
      const std::int64_t domain = graph_.classes[static_cast<std::size_t>(factor(*keyed_).parts[0])].size;
      const Interval held = block_of(domain, keyed_->digits, at);
      s.rows = keys_.ge(held.begin).logical_and(keys_.lt(held.end)).nonzero().squeeze(1);
    }
    TensorList inputs;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      s.in.push_back(region_of(op_.inputs[i], at));
      const bool none = read_as_partial(i) && addend(i, at) > 0;
      const at::Tensor part = part_of(op_.inputs[i], one_.inputs[i], s.in.back(), s);
      inputs.push_back(none ? at::zeros_like(part) : part);
    }
    for (const Operand& o : op_.outputs) s.out.push_back(region_of(o, at));
    auto whole = std::make_shared<TensorList>();
    for (std::size_t o = 0; o < op_.outputs.size(); ++o) {
      const at::Tensor& result = one_.whole.outputs[o];
      whole->push_back(result.defined() ? part_of(op_.outputs[o], result, s.out[o], s) : result);
    }
    if (op_.log_sums >= 0) fill_log_sums(*whole, s);
    const Outcome shard = one_.run(OperatorShard(graph_, 0, s.in, s.out, kAuditOptions), inputs,
                                   [&](const TensorList& outputs) { return given(outputs, *whole, s); }, whole);
    keep(shard, s);
  }

  // The log-sum-exps of the whole operator, which its whole run does not make: from blocks of one.
  void fill_log_sums(TensorList& whole, const Shard& s) {
    if (!log_sums_.defined()) log_sums_ = whole_log_sums();
    const auto o = static_cast<std::size_t>(op_.log_sums);
    if (log_sums_.defined()) whole[o] = part_of(op_.outputs[o], log_sums_, s.out[o], s);
  }
  at::Tensor whole_log_sums() const;

  TensorList given(const TensorList& outputs, const TensorList& whole, const Shard& s) const {
    TensorList out;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      at::Tensor g = part_of(op_.outputs[o], one_.upstream[o], s.out[o], s);
      if (combined_by(op_.outputs[o], FactorKind::merge) && whole[o].defined())
        g = g * outputs[o].detach().sub(whole[o]).exp();
      out.push_back(g);
    }
    return out;
  }

  void keep(const Outcome& shard, const Shard& s) {
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const at::Tensor& part = shard.outputs[o];
      const Operand& output = op_.outputs[o];
      if (!outputs_[o].defined() || static_cast<int>(o) == op_.log_sums) continue;
      if (!part.defined()) throw std::runtime_error("a shard has no output " + std::to_string(o));
      if (combined_by(output, FactorKind::softmax)) {
        join(shard, s);
        continue;
      }
      const bool sums = combined_by(output, FactorKind::sum), merges = combined_by(output, FactorKind::merge);
      change(outputs_[o], output, s.out[o], s, [&](const at::Tensor& now) {
        return sums ? now.add(part).to(now.scalar_type()) : merges ? at::logaddexp(now, part) : part;
      });
    }
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      const at::Tensor& g = shard.gradients[i];
      if (!gradients_[i].defined() || !g.defined()) continue;  // an empty block of a table has none
      at::Tensor& total = read_as_partial(i) ? partial_gradients_[i][addend(i, s.at)] : gradients_[i];
      if (!total.defined()) total = at::zeros_like(one_.whole.gradients[i]);
      change(total, op_.inputs[i], s.in[i], s, [&](const at::Tensor& now) { return now + g; });
    }
  }

  // Averages weighed by their log-sum-exps.
  void join(const Outcome& shard, const Shard& s) {
    const auto l = static_cast<std::size_t>(op_.log_sums);
    std::int64_t column = 0;  // blocks of the results that have the same log-sum-exps
    for (const Cut& cut : division_.cuts)
      if (has(op_.outputs[0], cut.part) && !has(op_.outputs[l], cut.part)) column = column * 64 + index(cut, s.at);
    at::Tensor& joined = joined_log_sums_[column];
    if (!joined.defined())
      joined = at::full(graph_.sizes(op_.outputs[l].tensor), -INFINITY, shard.outputs[l].options());
    const Region all = whole_region(graph_, op_.outputs[0].tensor), sums = whole_region(graph_, op_.outputs[l].tensor);
    at::Tensor results = cut(outputs_[0], all, s.out[0]), weights = cut(joined, sums, s.out[l]);
    join_block(results, weights, shard.outputs[0], shard.outputs[l]);
    paste(outputs_[0], all, results, s.out[0]);
    paste(joined, sums, weights, s.out[l]);
  }

  const AuditedOperator& one_;
  const Op& op_;
  const Graph& graph_;
  const Division& division_;
  const Differs& differs_;
  const Cut* keyed_ = nullptr;
  at::Tensor keys_, log_sums_;
  std::map<std::int64_t, at::Tensor> joined_log_sums_;
  TensorList outputs_, gradients_;
  std::map<std::size_t, std::map<std::int64_t, at::Tensor>> partial_gradients_;  // by input and addend
};

// Two halves of the keys, joined.
at::Tensor Shards::whole_log_sums() const {
  int factor = -1;
  for (int f = 0; f < static_cast<int>(op_.factors.size()); ++f)
    if (op_.factors[static_cast<std::size_t>(f)].kind == FactorKind::softmax) factor = f;
  if (factor < 0 || op_.factors[static_cast<std::size_t>(factor)].parts.empty()) return {};
  at::Tensor results, sums;
  for (const std::int64_t half : {0, 1}) {
    std::vector<Region> in, out;
    TensorList inputs;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      Region r = whole_region(graph_, op_.inputs[i].tensor);
      for (std::size_t d = 0; d < r.size(); ++d)
        for (std::size_t p = 0; p < r[d].size(); ++p)
          if (op_.inputs[i].map[d][p] == PartRef{factor, 0}) r[d][p] = block(r[d][p].size(), 2, half);
      inputs.push_back(cut(one_.inputs[i], whole_region(graph_, op_.inputs[i].tensor), r));
      in.push_back(std::move(r));
    }
    for (const Operand& o : op_.outputs) out.push_back(whole_region(graph_, o.tensor));
    const at::NoGradGuard guard;
    const TensorList made = OperatorShard(graph_, 0, in, out, kAuditOptions)(inputs);
    if (half == 0)
      results = made[0].clone(), sums = made[1].clone();
    else
      join_block(results, sums, made[0], made[1]);
  }
  return sums;
}

}  // namespace

void compare_shards(const AuditedOperator& one, const Division& division, const Differs& differs) {
  Shards(one, division, differs).compare();
}

void compare_prefixes(const AuditedOperator& one, int factor, std::int64_t shards, const Differs& differs) {
  const Op& op = one.op();
  const Graph& graph = one.graph();
  const PartRef own{factor, 0}, until{op.factors[static_cast<std::size_t>(factor)].until, 0};
  ShardOptions options = kAuditOptions;
  options.prefix = true;
  TensorList outputs, gradients;
  for (const at::Tensor& t : one.whole.outputs) outputs.push_back(t.defined() ? at::zeros_like(t) : t);
  for (const at::Tensor& t : one.whole.gradients) gradients.push_back(t.defined() ? at::zeros_like(t) : t);
  const auto add = [&](at::Tensor& sum, const Operand& o, const at::Tensor& part, const Region& at) {
    const Region all = whole_region(graph, o.tensor);
    if (sum.defined() && part.defined()) paste(sum, all, cut(sum, all, at) + part, at);
  };
  for (std::int64_t s = 0; s < shards; ++s) {
    const auto region = [&](const Operand& o) {
      Region r = whole_region(graph, o.tensor);
      for (std::size_t d = 0; d < o.map.size(); ++d)
        for (std::size_t p = 0; p < o.map[d].size(); ++p) {
          const Interval held = block(r[d][p].size(), shards, s);
          if (o.map[d][p] == own) r[d][p] = {0, held.end};
          if (o.map[d][p] == until) r[d][p] = held;
        }
      return r;
    };
    std::vector<Region> in, out;
    TensorList inputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      in.push_back(region(op.inputs[i]));
      inputs.push_back(cut(one.inputs[i], whole_region(graph, op.inputs[i].tensor), in.back()));
    }
    for (const Operand& o : op.outputs) out.push_back(region(o));
    const Outcome shard = one.run(OperatorShard(graph, 0, in, out, options), inputs, [&](const TensorList&) {
      TensorList given;
      for (std::size_t o = 0; o < op.outputs.size(); ++o)
        given.push_back(cut(one.upstream[o], whole_region(graph, op.outputs[o].tensor), out[o]));
      return given;
    });
    for (std::size_t o = 0; o < outputs.size(); ++o) add(outputs[o], op.outputs[o], shard.outputs[o], out[o]);
    for (std::size_t i = 0; i < gradients.size(); ++i) add(gradients[i], op.inputs[i], shard.gradients[i], in[i]);
  }
  for (std::size_t o = 0; o < outputs.size(); ++o)
    if (static_cast<int>(o) != op.log_sums)
      differs("output " + std::to_string(o), difference(outputs[o], one.whole.outputs[o]));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined())
      differs("gradient of " + one.input_name(i), difference(gradients[i], one.whole.gradients[i]));
}

void compare_addends(const AuditedOperator& one, const std::vector<int>& set, const Differs& differs) {
  const Op& op = one.op();
  const Graph& graph = one.graph();
  std::vector<TensorList> addends(2, one.inputs);
  std::vector<bool> partial(op.inputs.size(), false);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i].added) continue;
    addends[1][i] = at::zeros_like(one.inputs[i]);
    partial[i] = true;
  }
  for (const int member : set) {
    const auto i = static_cast<std::size_t>(member);
    const TensorId tensor = op.inputs[i].tensor;
    const std::uint64_t key = random_key(kAuditOptions.seed, "addend " + std::to_string(i));
    addends[0][i] =
        random_normal(key, part_sizes(graph, tensor), whole_region(graph, tensor), one.inputs[i].is_complex());
    addends[1][i] = one.inputs[i] - addends[0][i];
    partial[i] = true;
  }
  std::vector<Outcome> parts;
  const OperatorShard whole = OperatorShard::whole(graph, 0, kAuditOptions);
  for (const TensorList& inputs : addends)
    parts.push_back(one.run(whole, inputs, [&](const TensorList&) { return one.upstream; }));
  for (std::size_t o = 0; o < op.outputs.size(); ++o)
    if (one.whole.outputs[o].defined())
      differs("output " + std::to_string(o),
              difference(parts[0].outputs[o] + parts[1].outputs[o], one.whole.outputs[o]));
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const at::Tensor& expected = one.whole.gradients[i];
    if (!expected.defined()) continue;
    const std::string what = "gradient of " + one.input_name(i);
    if (!partial[i]) {
      differs(what, difference(parts[0].gradients[i] + parts[1].gradients[i], expected));
      continue;
    }
    for (std::size_t s = 0; s < parts.size(); ++s)
      differs(what + " on shard " + std::to_string(s), difference(parts[s].gradients[i], expected));
  }
}

}  // namespace planscope
