// Which factor every operator binds on every axis: statements (statement_bindings.cpp), follow, partial values that pass, the
// backward sweep.
//
// Axes are decided one by one; on one axis a tensor is *held* whole, split, or partial. Costs are bytes that move per
// device, forward and backward, on that axis alone (all-reduce counts twice); over a free axis only slicing and running
// sums are possible, so everything else costs more than any other choice.
//
// Layers repeat: what an operator binds is decided once for all operators of a kind (kinds.cpp) whose operands are held
// alike.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/program/build/prefix.h"
#include "engine/program/build/sharding_state.h"
#include "engine/program/build/statement_bindings.h"
#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

constexpr double kBarrier = 1e18;

using StateId = int;   // of a Held; -1: none
using StatesId = int;  // of a list of these

// What an operator binds on the axis, and what follows from it for its operands.
struct Bound {
  int binding = 0;                     // into Work::axis_bindings
  std::vector<StateId> reads;          // per input
  std::vector<StateId> contributions;  // per input: of the gradient that it gives; -1: none
  std::vector<StateId> writes;         // per output
};

class AxisPass {
 public:
  AxisPass(Work& w, int axis) : w_(w), axis_(axis), free_(w.d.axes[static_cast<std::size_t>(axis)].free) {
    held_.assign(w.g.tensors.size(), 0);
    contribution_.assign(w.g.tensors.size(), 0);
    bound_.resize(w.g.ops.size());
  }

  // What follow compares for an operator, the chosen one first; nothing where it does not compare.
  std::vector<FollowCost> compare(OpId wanted) {
    for (OpId o = 0; o < wanted; ++o) forward(o);
    AxisBinding b = w_.binding(wanted, axis_);
    if (w_.op(wanted).parameter_free || b.statement >= 0 || size(wanted) <= 1 || try_pass(wanted, b)) return {};
    auto all = candidates(wanted);
    std::stable_sort(all.begin(), all.end(), cheaper);
    std::vector<FollowCost> out;
    for (const auto& [binding, cost] : all) {
      FollowCost c;
      for (const FactorBinding& f : binding.factors)
        if (std::find(c.factors.begin(), c.factors.end(), f.factor) == c.factors.end()) c.factors.push_back(f.factor);
      c.barrier = cost >= kBarrier / 10;
      c.bytes = c.barrier ? 0 : cost;
      c.chosen = out.empty();
      out.push_back(std::move(c));
    }
    return out;
  }

  void run() {
    for (OpId o = 0; o < static_cast<OpId>(w_.g.ops.size()); ++o) forward(o);
    for (OpId o = static_cast<OpId>(w_.g.ops.size()) - 1; o >= 0; --o) sweep(o);
    if (!free_)
      for (OpId o = static_cast<OpId>(w_.g.ops.size()) - 1; o >= 0; --o) pass_backward(o);
  }

 private:
  enum class Kind { parameter, anywhere, activation };

  Kind kind_of(TensorId t) const {
    const ValueKind k = w_.kind(t);
    if (k == ValueKind::parameter) return Kind::parameter;
    if (k != ValueKind::computed) return Kind::anywhere;
    const OpId producer = w_.g.tensors[static_cast<std::size_t>(t)].producer;
    return producer >= 0 && w_.op(producer).parameter_free ? Kind::anywhere : Kind::activation;
  }

  double bytes(TensorId t) const { return static_cast<double>(w_.g.bytes(t)); }
  bool gradient(TensorId t) const { return w_.g.tensors[static_cast<std::size_t>(t)].gradient; }
  std::int64_t size(OpId o) const { return w_.size_at(w_.op_place[static_cast<std::size_t>(o)], axis_); }

  // --- states by number

  StateId intern(Held h) {
    const auto known = std::find(states_.begin(), states_.end(), h);
    if (known != states_.end()) return static_cast<StateId>(known - states_.begin());
    states_.push_back(std::move(h));
    return static_cast<StateId>(states_.size()) - 1;
  }
  const Held& at(StateId s) const { return states_[static_cast<std::size_t>(s)]; }
  const std::vector<StateId>& held(TensorId t) const { return states(held_[static_cast<std::size_t>(t)]); }

  const std::vector<StateId>& states(StatesId s) const { return lists_[static_cast<std::size_t>(s)]; }
  StatesId with(StatesId list, StateId more) {
    const auto [it, fresh] = longer_.try_emplace({list, more}, static_cast<StatesId>(lists_.size()));
    if (!fresh) return it->second;
    lists_.push_back(states(list));
    lists_.back().push_back(more);
    return it->second;
  }

  Bound bound_by(OpId o, AxisBinding b) {
    const Op& op = w_.op(o);
    Bound out;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const int input = static_cast<int>(i);
      out.reads.push_back(intern(joined(state(op, op.inputs[i], input, b), size(o))));
      out.contributions.push_back(gradient(op.inputs[i].tensor) ? intern(joined(contribution(op, input, b), size(o)))
                                                                : -1);
    }
    for (const Operand& x : op.outputs) out.writes.push_back(intern(joined(state(op, x, -1, b), size(o))));
    out.binding = w_.intern(b);
    return out;
  }

  // Operators with equal keys bind alike.
  const std::vector<std::int64_t>& key_of(OpId o) {
    key_.assign({w_.kinds[static_cast<std::size_t>(o)]});
    for (const Operand& in : w_.op(o).inputs) key_.push_back(held_[static_cast<std::size_t>(in.tensor)]);
    return key_;
  }

  // Bytes moved from one state to another; `running`: sums over a free axis, and blocks put together, cost nothing (gradients).
  double move_cost(const Held& from, const Held& to, double bytes, std::int64_t n, bool running) const {
    if (from == to || from == with_own(to)) return 0;
    const double share = bytes * static_cast<double>(n - 1) / static_cast<double>(n);
    if (!from.partials.empty()) {
      if (free_) return running ? 0 : kBarrier;
      return to.splits.empty() ? 2 * share : share;
    }
    if (from.splits.empty()) return 0;  // slice, or keep on one block
    if (free_) return running ? 0 : kBarrier;
    return to.splits.empty() ? share : share / static_cast<double>(n);
  }

  double operand_cost(OpId o, int input, const AxisBinding& b) const {
    const Op& op = w_.op(o);
    const Operand& operand = op.inputs[static_cast<std::size_t>(input)];
    const TensorId t = operand.tensor;
    const std::int64_t n = size(o);
    const Held want = state(op, operand, input, b), back = contribution(op, input, b);
    const Kind kind = kind_of(t);
    if (kind == Kind::anywhere) return 0;
    const std::vector<StateId>& states = held(t);
    if (kind == Kind::parameter) {
      double cost = 0;
      if (!states.empty() && at(states.front()) != dual(want)) cost += bytes(t);
      if (gradient(t)) cost += move_cost(back, dual(back), bytes(t), n, true);
      return cost;
    }
    double cost = states.empty() ? 0 : kBarrier * 10;
    for (const StateId s : states) cost = std::min(cost, move_cost(at(s), want, bytes(t), n, false));
    if (gradient(t) && !states.empty()) cost += move_cost(back, dual(at(states.front())), bytes(t), n, true);
    return cost;
  }

  double cost(OpId o, const AxisBinding& b) const {
    const Op& op = w_.op(o);
    double total = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) total += operand_cost(o, static_cast<int>(i), b);
    for (const Operand& out : op.outputs) {
      const Held h = state(op, out, -1, b);
      if (!h.partials.empty() && !w_.g.tensors[static_cast<std::size_t>(out.tensor)].readers.empty())
        total += free_ ? kBarrier / 10 : move_cost(h, Held{}, bytes(out.tensor), size(o), false);
    }
    return total;
  }

  // Its log-sum-exps are of whole operands.
  bool softmax_in_blocks(OpId o) const {
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a)
      if (const int f = w_.d.split(o, a).factor;
          f >= 0 && w_.op(o).factors[static_cast<std::size_t>(f)].kind == FactorKind::softmax)
        return true;
    return false;
  }

  // Whether the axis splits an operator that the tensor depends on. Then it is whole only once all parts have been computed.
  bool depends_on_split(TensorId tensor) const {
    std::set<OpId> seen;
    std::vector<TensorId> open = {tensor};
    while (!open.empty()) {
      const OpId producer = w_.g.tensors[static_cast<std::size_t>(open.back())].producer;
      open.pop_back();
      if (producer < 0 || !seen.insert(producer).second) continue;
      if (w_.binding(producer, axis_).bound()) return true;
      for (const Operand& in : w_.op(producer).inputs) open.push_back(in.tensor);
    }
    return false;
  }

  // A partial value passes through an operator that is linear in a set of operands which are all partial over the same digits, if it
  // has no other reader and no result is larger. Where the result is a scalar, as a loss with a penalty on weights, operands of the
  // set that are whole and depend on nothing split are converted to partial values.
  bool try_pass(OpId o, AxisBinding& b) const {
    const Op& op = w_.op(o);
    if (softmax_in_blocks(o)) return false;
    for (std::size_t s = 0; s < op.linear.size(); ++s) {
      const std::vector<int>& set = op.linear[s];
      const std::vector<std::pair<LogicalDigit, PartialKind>>* common = nullptr;
      bool fits = !set.empty();
      double in = 0;
      std::vector<TensorId> whole;
      for (const int i : set) {
        const TensorId t = op.inputs[static_cast<std::size_t>(i)].tensor;
        const std::vector<StateId>& states = held(t);
        if (op.outputs[0].map.empty() && is_whole(t)) {
          whole.push_back(t);
          continue;
        }
        fits = fits && kind_of(t) == Kind::activation && states.size() == 1 && !at(states[0]).partials.empty() &&
               at(states[0]).splits.empty() && w_.g.tensors[static_cast<std::size_t>(t)].readers.size() == 1 &&
               uses(op, t) == 1 && (!common || *common == at(states[0]).partials);
        if (!fits) break;
        common = &at(states[0]).partials;
        for (const auto& [digit, kind] : *common) fits = fits && kind == PartialKind::sum;
        in = std::max(in, bytes(t));
      }
      if (!fits || !common) continue;
      if (std::any_of(whole.begin(), whole.end(), [&](TensorId t) { return depends_on_split(t); })) continue;
      for (const Operand& out : op.outputs) fits = fits && bytes(out.tensor) <= in;
      if (!fits) continue;
      b.factors.clear();
      b.pass = static_cast<int>(s);
      b.pass_digits.clear();
      for (const auto& [digit, kind] : *common) b.pass_digits.push_back(digit);
      b.origin = Origin::pass;
      return true;
    }
    return false;
  }

  bool is_whole(TensorId t) const {
    const std::vector<StateId>& states = held(t);
    return kind_of(t) == Kind::anywhere ||
           (states.size() == 1 && at(states[0]).partials.empty() && at(states[0]).splits.empty());
  }

  static int uses(const Op& op, TensorId t) {
    return static_cast<int>(
        std::count_if(op.inputs.begin(), op.inputs.end(), [&](const Operand& o) { return o.tensor == t; }));
  }

  // The binding under which `o` holds operand states as they are: digits at locations become factor parts.
  std::optional<AxisBinding> binding_from(const Op& op, const Operand& o, const Held& h) const {
    AxisBinding b;
    for (const auto& [digit, at] : h.splits) {
      if (at.part == kByKey) {
        for (int f = 0; f < static_cast<int>(op.factors.size()); ++f)
          if (op.factors[static_cast<std::size_t>(f)].key == at.key && selected_dim(op, o, f) == at.dim)
            b.factors.push_back({digit, f, 0});
        continue;
      }
      const PartRef r = o.map[static_cast<std::size_t>(at.dim)][static_cast<std::size_t>(at.part)];
      if (r.factor < 0) continue;
      const FactorKind kind = op.factors[static_cast<std::size_t>(r.factor)].kind;
      if (kind == FactorKind::frozen || kind == FactorKind::softmax) continue;  // a softmax in blocks is only asked for
      if (kind == FactorKind::merge && w_.d.axes[static_cast<std::size_t>(axis_)].free) continue;
      b.factors.push_back({digit, r.factor, r.part});
    }
    if (b.factors.empty()) return std::nullopt;
    if (const auto prefix = prefix_of(w_, op, axis_, b.factors)) b.factors.push_back(*prefix);
    return b;
  }

  // What follow compares, in order.
  std::vector<std::pair<AxisBinding, double>> candidates(OpId o) const {
    const Op& op = w_.op(o);
    std::vector<std::pair<AxisBinding, double>> out;
    const auto add = [&](AxisBinding b) {
      for (const auto& [known, cost] : out)
        if (known.factors == b.factors) return;
      const double k = cost(o, b);
      out.emplace_back(std::move(b), k);
    };
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const TensorId t = op.inputs[i].tensor;
      if (kind_of(t) == Kind::anywhere) continue;
      for (const StateId h : held(t)) {
        if (at(h).whole())
          add(AxisBinding{});
        else if (auto b = binding_from(op, op.inputs[i], at(h)))
          add(*b);
      }
    }
    add(AxisBinding{});
    return out;
  }

  static bool cheaper(const std::pair<AxisBinding, double>& a, const std::pair<AxisBinding, double>& b) {
    return a.second < b.second;
  }

  void follow(OpId o, AxisBinding& out) const {
    if (try_pass(o, out)) return;
    const auto all = candidates(o);
    out.factors = std::min_element(all.begin(), all.end(), cheaper)->first.factors;
    out.origin = Origin::follow;
  }

  void hold(TensorId t, StateId s) {
    StatesId& list = held_[static_cast<std::size_t>(t)];
    if (std::find(states(list).begin(), states(list).end(), s) == states(list).end()) list = with(list, s);
  }

  const Bound& bind(OpId o) {
    const std::vector<std::int64_t>& key = key_of(o);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    AxisBinding b = w_.binding(o, axis_);
    if (size(o) > 1 && b.statement < 0) follow(o, b);
    return known_.emplace(key, bound_by(o, std::move(b))).first->second;
  }

  void forward(OpId o) {
    const Op& op = w_.op(o);
    if (op.parameter_free) return;
    const Bound& bound = bind(o);
    bound_[static_cast<std::size_t>(o)] = &bound;
    w_.binding_id(o, axis_) = bound.binding;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const TensorId t = op.inputs[i].tensor;
      const Kind k = kind_of(t);
      if (k == Kind::anywhere) continue;
      const Held& want = at(bound.reads[i]);
      if (k == Kind::parameter) hold(t, want.partials.empty() ? bound.reads[i] : intern(dual(want)));
      if (k == Kind::activation && want.partials.empty() && !has_prefix(want)) hold(t, bound.reads[i]);
    }
    for (std::size_t k = 0; k < op.outputs.size(); ++k)
      held_[static_cast<std::size_t>(op.outputs[k].tensor)] = with(0, bound.writes[k]);
  }

  // --- the backward sweep

  bool sweepable(OpId o) const {
    const Op& op = w_.op(o);
    const AxisBinding& b = w_.binding(o, axis_);
    if (op.parameter_free || b.bound() || b.statement >= 0 || size(o) <= 1 || result_count(op) != 1) return false;
    for (const Operand& in : op.inputs)
      if (kind_of(in.tensor) == Kind::activation && !at(held(in.tensor).front()).whole()) return false;
    return true;
  }

  // What all readers of the operator's output want, if they agree and want it split. Blocks that come to a device in turn
  // are made once, where they are at home.
  std::optional<Held> wanted(OpId o) const {
    const TensorId t = w_.op(o).outputs[0].tensor;
    std::optional<Held> want;
    for (const OpId r : w_.g.tensors[static_cast<std::size_t>(t)].readers) {
      const Op& reader = w_.op(r);
      if (reader.parameter_free) continue;
      for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
        if (reader.inputs[i].tensor != t) continue;
        const Held& h = at(bound_[static_cast<std::size_t>(r)]->reads[i]);
        if (h.splits.empty() || !in_own_blocks(h) || !h.partials.empty() || (want && *want != h)) return std::nullopt;
        want = h;
      }
    }
    return want;
  }

  double share(TensorId t, std::int64_t n) const {
    return gradient(t) ? bytes(t) * static_cast<double>(n - 1) / static_cast<double>(n) : 0;
  }

  // Cost of having the output split as wanted: sliced by the reader (its gradient gathered), or made split. Fills
  // `chosen` with the operators that would bind.
  double split_cost(OpId o, const Held& want, std::vector<std::pair<OpId, AxisBinding>>& chosen, int depth) const {
    const Op& op = w_.op(o);
    const std::int64_t n = size(o);
    const double sliced = share(op.outputs[0].tensor, n);
    const auto b = binding_from(op, op.outputs[0], want);
    if (!b || state(op, op.outputs[0], -1, *b) != want || depth > 64) return sliced;
    double made = 0;
    std::vector<std::pair<OpId, AxisBinding>> inner = {{o, *b}};
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const TensorId t = op.inputs[i].tensor;
      const Kind k = kind_of(t);
      if (k == Kind::anywhere) continue;
      const Held need = state(op, op.inputs[i], static_cast<int>(i), *b),
                 back = contribution(op, static_cast<int>(i), *b);
      if (k == Kind::parameter) {
        const std::vector<StateId>& states = held(t);
        if (w_.g.tensors[static_cast<std::size_t>(t)].readers.size() > 1 && !states.empty() && at(states[0]) != need)
          made += bytes(t);
        if (gradient(t)) made += move_cost(back, dual(back), bytes(t), n, true);
        continue;
      }
      const OpId producer = w_.g.tensors[static_cast<std::size_t>(t)].producer;
      const bool chain = need.partials.empty() && !need.splits.empty() && in_own_blocks(need) && producer >= 0 &&
                         sweepable(producer) && w_.g.tensors[static_cast<std::size_t>(t)].readers.size() == 1;
      if (chain)
        made += split_cost(producer, need, inner, depth + 1);
      else if (gradient(t))
        made += move_cost(back, Held{}, bytes(t), n, true);
    }
    if (made >= sliced) return sliced;
    chosen.insert(chosen.end(), inner.begin(), inner.end());
    return made;
  }

  void sweep(OpId o) {
    if (!sweepable(o)) return;
    const std::optional<Held> want = wanted(o);
    if (!want) return;
    std::vector<std::pair<OpId, AxisBinding>> chosen;
    split_cost(o, *want, chosen, 0);
    for (const auto& [op, b] : chosen) {
      AxisBinding own = w_.binding(op, axis_);
      own.factors = b.factors;
      own.origin = Origin::sweep;
      swept_.push_back(bound_by(op, std::move(own)));
      bound_[static_cast<std::size_t>(op)] = &swept_.back();
      w_.binding_id(op, axis_) = swept_.back().binding;
      held_[static_cast<std::size_t>(w_.op(op).outputs[0].tensor)] = with(0, swept_.back().writes[0]);
    }
  }

  // --- partial gradients that pass backward

  void pass_backward(OpId o) {
    const Op& op = w_.op(o);
    const AxisBinding* b = &w_.binding(o, axis_);
    if (op.backward && !b->bound() && size(o) > 1 && result_count(op) == 1 &&
        contribution_[static_cast<std::size_t>(op.outputs[0].tensor)] != 0) {
      const auto& arriving = states(contribution_[static_cast<std::size_t>(op.outputs[0].tensor)]);
      int wanted = -1, count = 0;
      for (std::size_t i = 0; i < op.inputs.size(); ++i)
        if (gradient(op.inputs[i].tensor)) {
          wanted = static_cast<int>(i);
          ++count;
        }
      const Held& first = at(arriving.front());
      bool pass = count == 1 && !first.partials.empty() && first.splits.empty();
      for (const StateId s : arriving) pass = pass && s == arriving.front();
      for (const OpId r : w_.g.tensors[static_cast<std::size_t>(op.outputs[0].tensor)].readers)
        pass = pass && w_.op_place[static_cast<std::size_t>(r)] == w_.op_place[static_cast<std::size_t>(o)];
      bool linear = false;
      for (const auto& set : op.linear) linear = linear || (set.size() == 1 && set[0] == wanted);
      if (pass && linear && bytes(op.inputs[static_cast<std::size_t>(wanted)].tensor) <= bytes(op.outputs[0].tensor)) {
        AxisBinding passing = *b;
        passing.backward_pass = true;
        passing.pass_digits.clear();
        for (const auto& [digit, kind] : first.partials) passing.pass_digits.push_back(digit);
        w_.binding_id(o, axis_) = w_.intern(passing);
        b = &w_.binding(o, axis_);
      }
    }
    if (op.parameter_free || !op.backward) return;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!gradient(op.inputs[i].tensor)) continue;
      StateId s = bound_[static_cast<std::size_t>(o)]->contributions[i];
      if (b->backward_pass) {
        Held h = at(s);
        for (const LogicalDigit& d : b->pass_digits) h.partials.emplace_back(d, PartialKind::sum);
        s = intern(joined(std::move(h), size(o)));
      }
      StatesId& all = contribution_[static_cast<std::size_t>(op.inputs[i].tensor)];
      all = with(all, s);
    }
  }

  Work& w_;
  int axis_;
  bool free_;
  std::deque<Held> states_;                                  // references stay valid
  std::deque<std::vector<StateId>> lists_ = {{}};            // of states
  std::map<std::pair<StatesId, StateId>, StatesId> longer_;  // a list with one more
  std::unordered_map<std::vector<std::int64_t>, Bound, NumbersHash> known_;
  std::vector<std::int64_t> key_;
  std::deque<Bound> swept_;
  std::vector<const Bound*> bound_;     // by operator
  std::vector<StatesId> held_;          // by tensor; the first is as written
  std::vector<StatesId> contribution_;  // by tensor, of its readers
};

}  // namespace

bool bind_axes(Work& w) {
  if (!bind_statements(w)) return false;
  for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a) {
    bool blocks = false;  // else there is nothing to choose
    for (OpId o = 0; o < static_cast<OpId>(w.g.ops.size()) && !blocks; ++o)
      blocks = !w.op(o).parameter_free && w.size_at(w.op_place[static_cast<std::size_t>(o)], a) > 1;
    if (blocks) AxisPass(w, a).run();
  }
  return true;
}

std::vector<FollowCost> compared_bindings(Work& w, OpId op, int axis) {
  if (!bind_statements(w)) return {};
  return AxisPass(w, axis).compare(op);
}

}  // namespace planscope::build
