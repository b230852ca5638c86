#include "planner/verify/gradients.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/program/bucket.h"
#include "engine/program/transfer.h"
#include "planner/verify/algebra.h"
#include "planner/verify/equivalence.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

// What a gradient value sums; `order` is a digest of the order in which its terms are added.
struct Sum {
  std::vector<int> terms;
  std::uint64_t order = 0;
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return digest(std::string_view(reinterpret_cast<const char*>(&b), sizeof b), a);
}

class GradientCheck {
 public:
  GradientCheck(const Graph& g, const Program& p, const Makers& m, Ledger& ledger)
      : g_(g),
        p_(p),
        makers_(m),
        ledger_(ledger),
        all_(g, p),
        sums_(p.values.size()),
        state_(p.values.size(), State::unseen) {}

  void run() {
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p_.values.size()); ++v)
      if (at(p_.values, v).role == Role::gradient) derive(v);
    updates();
  }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  const Instruction* maker(ProgramValueId v) const {
    const CodePoint& c = at(makers_.of, v);
    return c.segment < 0 ? nullptr : &at(at(p_.segments, c.segment).instructions, c.instruction);
  }

  Site site(ProgramValueId v) const {
    const CodePoint& c = at(makers_.of, v);
    const Segment& s = at(p_.segments, c.segment);
    const Instruction& i = at(s.instructions, c.instruction);
    return {s.place, i.statement, name(p_, s, i)};
  }

  // The gradients from which `v` is made.
  std::vector<ProgramValueId> sources(ProgramValueId made, const Instruction& i) const {
    std::vector<ProgramValueId> out;
    if (i.code == Code::receive) {
      out.push_back(sent_as(p_, i, made));
    } else if (i.code == Code::issue) {
      const auto k = std::find(i.out.begin(), i.out.end(), made) - i.out.begin();
      const auto operands = operands_of(i, static_cast<std::size_t>(k));
      out.assign(operands.begin(), operands.end());
    } else if (i.code != Code::seed) {
      for (const ProgramValueId v : i.in)
        if (v >= 0) out.push_back(v);
    }
    std::erase_if(out, [&](ProgramValueId v) { return at(p_.values, v).role != Role::gradient; });
    return out;
  }

  // Depth first with a stack of its own: chains are as long as the model is deep.
  void derive(ProgramValueId root) {
    std::vector<ProgramValueId> stack{root};
    while (!stack.empty()) {
      const ProgramValueId v = stack.back();
      State& state = state_[static_cast<std::size_t>(v)];
      const Instruction* i = maker(v);
      if (state == State::done || i == nullptr) {
        state = State::done;
        stack.pop_back();
        continue;
      }
      const bool first = state == State::unseen;
      state = State::open;
      bool waiting = false;
      for (const ProgramValueId s : sources(v, *i)) {
        const State of = at(state_, s);
        if (of == State::unseen) {
          stack.push_back(s);
          waiting = true;
        } else if (of == State::open && first) {
          ledger_.fail(FailureKind::order, site(v), at(p_.values, v).tensor, "a gradient made from earlier ones",
                       "one made from itself");
          state_[static_cast<std::size_t>(v)] = State::done;
        }
      }
      if (waiting) continue;
      make(v, *i);
      state_[static_cast<std::size_t>(v)] = State::done;
      stack.pop_back();
    }
  }

  void make(ProgramValueId v, const Instruction& i) {
    Sum& sum = sums_[static_cast<std::size_t>(v)];
    switch (i.code) {
      case Code::seed:
        sum = {{all_.seed()}, digest("seed")};
        return;
      case Code::add:
        return add(v, i);
      case Code::backward:
        return backward(i);
      default:
        if (const auto from = sources(v, i); from.size() == 1) sum = at(sums_, from[0]);
    }
  }

  void add(ProgramValueId v, const Instruction& i) {
    GradientState total;
    Sum& sum = sums_[static_cast<std::size_t>(v)];
    sum.order = digest("add");
    bool twice = false;
    for (const ProgramValueId from : i.in) {
      twice = merge(total, {{}, at(sums_, from).terms}) == Merge::twice || twice;
      sum.order = mix(sum.order, at(sums_, from).order);
    }
    sum.terms = std::move(total.sums);
    ledger_.obligation();
    if (twice)
      ledger_.fail(FailureKind::gradient, site(v), at(p_.values, v).tensor, "every contribution to the gradient once",
                   "one is added twice");
  }

  void backward(const Instruction& i) {
    const Piece& piece = at(p_.pieces, i.piece);
    ProgramValueId some = -1;
    for (const ProgramValueId v : i.out)
      if (v >= 0) some = v;
    const Site here = site(some);
    std::vector<GradientState> given(piece.outputs.size());
    for (std::size_t k = 0; k < given.size(); ++k)
      if (i.in[k] >= 0 && !take(piece, piece.outputs[k], i.in[k], here, given[k])) return done(i);
    const LeafGradients result = run_backward(g_, p_, all_, i.piece, given, here, ledger_);
    if (!result.failed)
      for (std::size_t k = 0; k < i.out.size(); ++k)
        if (i.out[k] >= 0) leaf(piece.slots[k], result.leaves[k], i.out[k], here);
    done(i);
  }

  void done(const Instruction& i) {
    for (const ProgramValueId v : i.out)
      if (v >= 0) state_[static_cast<std::size_t>(v)] = State::done;
  }

  // The gradient that is handed to a result of the piece: split as the result is, whole where that is partial.
  bool take(const Piece& piece, int slot, ProgramValueId v, const Site& here, GradientState& out) {
    const ProgramValue& value = at(p_.values, v);
    const PieceSlot& result = at(piece.slots, slot);
    if (value.tensor != result.tensor || value.role != Role::gradient) {
      ledger_.fail(FailureKind::gradient, here, result.tensor, "the gradient of " + ledger_.tensor(result.tensor),
                   "that of " + ledger_.tensor(value.tensor));
      return false;
    }
    const Layout& layout = at(p_.layouts, value.layout);
    Layout dual{at(p_.layouts, result.layout).splits, layout.partials};
    if (!ledger_.equal(FailureKind::gradient, here, value.tensor, dual, layout)) return false;
    for (const Partial& x : layout.partials)
      for (const Digit& d : digits_of(at(p_.layouts, result.layout)))
        if (!disjoint(x.digit, d)) {
          dual.partials.clear();
          return ledger_.equal(FailureKind::gradient, here, value.tensor, dual, layout);
        }
    if (at(sums_, v).terms.empty()) {
      ledger_.fail(FailureKind::gradient, here, value.tensor, "a gradient that sums contributions",
                   "one that sums none");
      return false;
    }
    out = {layout.partials, at(sums_, v).terms};
    return true;
  }

  void leaf(const PieceSlot& slot, const GradientState& state, ProgramValueId v, const Site& here) {
    const ProgramValue& value = at(p_.values, v);
    if (value.tensor != slot.tensor) {
      ledger_.fail(FailureKind::gradient, here, slot.tensor, "the gradient of " + ledger_.tensor(slot.tensor),
                   "that of " + ledger_.tensor(value.tensor));
      return;
    }
    if (state.sums.empty()) {
      ledger_.fail(FailureKind::gradient, here, slot.tensor, "a gradient where one flows",
                   "none reaches this operand in the piece");
      return;
    }
    ledger_.equal(FailureKind::gradient, here, slot.tensor, {at(p_.layouts, slot.layout).splits, state.partials},
                  at(p_.layouts, value.layout));
    Sum& sum = sums_[static_cast<std::size_t>(v)];
    sum.terms = state.sums;
    sum.order = digest("piece");
    for (const int t : state.sums) sum.order = mix(sum.order, static_cast<std::uint64_t>(t));
  }

  struct Updated {
    ProgramValueId home = -1;
    std::uint64_t order = 0;
  };

  void updates() {
    std::vector<std::vector<Updated>> homes(g_.tensors.size());
    for (const Segment& s : p_.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code != Code::update || at(p_.values, i.in[1]).role != Role::gradient) continue;
        const TensorId t = at(p_.values, i.in[0]).tensor;
        const Sum& sum = at(sums_, i.in[1]);
        ledger_.obligation();
        const Site here{s.place, i.statement, name(p_, s, i)};
        if (const std::string problem = all_.problem(sum.terms, t, {}); !problem.empty())
          ledger_.fail(FailureKind::gradient, here, t, "the sum of all contributions to the gradient", problem);
        auto& of = homes[static_cast<std::size_t>(t)];
        if (!of.empty() && of.front().order != sum.order)
          ledger_.fail(FailureKind::update, here, t,
                       "gradients added in the same order wherever the parameter is stored",
                       "another order than on " + ledger_.devices(at(p_.values, of.front().home).place));
        of.push_back({i.in[0], sum.order});
      }
  }

  const Graph& g_;
  const Program& p_;
  const Makers& makers_;
  Ledger& ledger_;
  Contributions all_;
  std::vector<Sum> sums_;
  std::vector<State> state_;
};

}  // namespace

void check_gradients(const Graph& g, const Program& p, const Makers& m, Ledger& ledger) {
  GradientCheck(g, p, m, ledger).run();
}

void check_goals(const Graph& g, const Program& p, Ledger& ledger) {
  std::vector<bool> updated(p.values.size(), false), stored(g.tensors.size(), false);
  for (const Segment& s : p.segments)
    for (const Instruction& i : s.instructions)
      if (i.code == Code::update) updated[static_cast<std::size_t>(i.in[0])] = true;
  for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p.values.size()); ++v) {
    const ProgramValue& value = at(p.values, v);
    if (value.role != Role::home || !is_updated(g, value.tensor)) continue;
    stored[static_cast<std::size_t>(value.tensor)] = true;
    ledger.obligation();
    if (!updated[static_cast<std::size_t>(v)])
      ledger.fail(FailureKind::update, {value.place, -1, "update"}, value.tensor, "an update of the stored parameter",
                  "none");
  }
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    if (is_updated(g, t) && !stored[static_cast<std::size_t>(t)]) {
      ledger.obligation();
      ledger.fail(FailureKind::update, {-1, -1, "update"}, t, "a place where the parameter is stored and updated",
                  "none");
    }
  ledger.obligation();
  if (g.model->loss < 0) return ledger.fail(FailureKind::unproved, {}, -1, "a model with a loss", "it has none");
  if (p.loss < 0) return ledger.fail(FailureKind::loss, {}, g.model->loss, "a value that holds the loss", "none");
  const ProgramValue& loss = at(p.values, p.loss);
  const Site here{loss.place, -1, "loss"};
  if (loss.tensor != g.model->loss || loss.role != Role::data)
    return ledger.fail(FailureKind::loss, here, loss.tensor, "the value of " + g.tensor_name(g.model->loss),
                       "another value");
  if (!loss.indexed.empty())
    ledger.fail(FailureKind::loss, here, loss.tensor, "one loss a step",
                "one for every " + at(p.axes, loss.indexed[0]).name);
  ledger.equal(FailureKind::loss, here, loss.tensor, {}, at(p.layouts, loss.layout));
}

}  // namespace planscope::verification
