#include "planner/verify/pieces.h"

#include <algorithm>

#include "engine/base/text.h"
#include "planner/verify/algebra.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

int last_statement(const std::vector<Binding>& bindings, int otherwise) {
  int out = otherwise;
  for (const Binding& b : bindings) out = std::max(out, b.statement);
  return out;
}

std::vector<Digit> digits_of_bindings(const std::vector<Binding>& bindings) {
  std::vector<Digit> out;
  for (const Binding& b : bindings)
    if (b.digit.reach == Reach::own) out.push_back(b.digit);
  return out;
}

// Whether an operator may read what lies before an index: of a factor of which another one's block, cut by the same digit,
// needs no more; or of one whose every element is made by itself, as long as nothing flows back.
bool reads_prefix(const Graph& g, const Op& op, const std::vector<Binding>& bindings, const Binding& b) {
  const Factor& f = at(op.factors, b.factor);
  if (b.part != 0 || is_turned(b.digit)) return false;
  for (const Binding& other : bindings)
    if (other.factor == b.factor && !(other == b)) return false;
  if (f.kind == FactorKind::free && !op.backward) return true;
  if (f.until < 0) return false;
  const Factor& until = at(op.factors, f.until);
  if (!std::equal(f.parts.begin(), f.parts.end(), until.parts.begin(), until.parts.end(),
                  [&](ClassId x, ClassId y) { return at(g.classes, x).size == at(g.classes, y).size; }))
    return false;
  const auto first = std::find_if(bindings.begin(), bindings.end(),
                                  [&](const Binding& x) { return x.factor == f.until && x.part == 0; });
  Digit own = b.digit;
  own.reach = Reach::own;
  return first != bindings.end() && first->digit == own;
}

bool stands_twice(const Operand& operand, int factor, int part) {
  int n = 0;
  for (const auto& dim : operand.map)
    for (const PartRef& r : dim) n += r.factor == factor && r.part == part;
  return n > 1;
}

// Log-sum-exps do not depend on what the results are linear in.
bool independent(const Op& op, const Operand& output, const Binding& b) {
  if (op.log_sums < 0 || &output != &at(op.outputs, op.log_sums)) return false;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i)
    if (has_part(op, at(op.inputs, i), b.factor, b.part) &&
        std::none_of(op.linear.begin(), op.linear.end(),
                     [&](const std::vector<int>& set) { return std::find(set.begin(), set.end(), i) != set.end(); }))
      return false;
  return true;
}

bool is_softmax(const Op& op, const Binding& b) {
  return b.factor >= 0 && at(op.factors, b.factor).kind == FactorKind::softmax;
}

// Why an operator may not be bound like this; empty: it may.
std::string illegal_factor(const Op& op, const Binding& b) {
  const Factor& f = at(op.factors, b.factor);
  const std::string named = "'" + f.name + "'";
  if (!op.known) return "the operator has no rule and cannot be split";
  if (f.kind == FactorKind::frozen) return named + " is frozen" + (f.reason.empty() ? "" : " (" + f.reason + ")");
  for (const auto* list : {&op.inputs, &op.outputs})
    for (const Operand& o : *list)
      if (stands_twice(o, b.factor, b.part))
        return named + " stands twice in one operand: blocks off the diagonal are lost";
  for (const Operand& o : op.outputs)
    if (f.kind == FactorKind::free && !has_part(op, o, b.factor, b.part) && !independent(op, o, b))
      return "an output does not have " + named + ", which is not summed";
  const bool summed =
      f.kind == FactorKind::sum && std::none_of(op.outputs.begin(), op.outputs.end(),
                                                [&](const Operand& o) { return has_part(op, o, b.factor, b.part); });
  for (const Operand& i : op.inputs)
    if (f.kind != FactorKind::free && !summed && i.added && !has_part(op, i, b.factor, b.part))
      return "an operand is added under " + named + ", which is not summed";
  return {};
}

bool legal(const Graph& g, const Program& p, const PieceOp& o, const Site& site, Ledger& ledger) {
  const Op& op = at(g.ops, o.op);
  ledger.obligation();
  if (!pairwise_disjoint(digits_of_bindings(o.bindings))) {
    ledger.fail(FailureKind::layout, site, -1, "every digit of an axis bound at most once", "one is bound twice");
    return false;
  }
  for (const Binding& b : o.bindings) {
    ledger.obligation();
    if (!is_bijection(p, b.digit)) {
      ledger.fail(FailureKind::layout, site, -1, "every block once", "a block index that names some twice");
      return false;
    }
    if (b.factor < 0 &&
        std::any_of(
            o.bindings.begin(), o.bindings.end(), [&](const Binding& other) { return is_softmax(op, other); })) {
      ledger.fail(FailureKind::layout, site, -1, "whole operands under a softmax in blocks",
                  "partial ones, whose log-sum-exps are not");
      return false;
    }
    if (b.digit.reach == Reach::every ||
        (b.digit.reach == Reach::prefix && (b.factor < 0 || !reads_prefix(g, op, o.bindings, b)))) {
      ledger.fail(FailureKind::layout, site, -1, "blocks of its own index, or all that it can need of earlier ones",
                  "others");
      return false;
    }
    if (b.factor < 0) continue;
    if (const std::string why = illegal_factor(op, b); !why.empty()) {
      ledger.fail(FailureKind::layout, site, -1, "a factor that can be split", why);
      return false;
    }
  }
  return true;
}

void check_op(const Graph& g, const Program& p, const Piece& piece, PlaceId place, const PieceOp& o, Ledger& ledger) {
  const Op& op = at(g.ops, o.op);
  const Site site{place, last_statement(o.bindings, -1), name(g, o.op)};
  if (!legal(g, p, o, site, ledger)) return;
  for (int k = 0; k < static_cast<int>(op.inputs.size()); ++k) {
    const PieceSlot& slot = at(piece.slots, at(o.inputs, k));
    ledger.equal(FailureKind::layout, site, slot.tensor, demanded(op, k, o.bindings), at(p.layouts, slot.layout));
  }
  for (int k = 0; k < static_cast<int>(op.outputs.size()); ++k) {
    const PieceSlot& slot = at(piece.slots, o.first_output + k);
    ledger.equal(FailureKind::layout, site, slot.tensor, produced(op, k, o.bindings), at(p.layouts, slot.layout));
  }
}

}  // namespace

void check_pieces(const Graph& g, const Program& p, Ledger& ledger) {
  std::vector<PlaceId> places(p.pieces.size(), -1);  // the first where each runs
  for (const Segment& s : p.segments)
    for (const Instruction& i : s.instructions)
      if (i.piece >= 0 && at(places, i.piece) < 0) places[static_cast<std::size_t>(i.piece)] = s.place;
  for (std::size_t k = 0; k < p.pieces.size(); ++k)
    for (const PieceOp& o : p.pieces[k].ops) check_op(g, p, p.pieces[k], places[k], o, ledger);
}

Merge merge(GradientState& into, const GradientState& from) {
  if (from.sums.empty()) return Merge::good;
  if (into.sums.empty()) {
    into = from;
    return Merge::good;
  }
  if (into.partials != from.partials) return Merge::layouts_differ;
  std::vector<int> both;
  both.reserve(into.sums.size() + from.sums.size());
  std::merge(into.sums.begin(), into.sums.end(), from.sums.begin(), from.sums.end(), std::back_inserter(both));
  const bool twice = std::adjacent_find(both.begin(), both.end()) != both.end();
  both.erase(std::unique(both.begin(), both.end()), both.end());
  into.sums = std::move(both);
  return twice ? Merge::twice : Merge::good;
}

namespace {

// One backward run of a piece.
class Backward {
 public:
  Backward(const Graph& g, const Program& p, const Contributions& c, PieceId piece, const Site& site, Ledger& ledger)
      : g_(g), p_(p), all_(c), piece_(at(p.pieces, piece)), site_(site), ledger_(ledger), slots_(piece_.slots.size()) {}

  LeafGradients run(const std::vector<GradientState>& given) {
    for (std::size_t k = 0; k < given.size(); ++k) give(piece_.outputs[k], given[k], site_);
    for (auto o = piece_.ops.rbegin(); o != piece_.ops.rend(); ++o) step(*o);
    LeafGradients out;
    slots_.resize(static_cast<std::size_t>(piece_.leaves));
    out.leaves = std::move(slots_);
    out.failed = failed_;
    return out;
  }

 private:
  void fail(const Site& site, TensorId t, std::string expected, std::string got) {
    failed_ = true;
    ledger_.fail(FailureKind::gradient, site, t, std::move(expected), std::move(got));
  }

  Site site(const PieceOp& o) const {
    return {site_.place, last_statement(o.bindings, site_.statement), name(g_, o.op)};
  }

  void give(int slot, const GradientState& state, const Site& site) {
    GradientState& s = slots_[static_cast<std::size_t>(slot)];
    const TensorId t = at(piece_.slots, slot).tensor;
    switch (merge(s, state)) {
      case Merge::good:
        return;
      case Merge::layouts_differ:
        return fail(site, t, "contributions to one gradient that are partial over the same axes",
                    "they are partial over different ones");
      case Merge::twice:
        return fail(site, t, "every contribution to the gradient once", "one is counted twice");
    }
  }

  // The gradient of an operator's output is whole: all contributions, each once, at the indices of the operator.
  bool complete(int slot, const Restriction& at_indices, const Site& site) {
    const TensorId t = at(piece_.slots, slot).tensor;
    ledger_.obligation();
    const std::string problem = all_.problem(at(slots_, slot).sums, t, at_indices);
    if (problem.empty()) return true;
    fail(site, t, "the sum of all contributions to the gradient", problem);
    return false;
  }

  void step(const PieceOp& o) {
    const Op& op = at(g_.ops, o.op);
    if (!op.backward) return;
    const std::vector<Partial>* passing = nullptr;
    bool reached = false;
    for (int k = 0; k < static_cast<int>(op.outputs.size()); ++k)
      reached = reached || !at(slots_, o.first_output + k).sums.empty();
    if (!reached) return;
    const Site here = site(o);
    const Restriction at_indices = restriction(p_, o.bindings);
    for (int k = 0; k < static_cast<int>(op.outputs.size()); ++k) {
      const int slot = o.first_output + k;
      const TensorId t = at(piece_.slots, slot).tensor;
      if (at(slots_, slot).sums.empty() && all_.of(t).empty()) continue;
      if (!complete(slot, at_indices, here)) return;
      const std::vector<Partial>& partials = at(slots_, slot).partials;
      if (passing && *passing != partials)
        return fail(here, t, "gradients of all outputs partial over the same axes",
                    "they are partial over different ones");
      passing = &partials;
    }
    pass_on(o, op, *passing, at_indices, here);
  }

  void pass_on(const PieceOp& o, const Op& op, const std::vector<Partial>& passing, const Restriction& at_indices,
               const Site& here) {
    for (const Partial& x : passing)
      for (const Binding& b : o.bindings)
        if ((b.digit.reach == Reach::own && !disjoint(x.digit, b.digit)) || x.kind != PartialKind::sum) {
          Layout got;
          got.partials = passing;
          const TensorId t = at(op.outputs, 0).tensor;
          return fail(here, t, "a gradient that is complete over the axes to which the operator is bound",
                      ledger_.layout(got, t));
        }
    for (int k = 0; k < static_cast<int>(op.inputs.size()); ++k) {
      const Operand& in = at(op.inputs, k);
      if (!at(g_.tensors, in.tensor).gradient) continue;
      GradientState s{passing, {all_.id(o.op, k, at_indices)}};
      const Layout& forward = at(p_.layouts, at(piece_.slots, at(o.inputs, k)).layout);
      for (const Binding& b : o.bindings) {
        if (b.digit.reach == Reach::prefix) continue;  // split, or nothing of what it does not see
        const bool split = b.factor >= 0 && has_part(op, in, b.factor, b.part);
        const bool partial = std::any_of(forward.partials.begin(), forward.partials.end(),
                                         [&](const Partial& x) { return !disjoint(x.digit, b.digit); });
        if (!split && !partial) s.partials.push_back({plain(b.digit), PartialKind::sum});
      }
      s.partials = canonical({{}, s.partials}).partials;
      give(at(o.inputs, k), s, here);
    }
  }

  const Graph& g_;
  const Program& p_;
  const Contributions& all_;
  const Piece& piece_;
  Site site_;
  Ledger& ledger_;
  std::vector<GradientState> slots_;
  bool failed_ = false;
};

}  // namespace

LeafGradients run_backward(const Graph& g, const Program& p, const Contributions& c, PieceId piece,
                           const std::vector<GradientState>& given, const Site& site, Ledger& ledger) {
  return Backward(g, p, c, piece, site, ledger).run(given);
}

}  // namespace planscope::verification
