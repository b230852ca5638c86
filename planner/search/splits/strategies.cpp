#include "planner/search/splits/strategies.h"

#include <algorithm>

#include "engine/plan/trans.h"
#include "planner/cost/operator_memory.h"
#include "planner/search/splits/parameters.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const PTensor& tensor(const Graph& g, TensorId t) { return g.tensors[at(t)]; }

int gradient_inputs(const Graph& g, const Op& op) {
  return static_cast<int>(std::count_if(op.inputs.begin(), op.inputs.end(),
                                        [&](const Operand& o) { return tensor(g, o.tensor).gradient; }));
}

// Whether partial operands of the set would pass, if they are partial (AxisPass::try_pass).
bool can_pass(const Graph& g, const Op& op, const std::vector<int>& set) {
  std::int64_t most = 0;
  for (const int i : set) {
    const TensorId t = op.inputs[at(i)].tensor;
    const auto uses =
        std::count_if(op.inputs.begin(), op.inputs.end(), [&](const Operand& o) { return o.tensor == t; });
    const bool computed = g.model->values[at(t)].kind == ValueKind::computed && !is_anywhere(g, t);
    if (!computed || tensor(g, t).readers.size() != 1 || uses != 1) return false;
    most = std::max(most, g.bytes(t));
  }
  return !set.empty() &&
         std::all_of(op.outputs.begin(), op.outputs.end(), [&](const Operand& o) { return g.bytes(o.tensor) <= most; });
}

// Whether blocks of so many can be cut from a part on, and whether they are equal (engine/plan/checks.cpp).
enum class Cut : std::uint8_t { equal, balanced, none };
Cut cut(const plan::FactorInfo& f, int part, std::int64_t blocks) {
  std::int64_t left = blocks;
  for (std::size_t p = at(part); p < f.parts.size() && (p == at(part) || !f.parts[p].frozen); ++p) {
    if (f.parts[p].size % left == 0) return Cut::equal;
    if (left % f.parts[p].size != 0) break;
    left /= f.parts[p].size;
  }
  return f.parts[at(part)].size > blocks ? Cut::balanced : Cut::none;
}

Option made(Option::Kind kind, int set = -1) {
  Option o;
  o.kind = kind;
  o.set = set;
  return o;
}

class Options {
 public:
  Options(const Space& s, OpId o, const plan::OperatorInfo& info) : space_(s), o_(o), info_(info) {}

  // For one axis by itself.
  std::vector<Option> list(std::int64_t size) const {
    const Op& op = space_.graph().ops[at(o_)];
    std::vector<Option> out = {{}};
    if (can_pass_back(space_.graph(), op)) out.push_back(made(Option::Kind::passes_back));
    for (int s = 0; s < static_cast<int>(op.linear.size()); ++s)
      if (can_pass(space_.graph(), op, op.linear[at(s)])) out.push_back(made(Option::Kind::pass, s));
    for (int f = 0; f < static_cast<int>(info_.factors.size()); ++f) add_splits(f, size, out);
    return out;
  }

  // Several axes may share a factor: then they cut the same part, together.
  bool fits(std::vector<Option>& all) const {
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (all[a].kind != Option::Kind::split) continue;
      std::int64_t blocks = 1;
      for (std::size_t b = 0; b < all.size(); ++b) {
        if (all[b].kind != Option::Kind::split || all[b].factor != all[a].factor) continue;
        if (all[b].part != all[a].part) return false;
        blocks *= space_.size(static_cast<int>(b));
      }
      const Cut c = cut(info_.factors[at(all[a].factor)], all[a].part, blocks);
      if (c == Cut::none) return false;
      all[a].balanced = c == Cut::balanced;
    }
    return true;
  }

 private:
  void add_splits(int factor, std::int64_t size, std::vector<Option>& out) const {
    const plan::FactorInfo& f = info_.factors[at(factor)];
    if (f.kind == plan::FactorKind::frozen || f.kind == plan::FactorKind::softmax || f.parts.empty()) return;
    for (const std::string& word : f.names) {
      if (word.empty() || plan::find_factor(info_.factors, word) != factor) continue;
      const int part = plan::find_part(f, word);
      const bool known = std::any_of(out.begin(), out.end(), [&](const Option& o) {
        return o.kind == Option::Kind::split && o.factor == factor && o.part == part;
      });
      if (known || cut(f, part, size) == Cut::none) continue;
      out.push_back({.kind = Option::Kind::split, .factor = factor, .part = part, .word = word});
    }
  }

  const Space& space_;
  OpId o_;
  const plan::OperatorInfo& info_;
};

// Layouts and costs of one choice of options.
class Maker {
 public:
  Maker(Space& s, OpId o, const Weights& w) : space_(s), g_(s.graph()), o_(o), op_(g_.ops[at(o)]), weights_(w) {}

  Strategy make(std::vector<Option> options) {
    Strategy out;
    std::vector<StatedSplit> splits;
    for (int a = 0; a < static_cast<int>(options.size()); ++a)
      if (options[at(a)].kind == Option::Kind::split) splits.push_back({a, options[at(a)].factor, options[at(a)].part});
    bindings_ = stated_bindings(g_, space_.program(), o_, splits);
    std::vector<Digit> passed;
    for (int a = 0; a < static_cast<int>(options.size()); ++a) {
      const Digit digit{a, space_.size(a), 1};
      if (options[at(a)].kind == Option::Kind::pass)
        bindings_.push_back({digit, -1, options[at(a)].set, Origin::pass, -1});
      if (options[at(a)].kind == Option::Kind::passes_back) passed.push_back(digit);
    }
    for (int i = 0; i < static_cast<int>(op_.inputs.size()); ++i) {
      const Layout read = operand_layout(op_, op_.inputs[at(i)], false, bindings_);
      const bool gradient = op_.backward && tensor(g_, op_.inputs[at(i)].tensor).gradient;
      out.reads.push_back(
          {space_.intern(read),
           gradient ? space_.intern(contribution_layout(op_, i, bindings_, read, passed)) : LayoutId{-1},
           gradient && std::find(op_.saves.begin(), op_.saves.end(), i) != op_.saves.end()});
    }
    for (const Operand& o : op_.outputs) {
      const Layout written = operand_layout(op_, o, true, bindings_);
      Layout needed = dual(written);
      for (const Digit& d : passed) needed.partials.push_back({d, PartialKind::sum});
      out.writes.push_back(space_.intern(written));
      out.needed.push_back(space_.intern(canonical(std::move(needed))));
    }
    out.options = std::move(options);
    add_costs(out);
    return out;
  }

 private:
  void add_costs(Strategy& s) {
    Piece piece;
    PieceOp po;
    po.op = o_;
    po.bindings = bindings_;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      po.inputs.push_back(static_cast<int>(piece.slots.size()));
      piece.slots.push_back({op_.inputs[i].tensor, s.reads[i].read});
    }
    piece.leaves = po.first_output = static_cast<int>(piece.slots.size());
    for (std::size_t k = 0; k < op_.outputs.size(); ++k) piece.slots.push_back({op_.outputs[k].tensor, s.writes[k]});
    piece.gradient = op_.backward;
    const std::vector<Bytes> slots = slot_bytes(g_, space_.program(), piece);
    const Program& program = space_.program();
    const CostModel& costs = space_.costs();
    s.cost = s.forward =
        space_.slowest_us([&](const DeviceType& d) { return forward_time(g_, program, piece, po, slots, d, costs); });
    if (op_.backward)
      s.cost += space_.slowest_us(
          [&](const DeviceType& d) { return backward_time(g_, program, piece, po, slots, d, costs); });
    if (op_.backward) s.aside = kept_aside(g_, po).count;
    for (std::size_t k = 0; k < op_.outputs.size(); ++k) s.results.push_back(result_bytes(k, s.writes[k]));
    if (!weights_.zero.empty()) return;
    const std::vector<int> own = own_parameters(g_, o_);
    const std::vector<std::vector<Interface>> reads = parameter_reads(g_, o_, s);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const ParameterCost p = parameter_cost(space_, op_.inputs[at(own[i])].tensor, reads[i], weights_);
      s.cost += p.cost;
      s.bytes += p.bytes;
    }
  }

  std::int64_t result_bytes(std::size_t output, LayoutId written) const {
    if (classify(g_, o_) == OperatorClass::view) return 0;
    auto bytes = static_cast<std::int64_t>(space_.bytes(op_.outputs[output].tensor, written));
    for (const Partial& p : space_.layout(written).partials) bytes /= p.digit.size;
    return bytes;
  }

  Space& space_;
  const Graph& g_;
  OpId o_;
  const Op& op_;
  const Weights& weights_;
  std::vector<Binding> bindings_;
};

}  // namespace

// As AxisPass::pass_backward (engine/program/build/bindings.cpp).
bool can_pass_back(const Graph& g, const Op& op) {
  const std::size_t results = op.outputs.size() - (op.log_sums >= 0 ? 1 : 0);
  if (!op.backward || results != 1 || gradient_inputs(g, op) != 1) return false;
  const auto wanted =
      std::find_if(op.inputs.begin(), op.inputs.end(), [&](const Operand& o) { return tensor(g, o.tensor).gradient; });
  const int input = static_cast<int>(wanted - op.inputs.begin());
  const bool linear = std::any_of(op.linear.begin(), op.linear.end(),
                                  [&](const std::vector<int>& set) { return set.size() == 1 && set[0] == input; });
  return linear && g.bytes(wanted->tensor) <= g.bytes(op.outputs[0].tensor);
}

bool is_partial_on(const Layout& l, int axis) {
  const auto on = [&](const Digit& d) { return d.axis == axis; };
  return std::any_of(l.partials.begin(), l.partials.end(),
                     [&](const Partial& p) { return on(p.digit) && p.kind == PartialKind::sum; }) &&
         std::none_of(l.splits.begin(), l.splits.end(),
                      [&](const Split& s) { return std::any_of(s.digits.begin(), s.digits.end(), on); });
}

bool alike_on(const Layout& a, const Layout& b, int axis) {
  const auto of = [&](Layout l) {
    for (Split& s : l.splits) std::erase_if(s.digits, [&](const Digit& d) { return d.axis != axis; });
    std::erase_if(l.splits, [](const Split& s) { return s.digits.empty(); });
    std::erase_if(l.partials, [&](const Partial& p) { return p.digit.axis != axis; });
    return l;
  };
  return of(a) == of(b);
}

bool is_anywhere(const Graph& g, TensorId t) {
  const ValueKind k = g.model->values[at(t)].kind;
  if (k != ValueKind::computed) return k != ValueKind::parameter;
  const OpId producer = tensor(g, t).producer;
  return producer >= 0 && g.ops[at(producer)].parameter_free;
}

std::vector<Strategy> strategies_of(Space& space, OpId o, const plan::OperatorInfo& info, const Weights& weights) {
  const Options options(space, o, info);
  std::vector<std::vector<Option>> all = {{}};
  for (int a = 0; a < space.axes(); ++a) {
    const std::vector<Option> here = options.list(space.size(a));
    std::vector<std::vector<Option>> longer;
    for (const std::vector<Option>& begun : all)
      for (const Option& option : here) {
        longer.push_back(begun);
        longer.back().push_back(option);
      }
    all = std::move(longer);
  }
  Maker maker(space, o, weights);
  std::vector<Strategy> out;
  for (std::vector<Option>& choice : all)
    if (options.fits(choice)) out.push_back(maker.make(std::move(choice)));
  return out;
}

bool may_write(const Space& space, OpId o, const Strategy& s, int output, const std::vector<Interface>& readers) {
  const Graph& g = space.graph();
  const Op& op = g.ops[at(o)];
  if (!can_pass_back(g, op) || output != 0) return true;
  for (int a = 0; a < space.axes(); ++a) {
    const Option::Kind kind = s.options[at(a)].kind;
    if (kind != Option::Kind::whole && kind != Option::Kind::passes_back) continue;
    LayoutId first = -1;
    bool passes = true;
    for (const Interface& i : readers) {
      if (i.contribution < 0) continue;
      if (first < 0) first = i.contribution;
      passes = passes && is_partial_on(space.layout(i.contribution), a) &&
               alike_on(space.layout(first), space.layout(i.contribution), a);
    }
    if ((passes && first >= 0) != (kind == Option::Kind::passes_back)) return false;
  }
  return true;
}

bool may_read(const Space& space, OpId o, const Strategy& s, int input, LayoutId written) {
  const Op& op = space.graph().ops[at(o)];
  for (int a = 0; a < space.axes(); ++a) {
    const Option& option = s.options[at(a)];
    if (option.kind != Option::Kind::pass) continue;
    const std::vector<int>& set = op.linear[at(option.set)];
    if (std::find(set.begin(), set.end(), input) != set.end() && !is_partial_on(space.layout(written), a)) return false;
  }
  return true;
}

}  // namespace planscope::splits
