#include "planner/verify/equivalence.h"

#include <algorithm>
#include <map>

#include "planner/verify/algebra.h"
#include "planner/verify/indices.h"
#include "planner/verify/pieces.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

std::string role_text(Role r) {
  return r == Role::gradient ? "a gradient"
         : r == Role::home   ? "a stored parameter"
         : r == Role::state  ? "the state of an optimizer"
                             : "a value of the forward pass";
}

class InstructionCheck {
 public:
  InstructionCheck(const Graph& g, const Program& p, const Makers& m, Ledger& ledger)
      : g_(g), p_(p), makers_(m), ledger_(ledger), combined_(p.values.size(), false) {
    for (const Segment& s : p.segments)  // the last of a chain of reductions first
      for (auto i = s.instructions.rbegin(); i != s.instructions.rend(); ++i)
        if (i->code == Code::issue && i->move.kind == MoveKind::all_reduce)
          for (std::size_t k = 0; k < i->out.size(); ++k) {
            if (!merges(layout_of(i->out[k])) || combined_[static_cast<std::size_t>(i->out[k])])
              combined_[static_cast<std::size_t>(i->in[k])] = true;
            if (merges(layout_of(i->in[k]))) ++reductions_[i->in[k]];
          }
  }

  void run() {
    for (const Segment& s : p_.segments)
      for (const Instruction& i : s.instructions) check(s, i);
    all_added();
  }

 private:
  const ProgramValue& value(ProgramValueId v) const { return at(p_.values, v); }
  const Layout& layout_of(ProgramValueId v) const { return at(p_.layouts, value(v).layout); }

  Site site(const Segment& s, const Instruction& i) const { return {s.place, i.statement, name(p_, s, i)}; }

  void fail(FailureKind kind, const Segment& s, const Instruction& i, TensorId t, std::string expected,
            std::string got) {
    ledger_.fail(kind, site(s, i), t, std::move(expected), std::move(got));
  }

  // Values are on the devices of the segment and have one instance for each of its runs at most.
  bool local(const Segment& s, const Instruction& i) {
    for (const auto* list : {&i.in, &i.out})
      for (const ProgramValueId id : *list) {
        if (id < 0) continue;
        const ProgramValue& v = value(id);
        if (!same_place(p_, v.place, s.place)) {
          fail(FailureKind::layout, s, i, v.tensor, "a value on " + ledger_.devices(s.place),
               "one on " + ledger_.devices(v.place));
          return false;
        }
        if (!subset(v.indexed, s.free_axes)) {
          fail(FailureKind::layout, s, i, v.tensor, "a value that is one at each index of the segment",
               "one that has an instance for each of several indices");
          return false;
        }
      }
    return true;
  }

  bool role(const Segment& s, const Instruction& i, ProgramValueId id, bool good, const char* expected) {
    if (good) return true;
    fail(FailureKind::layout, s, i, value(id).tensor, expected, role_text(value(id).role));
    return false;
  }

  bool same_tensor(const Segment& s, const Instruction& i, ProgramValueId a, ProgramValueId b) {
    if (value(a).tensor == value(b).tensor) return true;
    fail(FailureKind::layout, s, i, value(b).tensor, "the tensor " + ledger_.tensor(value(a).tensor),
         ledger_.tensor(value(b).tensor));
    return false;
  }

  void check(const Segment& s, const Instruction& i) {
    ledger_.obligation();
    if (!local(s, i) || !states_where_they_may_be(s, i)) return;
    switch (i.code) {
      case Code::load:
        return load(s, i);
      case Code::compute:
      case Code::replay:
        return compute(s, i);
      case Code::backward:
        return backward(s, i);
      case Code::seed:
        return seed(s, i);
      case Code::add:
        return add(s, i);
      case Code::accumulate:
        return accumulate(s, i);
      case Code::local:
      case Code::issue:
        return moves(s, i);
      case Code::wait:
        return wait(s, i);
      case Code::send:
        return send(s, i);
      case Code::receive:
        return receive(s, i);
      case Code::update:
        return update(s, i);
      case Code::free:
        return;
      case Code::offload:
      case Code::restore:
        return host_copy(s, i);
      case Code::write:
        return;  // buffers.h
    }
  }

  // The state of an optimizer is the third operand of an update, and moves between the device and host memory.
  bool states_where_they_may_be(const Segment& s, const Instruction& i) {
    const bool moves = (i.code == Code::offload || i.code == Code::restore) && i.piece < 0;
    for (const auto* list : {&i.in, &i.out})
      for (std::size_t k = 0; k < list->size(); ++k) {
        if ((*list)[k] < 0) continue;
        const bool wanted = moves || (i.code == Code::update && list == &i.in && k == 2);
        const ProgramValue& v = value((*list)[k]);
        if ((v.role == Role::state) == wanted) continue;
        fail(FailureKind::update, s, i, v.tensor,
             wanted ? "the state of an optimizer" : "no state of an optimizer but in its update", role_text(v.role));
        return false;
      }
    return true;
  }

  void host_copy(const Segment& s, const Instruction& i) {
    if (i.piece < 0) {  // when: order.h
      if (!s.free_axes.empty())
        fail(FailureKind::update, s, i, -1, "one move of the optimizer's state a step",
             "one at every index of the segment");
      return;
    }
    const CodePoint& kept = at(makers_.kept, i.piece);
    if (kept.segment < 0)
      return fail(FailureKind::gradient, s, i, -1, "a piece that was kept for its backward", "none");
    const Segment& forward = at(p_.segments, kept.segment);
    if (!same_place(p_, forward.place, s.place) ||
        without(forward.free_axes, s.free_axes) != without(s.free_axes, forward.free_axes))
      fail(FailureKind::gradient, s, i, -1, "host copies where the piece was run in " + forward.name, "elsewhere");
  }

  void load(const Segment& s, const Instruction& i) {
    const ProgramValue& v = value(i.out[0]);
    if (!role(s, i, i.out[0], v.role == Role::data, "a value of the forward pass")) return;
    const ValueKind kind = at(g_.model->values, v.tensor).kind;
    const bool stored =
        at(g_.tensors, v.tensor).producer < 0 && kind != ValueKind::computed && !is_updated(g_, v.tensor);
    if (!stored)
      fail(FailureKind::layout, s, i, v.tensor, "an input or a constant", "a tensor that is computed or updated");
    if (is_partial(layout_of(i.out[0])) || is_keyed(layout_of(i.out[0])) || holds_every(layout_of(i.out[0])))
      fail(FailureKind::layout, s, i, v.tensor, "a slice of the input", ledger_.layout(layout_of(i.out[0]), v.tensor));
  }

  void slot(const Segment& s, const Instruction& i, const PieceSlot& want, ProgramValueId id) {
    const TensorId t = value(id).tensor;
    if (t != want.tensor) {
      fail(FailureKind::layout, s, i, t, "the tensor " + ledger_.tensor(want.tensor), ledger_.tensor(t));
      return;
    }
    const Site here = site(s, i);
    ledger_.equal(FailureKind::layout, {here.place, here.statement, reader(at(p_.pieces, i.piece), want, here.op)}, t,
                  at(p_.layouts, want.layout), layout_of(id));
  }

  // The operator at fault where a leaf is wrong: its first reader in the piece; for results, their writer.
  std::string reader(const Piece& piece, const PieceSlot& slot, const std::string& otherwise) const {
    const int id = static_cast<int>(&slot - piece.slots.data());
    for (const PieceOp& o : piece.ops) {
      if (std::find(o.inputs.begin(), o.inputs.end(), id) != o.inputs.end() && id < piece.leaves) return name(g_, o.op);
      const int outputs = static_cast<int>(at(g_.ops, o.op).outputs.size());
      if (id >= o.first_output && id < o.first_output + outputs) return name(g_, o.op);
    }
    return otherwise;
  }

  void compute(const Segment& s, const Instruction& i) {
    const Piece& piece = at(p_.pieces, i.piece);
    for (std::size_t k = 0; k < i.in.size(); ++k) {
      if (!role(s, i, i.in[k], value(i.in[k]).role != Role::gradient, "a value of the forward pass")) continue;
      slot(s, i, piece.slots[k], i.in[k]);
    }
    for (std::size_t k = 0; k < i.out.size(); ++k) {
      if (!role(s, i, i.out[k], value(i.out[k]).role == Role::data, "a value of the forward pass")) continue;
      slot(s, i, at(piece.slots, piece.outputs[k]), i.out[k]);
    }
    bound_here(s, i, piece);
  }

  // Every axis to which an operator is bound has a coordinate where the piece runs.
  void bound_here(const Segment& s, const Instruction& i, const Piece& piece) {
    for (const PieceOp& o : piece.ops)
      for (const Binding& b : o.bindings)
        if (!has_coordinate(p_, b.digit, at(p_.places, s.place), s.free_axes)) {
          ledger_.fail(FailureKind::layout, {s.place, std::max(b.statement, i.statement), name(g_, o.op)}, -1,
                       "a binding to an axis of the segment", "one to " + at(p_.axes, b.digit.axis).name);
          return;
        }
  }

  void backward(const Segment& s, const Instruction& i) {
    const Piece& piece = at(p_.pieces, i.piece);
    const CodePoint& kept = at(makers_.kept, i.piece);
    if (!piece.gradient || kept.segment < 0) {
      fail(FailureKind::gradient, s, i, -1, "a piece that was run and kept for its backward", "none was");
      return;
    }
    const Segment& forward = at(p_.segments, kept.segment);
    if (!same_place(p_, forward.place, s.place) ||
        without(forward.free_axes, s.free_axes) != without(s.free_axes, forward.free_axes))
      fail(FailureKind::gradient, s, i, -1, "backward at the places and indices of the forward run in " + forward.name,
           "others");
    // What the first one reads serves all: the executor computes gradients of parameters from what that has left.
    const auto [first, fresh] = backwards_.emplace(i.piece, &i);
    if (!fresh && first->second->in != i.in)
      fail(FailureKind::gradient, s, i, -1, "the gradients that the other backward of this piece reads", "others");
    const std::vector<int> wholes = softmax_outputs(g_, p_, piece);
    const std::size_t gradients = piece.outputs.size();
    for (std::size_t k = 0; k < i.in.size(); ++k)
      if (k >= gradients)
        whole_softmax(s, i, at(piece.slots, at(piece.outputs, wholes[k - gradients])), i.in[k]);
      else if (i.in[k] >= 0)
        role(s, i, i.in[k], value(i.in[k]).role == Role::gradient, "a gradient");
    for (const ProgramValueId v : i.out)
      if (v >= 0) role(s, i, v, value(v).role == Role::gradient, "a gradient");
    whole_results(s, i, piece, at(forward.instructions, kept.instruction));
    every_softmax(s, i, piece);
  }

  // Backward over blocks of a softmax is written on what they have been joined to.
  void whole_softmax(const Segment& s, const Instruction& i, const PieceSlot& slot, ProgramValueId id) {
    if (id < 0 || value(id).tensor != slot.tensor || value(id).role != Role::data)
      return fail(FailureKind::gradient, s, i, slot.tensor, "the whole result for its backward", "another value");
    Layout whole = at(p_.layouts, slot.layout);
    std::erase_if(whole.partials, [](const Partial& x) { return x.kind == PartialKind::softmax; });
    ledger_.equal(FailureKind::gradient, site(s, i), slot.tensor, whole, layout_of(id));
  }

  // An operator over blocks of a softmax gives all of its results out: backward reads what they are joined to.
  void every_softmax(const Segment& s, const Instruction& i, const Piece& piece) {
    for (const PieceOp& o : piece.ops) {
      const Op& op = at(g_.ops, o.op);
      if (!op.backward || op.log_sums < 0) continue;
      for (int k = 0; k < static_cast<int>(op.outputs.size()); ++k) {
        const int slot = o.first_output + k;
        const auto& partials = at(p_.layouts, at(piece.slots, slot).layout).partials;
        const bool softmax = std::any_of(partials.begin(), partials.end(),
                                         [](const Partial& x) { return x.kind == PartialKind::softmax; });
        ledger_.obligation();
        if (softmax && std::find(piece.outputs.begin(), piece.outputs.end(), slot) == piece.outputs.end())
          ledger_.fail(FailureKind::gradient, {s.place, i.statement, name(g_, o.op)}, at(piece.slots, slot).tensor,
                       "the results of all blocks joined before their backward", "a block alone");
      }
    }
  }

  static bool merges(const Layout& l) {
    return std::any_of(l.partials.begin(), l.partials.end(),
                       [](const Partial& x) { return x.kind == PartialKind::merge; });
  }

  // The backward of a partial log-sum-exp is that of the combined one: where it reads its own result, that must have been
  // combined on all devices.
  void whole_results(const Segment& s, const Instruction& i, const Piece& piece, const Instruction& forward) {
    for (const PieceOp& o : piece.ops) {
      const Op& op = at(g_.ops, o.op);
      if (!op.backward) continue;
      for (const int saved : op.saves) {
        const int slot = o.first_output - 1 - saved;
        if (saved >= 0 || -1 - saved >= static_cast<int>(op.outputs.size()) ||
            !merges(at(p_.layouts, at(piece.slots, slot).layout)))
          continue;
        const auto out = std::find(piece.outputs.begin(), piece.outputs.end(), slot) - piece.outputs.begin();
        ledger_.obligation();
        if (out != static_cast<std::ptrdiff_t>(piece.outputs.size()) &&
            reductions_[at(forward.out, static_cast<int>(out))] > 1)
          ledger_.fail(FailureKind::unproved, {s.place, i.statement, name(g_, o.op)}, at(piece.slots, slot).tensor,
                       "a log-sum-exp that is combined in one way", "one that is combined in several");
        if (out == static_cast<std::ptrdiff_t>(piece.outputs.size()) ||
            !combined_[static_cast<std::size_t>(at(forward.out, static_cast<int>(out)))])
          ledger_.fail(FailureKind::gradient, {s.place, i.statement, name(g_, o.op)}, at(piece.slots, slot).tensor,
                       "a log-sum-exp combined on all devices before its backward", "a partial one");
      }
    }
  }

  void seed(const Segment& s, const Instruction& i) {
    const ProgramValue& v = value(i.out[0]);
    if (v.tensor != g_.model->loss || v.role != Role::gradient)
      return fail(FailureKind::gradient, s, i, v.tensor, "the gradient of the loss",
                  role_text(v.role) + " of " + ledger_.tensor(v.tensor));
    ledger_.equal(FailureKind::gradient, site(s, i), v.tensor, Layout{}, layout_of(i.out[0]));
  }

  void add(const Segment& s, const Instruction& i) {
    for (const auto* list : {&i.in, &i.out})
      for (const ProgramValueId v : *list) {
        if (!role(s, i, v, value(v).role == Role::gradient, "a gradient") || !same_tensor(s, i, i.out[0], v)) return;
        ledger_.equal(FailureKind::gradient, site(s, i), value(v).tensor, layout_of(i.out[0]), layout_of(v));
      }
  }

  void accumulate(const Segment& s, const Instruction& i) {
    if (i.out.size() == 1) return combine(s, i, i.in[0], i.out[0], PartialKind::sum);
    if (!weighed(s, i)) return;
    for (std::size_t k = 0; k < i.in.size(); ++k) combine(s, i, i.in[k], i.out[k], PartialKind::softmax);
  }

  // Results and the log-sum-exps that weigh them are those of one run of one operator (which blocks a value is partial over
  // does not say which keys these are of), and whole but for the softmax: the weights of a block are those of all of its
  // results. One instruction joins all blocks.
  bool weighed(const Segment& s, const Instruction& i) {
    const TensorId t = value(i.in[0]).tensor, sums = value(i.in[1]).tensor;
    if (!of_one_run(i.in[0], i.in[1])) {
      fail(FailureKind::communication, s, i, t, "results and the log-sum-exps that weigh them",
           "log-sum-exps of other results");
      return false;
    }
    const auto& partials = layout_of(i.in[0]).partials;
    const bool softmax = std::all_of(partials.begin(), partials.end(), [&](const Partial& x) {
      return x.kind == PartialKind::softmax && at(p_.axes, x.digit.axis).of < 0;
    });
    if (!softmax || partials.empty() || partials != layout_of(i.in[1]).partials ||
        value(i.out[0]).indexed != value(i.out[1]).indexed) {
      fail(FailureKind::communication, s, i, t, "blocks of a softmax with their weights",
           ledger_.layout(layout_of(i.in[0]), t) + " with weights " + ledger_.layout(layout_of(i.in[1]), sums));
      return false;
    }
    return true;
  }

  // Whether one run of an operator has made both: results, and their log-sum-exps.
  bool of_one_run(ProgramValueId results, ProgramValueId sums) const {
    const TensorId t = value(results).tensor;
    const OpId producer = at(g_.tensors, t).producer;
    const CodePoint &made = at(makers_.of, results), &weights = at(makers_.of, sums);
    if (producer < 0 || at(g_.ops, producer).log_sums < 0 || made.segment < 0 || made.segment != weights.segment ||
        made.instruction != weights.instruction)
      return false;
    const Instruction& run = at(at(p_.segments, made.segment).instructions, made.instruction);
    if (run.code != Code::compute && run.code != Code::replay) return false;
    const auto slot = [&](ProgramValueId v) {
      const auto k = std::find(run.out.begin(), run.out.end(), v) - run.out.begin();
      return at(at(p_.pieces, run.piece).outputs, static_cast<int>(k));
    };
    const int apart = at(g_.ops, producer).log_sums - at(g_.tensors, t).output;
    return apart != 0 && slot(sums) - slot(results) == apart;
  }

  void combine(const Segment& s, const Instruction& i, ProgramValueId in, ProgramValueId out, PartialKind kind) {
    const ProgramValue &from = value(in), &to = value(out);
    if (!same_tensor(s, i, out, in)) return;
    if (!role(s, i, in, from.role == to.role && from.role != Role::home, "a value of the same kind")) return;
    const std::vector<AxisId> axes = without(from.indexed, to.indexed);
    if (without(s.free_axes, to.indexed) != axes || !subset(to.indexed, from.indexed))
      return fail(FailureKind::communication, s, i, from.tensor, "a sum over every index of the segment, each once",
                  "some are added several times");
    std::string why;
    std::optional<Layout> sum = combined_over(p_, layout_of(in), axes, kind, why);
    if (sum && kind == PartialKind::softmax && sum->splits != layout_of(in).splits) {
      why = "a running softmax puts no blocks of its results together";
      sum.reset();
    }
    if (!sum)
      return fail(FailureKind::communication, s, i, from.tensor, "a value that is a partial sum over the indices", why);
    ledger_.equal(FailureKind::communication, site(s, i), from.tensor, *sum, layout_of(out));
    std::vector<std::pair<TensorId, Layout>> keys;
    const Layout &term = layout_of(in), &all = layout_of(out);
    for (const Split& x : term.splits)
      if (x.part == kByKey && std::find(all.splits.begin(), all.splits.end(), x) == all.splits.end())
        keys.emplace_back(x.key, key_layout(term, x.dim));
    if (kind == PartialKind::sum) keyed(s, i, keys);
    Restriction parts;
    for (const AxisId a : axes)
      if (at(p_.axes, a).of >= 0) parts.push_back(a);
    if (from.role == Role::data) added_[out].push_back({site(s, i), std::move(parts)});
  }

  // What is added to a value of the forward pass has every index once. (Gradients tell by what they sum.)
  void all_added() {
    for (const auto& [value, terms] : added_) {
      std::vector<Restriction> parts;
      for (const auto& [site, part] : terms) parts.push_back(part);
      ledger_.obligation();
      const Tiling tiles = tiling(p_, parts, {});
      if (!tiles.exact)
        ledger_.fail(FailureKind::communication, terms[0].first, at(p_.values, value).tensor,
                     "a sum over every index, each once", tiles.twice ? "some are added twice" : "some are missing");
    }
  }

  // What is split by key is told apart by the key itself: every element of the region, in its order.
  void keyed(const Segment& s, const Instruction& i, const std::vector<std::pair<TensorId, Layout>>& keys) {
    ledger_.obligation();
    if (i.in.size() != 1 + keys.size())
      return fail(FailureKind::communication, s, i, value(i.in[0]).tensor,
                  keys.empty() ? "a value alone, which is not split by key" : "the key that its rows are split by",
                  std::to_string(i.in.size() - 1) + " keys");
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const ProgramValueId id = i.in[k + 1];
      if (!role(s, i, id, value(id).role == Role::data, "a value of the forward pass")) return;
      if (value(id).tensor != keys[k].first)
        return fail(FailureKind::communication, s, i, value(i.in[0]).tensor,
                    "rows told apart by " + ledger_.tensor(keys[k].first), "by " + ledger_.tensor(value(id).tensor));
      ledger_.equal(FailureKind::communication, site(s, i), value(id).tensor, keys[k].second, layout_of(id));
    }
  }

  // Each value of a bucket as if it were alone.
  void moves(const Segment& s, const Instruction& i) {
    if (i.out.size() == 1) return move(s, i, i.in[0], i.out[0]);
    for (std::size_t k = 0; k < i.out.size(); ++k) {
      ledger_.obligation();
      if (type(i.in[k]) != type(i.in[0]))
        fail(FailureKind::communication, s, i, value(i.in[k]).tensor, "values of one type in a bucket", "another type");
      move(s, i, i.in[k], i.out[k]);
    }
  }

  DType type(ProgramValueId v) const { return at(g_.model->values, value(v).tensor).dtype; }

  void move(const Segment& s, const Instruction& i, ProgramValueId in, ProgramValueId result) {
    const ProgramValue &from = value(in), &to = value(result);
    if (!same_tensor(s, i, in, result)) return;
    const bool roles = from.role == Role::home ? to.role == Role::data : to.role == from.role;
    if (!role(s, i, result, roles, "a value of the same kind")) return;
    if (is_local(i.move.kind) != (i.code == Code::local))
      return fail(FailureKind::communication, s, i, from.tensor,
                  "a local move where it is local, a collective where it is issued",
                  std::string(to_string(i.code)) + " of " + std::string(to_string(i.move.kind)));
    // What is local may depend on the index: a block of it, or all of it at the first index and nothing at the others.
    const std::vector<AxisId> indices = is_local(i.move.kind) ? to.indexed : std::vector<AxisId>{};
    for (const Digit& d : i.move.digits)
      if (d.reach != Reach::every &&
          !has_coordinate(p_, is_local(i.move.kind) ? d : plain(d), at(p_.places, s.place), indices))
        return fail(FailureKind::communication, s, i, from.tensor, "a move over axes of its devices",
                    "one over " + at(p_.axes, d.axis).name);
    // Every other free axis keeps its instances: a value that stands for all indices may be made again at each.
    std::string why;
    const std::optional<Layout> out = moved(p_, layout_of(in), i.move, why);
    if (!out) {
      fail(FailureKind::communication, s, i, from.tensor,
           "a value that " + std::string(to_string(i.move.kind)) + " can start from",
           ledger_.layout(layout_of(in), from.tensor) + "; " + why);
      return;
    }
    ledger_.equal(FailureKind::communication, site(s, i), from.tensor, *out, layout_of(result));
    if (i.move.digits.size() > 1 && (i.move.kind == MoveKind::rotate || i.move.kind == MoveKind::rotate_back))
      cut_alike(s, i, from.tensor, layout_of(in), *out);
    if (i.out.size() > 1) return;  // a bucket has no keys (check_structure)
    std::vector<std::pair<TensorId, Layout>> keys;
    if (i.move.key >= 0) keys.emplace_back(i.move.key, key_layout(layout_of(in), layout_of(result), i.move));
    keyed(s, i, keys);
  }

  // Blocks that several cuts make one after the other are those of one cut into as many if the part divides by all of them.
  void cut_alike(const Segment& s, const Instruction& i, TensorId t, const Layout& before, const Layout& after) {
    for (const Layout* l : {&before, &after}) {
      std::int64_t blocks = 1;
      for (const Digit& d : *digits_at(*l, i.move.dim, i.move.part)) blocks *= d.size;
      ledger_.obligation();
      if (at(g_.classes, at(at(at(g_.tensors, t).dims, i.move.dim), i.move.part)).size % blocks != 0)
        fail(FailureKind::communication, s, i, t, "blocks of equal size", std::to_string(blocks) + " do not divide it");
    }
  }

  void wait(const Segment& s, const Instruction& i) {
    for (const ProgramValueId v : i.out) {
      const CodePoint& made = at(makers_.of, v);
      const Code code =
          made.segment < 0 ? Code::free : at(at(p_.segments, made.segment).instructions, made.instruction).code;
      if (code != Code::issue && code != Code::receive)
        fail(FailureKind::order, s, i, value(v).tensor, "a wait for a communication",
             "a wait for something that is not one");
    }
  }

  void send(const Segment& s, const Instruction& i) {
    if (i.in != at(p_.transfers, i.transfer).from)
      fail(FailureKind::communication, s, i, value(i.in[0]).tensor, "the values of its transfer", "others");
    if (at(makers_.receiver, i.transfer).segment < 0)
      fail(FailureKind::communication, s, i, value(i.in[0]).tensor, "a receive for every send", "none");
  }

  void receive(const Segment& s, const Instruction& i) {
    const Transfer& t = at(p_.transfers, i.transfer);
    const TensorId first = value(i.out[0]).tensor;
    if (i.out != t.to) return fail(FailureKind::communication, s, i, first, "the values of its transfer", "others");
    const CodePoint& sender = at(makers_.sender, i.transfer);
    if (sender.segment < 0) return fail(FailureKind::communication, s, i, first, "a send for every receive", "none");
    for (std::size_t k = 0; k < t.to.size(); ++k) received(s, i, t.from[k], t.to[k], at(p_.segments, sender.segment));
    for (const auto* side : {&t.from, &t.to})
      for (const ProgramValueId v : *side)
        if (value(v).place != value(side->front()).place || type(v) != type(side->front()))
          fail(FailureKind::communication, s, i, value(v).tensor, "one place and one type on each side of a message",
               "another");
  }

  void received(const Segment& s, const Instruction& i, ProgramValueId sent, ProgramValueId got,
                const Segment& sending) {
    const ProgramValue &from = value(sent), &to = value(got);
    if (!same_tensor(s, i, got, sent)) return;
    const bool roles = from.role == Role::home ? to.role == Role::data : to.role == from.role;
    if (!role(s, i, got, roles, "a value of the kind that was sent")) return;
    if (from.indexed != to.indexed ||
        without(sending.free_axes, s.free_axes) != without(s.free_axes, sending.free_axes))
      return fail(FailureKind::communication, s, i, to.tensor, "one send for every receive",
                  "they run at different indices");
    std::string why;
    if (!transferable(p_, from, to, why))
      fail(FailureKind::communication, s, i, to.tensor, ledger_.layout(at(p_.layouts, to.layout), to.tensor),
           ledger_.layout(at(p_.layouts, from.layout), from.tensor) + "; " + why);
  }

  void update(const Segment& s, const Instruction& i) {
    const ProgramValue &home = value(i.in[0]), &by = value(i.in[1]);
    if (!role(s, i, i.in[0], home.role == Role::home, "a stored parameter")) return;
    if (i.out[0] != i.in[0])
      return fail(FailureKind::update, s, i, home.tensor, "the same stored parameter, one step on", "another value");
    if (!s.free_axes.empty())
      return fail(FailureKind::update, s, i, home.tensor, "one update a step", "one at every index of the segment");
    if (by.tensor != home.tensor || by.role != Role::gradient)
      return fail(FailureKind::update, s, i, home.tensor, "the gradient of this parameter",
                  role_text(by.role) + " of " + ledger_.tensor(by.tensor));
    ledger_.equal(FailureKind::update, site(s, i), home.tensor, layout_of(i.in[0]), layout_of(i.in[1]));
    if (i.in.size() < 3) return;
    const ProgramValue& state = value(i.in[2]);
    if (state.tensor != home.tensor)
      return fail(FailureKind::update, s, i, home.tensor, "the state of this parameter's optimizer",
                  "that of " + ledger_.tensor(state.tensor));
    ledger_.equal(FailureKind::update, site(s, i), home.tensor, layout_of(i.in[0]), layout_of(i.in[2]));
  }

  const Graph& g_;
  const Program& p_;
  const Makers& makers_;
  Ledger& ledger_;
  std::map<ProgramValueId, std::vector<std::pair<Site, Restriction>>> added_;  // by accumulations
  std::map<PieceId, const Instruction*> backwards_;
  std::map<ProgramValueId, int> reductions_;  // of partial log-sum-exps
  std::vector<bool> combined_;                // partial values of which an all-reduce makes the whole
};

}  // namespace

bool is_updated(const Graph& g, TensorId t) {
  const planscope::Value& v = at(g.model->values, t);
  return v.kind == ValueKind::parameter && at(g.tensors, t).gradient;
}

void check_instructions(const Graph& g, const Program& p, const Makers& m, Ledger& ledger) {
  InstructionCheck(g, p, m, ledger).run();
}

}  // namespace planscope::verification
