#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/program/build/emit.h"

namespace planscope::build {

void Emitter::backward(SegmentWork& s) {
  const int segment = static_cast<int>(&s - w_.segments.data());
  const auto& pieces = pieces_[static_cast<std::size_t>(segment)];
  arrived_.clear();
  expected_.clear();
  apart_.clear();
  bool any = false;
  for (const PieceRecord& r : pieces)
    for (const PieceLeaf& l : r.leaves)
      if (l.contribution >= 0) ++expected_[l.var], any = true;
  for (const InstanceId i : s.instances) {
    const Instance& x = w_.instances[static_cast<std::size_t>(i)];
    any = any || (x.kind == InstanceKind::output && w_.vars[static_cast<std::size_t>(x.inputs[0])].gradient) ||
          (x.kind == InstanceKind::receive && w_.vars[static_cast<std::size_t>(x.var)].gradient) ||
          (x.kind == InstanceKind::combine && w_.vars[static_cast<std::size_t>(x.var)].gradient);
  }
  if (!any) return;
  s.backward = new_segment(Phase::backward, s);
  pass_ = s.forward;
  open_segment(s.backward);
  for (const InstanceId i : s.instances) {
    const Instance& x = w_.instances[static_cast<std::size_t>(i)];
    if (x.kind != InstanceKind::output || !w_.vars[static_cast<std::size_t>(x.inputs[0])].gradient) continue;
    Var& v = w_.vars[static_cast<std::size_t>(x.inputs[0])];
    const LayoutId whole = w_.intern(Layout{});
    const ProgramValueId seed = w_.new_value(v.tensor, Role::gradient, whole, place_, set_);
    push(Code::seed, {}, {seed});
    v.contributions.push_back({seed, whole});
  }
  std::set<int> replayed, idle;
  std::size_t brought = pieces.size();  // what is offloaded from this piece on is on its way back
  for (std::size_t k = pieces.size(); k-- > 0;) {
    const PieceRecord& r = pieces[k];
    brought = bring_back(pieces, std::min(brought, k + 1), k);
    brought = bring_back(pieces, brought, 0);  // the next one, beside the work on this one
    if (r.recompute >= 0 && replayed.insert(r.recompute).second) replay_unit(pieces, r.recompute);
    if (!backward_piece(r, segment)) idle.insert(r.piece);
  }
  std::erase_if(w_.p.segments[static_cast<std::size_t>(s.backward)].instructions,
                [&](const Instruction& i) { return i.code == Code::restore && idle.contains(i.piece); });
  send_back(s, segment);
  weight_gradients(s);
}

// The second half of pieces under `grad_split`, in the order of the first.
void Emitter::weight_gradients(SegmentWork& s) {
  if (apart_.empty()) return;
  const int segment = static_cast<int>(&s - w_.segments.data());
  s.weight = new_segment(Phase::weight, s);
  open_segment(s.weight);
  for (const Apart& a : apart_) {
    std::vector<ProgramValueId> out;
    for (const PieceLeaf& l : a.piece->leaves) out.push_back(is_parameter(l) ? gradient_leaf(l) : -1);
    push(Code::backward, a.in, out).piece = a.piece->piece;
    arrive(*a.piece, out, segment);
  }
}

// The last offloaded one of the pieces [from, end); the first piece of those that are brought then.
std::size_t Emitter::bring_back(const std::vector<PieceRecord>& pieces, std::size_t end, std::size_t from) {
  std::size_t k = end;
  while (k > from && !pieces[k - 1].offload) --k;
  if (k <= from) return end;
  push(Code::restore, {}, {}).piece = pieces[k - 1].piece;
  return k - 1;
}

// Whether there is anything to run.
bool Emitter::backward_piece(const PieceRecord& r, int segment) {
  const Piece& piece = w_.p.pieces[static_cast<std::size_t>(r.piece)];
  if (!piece.gradient) return false;
  std::vector<ProgramValueId> in(r.outputs.size(), -1), out;
  bool any = false;
  for (std::size_t k = r.outputs.size(); k-- > 0;) {  // last written, first received
    if (w_.vars[static_cast<std::size_t>(r.outputs[k])].gradient) in[k] = gradient_of(r.outputs[k]);
    any = any || in[k] >= 0;
  }
  if (!any) {  // no gradient arrives: it contributes nothing
    for (const PieceLeaf& l : r.leaves)
      if (l.contribution >= 0) {
        --expected_[l.var];
        give(l.var, segment);
      }
    return false;
  }
  if (r.recompute < 0) refill_leaves(r);
  for (const int k : softmax_outputs(w_.g, w_.p, piece)) in.push_back(whole_of(r.outputs[static_cast<std::size_t>(k)]));
  const auto count = [&](bool parameter) {
    return std::count_if(r.leaves.begin(), r.leaves.end(),
                         [&](const PieceLeaf& l) { return l.contribution >= 0 && is_parameter(l) == parameter; });
  };
  const bool apart = r.grad_split && count(true) > 0 && count(false) > 0;
  for (const PieceLeaf& l : r.leaves) out.push_back(apart && is_parameter(l) ? -1 : gradient_leaf(l));
  push(Code::backward, in, out).piece = r.piece;
  arrive(r, out, segment);
  if (apart) apart_.push_back({&r, in});
  return true;
}

bool Emitter::is_parameter(const PieceLeaf& l) const {
  return w_.vars[static_cast<std::size_t>(l.var)].kind == VarKind::stored;
}

ProgramValueId Emitter::gradient_leaf(const PieceLeaf& l) {
  if (l.contribution < 0) return -1;
  return w_.new_value(w_.vars[static_cast<std::size_t>(l.var)].tensor, Role::gradient, l.contribution, place_, set_);
}

void Emitter::arrive(const PieceRecord& r, const std::vector<ProgramValueId>& gradients, int segment) {
  for (std::size_t k = 0; k < r.leaves.size(); ++k) {
    if (gradients[k] < 0) continue;
    const VarId v = r.leaves[k].var;
    arrived_[v].push_back({gradients[k], r.leaves[k].contribution});
    --expected_[v];
    give(v, segment);
  }
}

// A gradient that is the same at every index (of an operand that is read as partial) counts once.
Layout Emitter::partial_over(Layout l, const AxisSet& axes) const {
  const AxisSet has = axes_of(l);
  for (const AxisId a : axes)
    if (!std::binary_search(has.begin(), has.end(), a))
      l.partials.push_back({Digit{a, w_.p.axes[static_cast<std::size_t>(a)].size, 1, {}}, PartialKind::sum});
  return canonical(std::move(l));
}

// When all contributions of the segment to a var of another segment (or to a parameter) are there: their sum, layout by
// layout, accumulated over the free axes that the var does not have.
void Emitter::give(VarId id, int segment) {
  Var& v = w_.vars[static_cast<std::size_t>(id)];
  const bool own = v.producer >= 0 && w_.instances[static_cast<std::size_t>(v.producer)].segment == segment;
  if (own || expected_[id] > 0) return;
  std::vector<LayoutId> layouts;
  for (const Contribution& c : arrived_[id])
    if (std::find(layouts.begin(), layouts.end(), c.layout) == layouts.end()) layouts.push_back(c.layout);
  for (const LayoutId layout : layouts) {
    std::vector<ProgramValueId> same;
    for (const Contribution& c : arrived_[id])
      if (c.layout == layout) same.push_back(c.value);
    ProgramValueId g = same[0];
    if (same.size() > 1) {
      g = w_.new_value(v.tensor, Role::gradient, layout, place_, set_);
      push(Code::add, same, {g});
    }
    LayoutId now = layout;
    AxisSet over;  // free axes that the var does not have
    std::set_difference(set_.begin(), set_.end(), v.set.begin(), v.set.end(), std::back_inserter(over));
    const Layout whole = without_axes(w_.p.layouts[static_cast<std::size_t>(layout)], over);
    if (v.grad_layout >= 0 && whole.splits == w_.p.layouts[static_cast<std::size_t>(layout)]
                                                  .splits) {  // `grad` is split: every contribution is reduced at once
      Layout target = w_.p.layouts[static_cast<std::size_t>(v.grad_layout)];
      for (const Partial& p : w_.p.layouts[static_cast<std::size_t>(layout)].partials)
        if (w_.is_free(p.digit.axis)) target.partials.push_back(p);
      std::sort(target.partials.begin(), target.partials.end());
      now = w_.intern(target);
      g = convert(g, now);
    }
    if (!over.empty()) {
      const Layout home = at_home(w_.p, w_.p.layouts[static_cast<std::size_t>(now)],
                                  w_.p.layouts[static_cast<std::size_t>(v.base)], over, true);
      now = w_.intern(partial_over(made_minor(home, over), over));
      g = convert(g, now);
      const LayoutId combined = w_.intern(without_axes(w_.p.layouts[static_cast<std::size_t>(now)], over));
      const ProgramValueId total = w_.new_value(v.tensor, Role::gradient, combined, place_, v.set);
      accumulate(g, total);
      g = total;
      now = combined;
    }
    v.contributions.push_back({g, now});
  }
  arrived_[id].clear();
  reduce_if_whole(id);
}

bool Emitter::reduces_here(const Var& v) const { return v.kind == VarKind::stored && !reductions_.count(v.tensor); }

void Emitter::count_givers() {
  for (const std::vector<PieceRecord>& pieces : pieces_) {
    std::set<VarId> given;
    for (const PieceRecord& r : pieces)
      for (const PieceLeaf& l : r.leaves)
        if (l.contribution >= 0 && is_parameter(l)) given.insert(l.var);
    for (const VarId v : given) ++givers_[v];
  }
}

// The gradient of a parameter to which one segment alone contributes is reduced as soon as it is there, while backward
// goes on: where the segment runs at several indices, in its last run. That of others waits for the end of the step
// (emit_update.cpp), as do those whose reduction order rows name.
void Emitter::reduce_if_whole(VarId id) {
  Var& v = w_.vars[static_cast<std::size_t>(id)];
  if (!reduces_here(v) || v.contributions.empty() || givers_[id] != 1) return;
  const bool last = !set_.empty();
  const std::size_t begin = w_.p.segments[static_cast<std::size_t>(current_)].instructions.size();
  AxisSet set = std::exchange(set_, {});
  v.gradient_value = sum(v.contributions, v.tensor, v.home);
  set_ = std::move(set);
  std::vector<Instruction>& list = w_.p.segments[static_cast<std::size_t>(current_)].instructions;
  for (std::size_t k = begin; k < list.size(); ++k) list[k].last = last;
}

// Sum of contributions in one layout: equal layouts are added, each sum is converted once, then all are added.
ProgramValueId Emitter::sum(std::vector<Contribution> all, TensorId tensor, LayoutId needed) {
  std::vector<LayoutId> layouts;
  for (const Contribution& c : all)
    if (std::find(layouts.begin(), layouts.end(), c.layout) == layouts.end()) layouts.push_back(c.layout);
  std::vector<ProgramValueId> converted;
  for (const LayoutId layout : layouts) {
    std::vector<ProgramValueId> same;
    for (const Contribution& c : all)
      if (c.layout == layout) same.push_back(c.value);
    ProgramValueId g = same[0];
    if (same.size() > 1) {
      g = w_.new_value(tensor, Role::gradient, layout, place_, set_);
      push(Code::add, same, {g});
    }
    converted.push_back(convert(g, needed));
  }
  if (converted.empty()) return -1;
  if (converted.size() == 1) return converted[0];
  const ProgramValueId g = w_.new_value(tensor, Role::gradient, needed, place_, set_);
  push(Code::add, converted, {g});
  return g;
}

// What the blocks of a softmax have been put together to, split as they are.
ProgramValueId Emitter::whole_of(VarId id) {
  const Var& v = w_.vars[static_cast<std::size_t>(id)];
  const Var& whole = w_.vars[static_cast<std::size_t>(v.combined.front())];
  return convert(whole.base_value, w_.intern(dual(w_.p.layouts[static_cast<std::size_t>(v.written)])));
}

// Of the gradient that readers up to their index give: they add to the blocks before theirs, the last index first, so that
// after an index the block of its own has all.
Contribution Emitter::own_part(const Var& v, const Contribution& c) {
  const Layout given = w_.p.layouts[static_cast<std::size_t>(c.layout)];
  const AxisSet over = prefix_axes(given);
  if (over.empty()) return c;
  Layout own = with_own(given);
  std::erase_if(own.partials,
                [&](const Partial& p) { return std::binary_search(over.begin(), over.end(), p.digit.axis); });
  AxisSet set;
  std::set_difference(set_.begin(), set_.end(), over.begin(), over.end(), std::back_inserter(set));
  const ProgramValueId total =
      w_.new_value(v.tensor, Role::gradient, w_.intern(without_axes(given, over)), place_, set);
  accumulate(c.value, total);
  const LayoutId layout = w_.intern(canonical(std::move(own)));
  return {convert(total, layout), layout};
}

ProgramValueId Emitter::gradient_of(VarId id) {
  Var& v = w_.vars[static_cast<std::size_t>(id)];
  if (v.gradient_value >= 0) return v.gradient_value;
  std::vector<Contribution> all = v.contributions;
  for (const VarId c : v.combined)
    if (const ProgramValueId g = gradient_of(c); g >= 0)
      all.push_back({g, w_.p.values[static_cast<std::size_t>(g)].layout});
  for (const auto& [received, transfer] : v.incoming) {
    const ProgramValueId g = w_.p.transfers[static_cast<std::size_t>(transfer)].to[0];
    push(Code::receive, {}, {g}).transfer = transfer;
    all.push_back({g, w_.p.values[static_cast<std::size_t>(g)].layout});
  }
  const auto here = arrived_.find(id);
  if (here != arrived_.end()) all.insert(all.end(), here->second.begin(), here->second.end());
  for (Contribution& c : all) c = own_part(v, c);
  return v.gradient_value = sum(std::move(all), v.tensor, v.needed);
}

// At the end of a backward segment: combined vars get their gradient here, once; received ones send theirs back.
void Emitter::send_back(SegmentWork& s, int) {
  for (auto it = s.instances.rbegin(); it != s.instances.rend(); ++it) {  // last written, first sent
    const Instance& x = w_.instances[static_cast<std::size_t>(*it)];
    if (x.kind == InstanceKind::combine && w_.vars[static_cast<std::size_t>(x.var)].gradient) gradient_of(x.var);
    if (x.kind != InstanceKind::receive || !w_.vars[static_cast<std::size_t>(x.var)].gradient) continue;
    ProgramValueId g = gradient_of(x.var);
    if (g < 0) continue;
    if (w_.p.values[static_cast<std::size_t>(g)].indexed != set_) {  // that of a sum over all indices
      const ProgramValueId one = w_.new_value(w_.p.values[static_cast<std::size_t>(g)].tensor, Role::gradient,
                                              w_.p.values[static_cast<std::size_t>(g)].layout, place_, set_);
      push(Code::add, {g}, {one});
      g = one;
    }
    const Var& v = w_.vars[static_cast<std::size_t>(x.var)];
    Var& from = w_.vars[static_cast<std::size_t>(v.from)];
    const ProgramValueId back = w_.new_value(from.tensor, Role::gradient, v.returned, from.place, from.set);
    w_.p.transfers.push_back({{g}, {back}});
    const int transfer = static_cast<int>(w_.p.transfers.size()) - 1;
    push(Code::send, {g}, {}).transfer = transfer;
    from.incoming.emplace_back(x.var, transfer);
  }
}

// Gathered copies were freed after the forward pass: those that backward reads are gathered again, once for all pieces of a
// segment. A key stays, as conversions of both passes read its one copy.
void Emitter::refill_leaves(const PieceRecord& r) {
  const Piece& piece = w_.p.pieces[static_cast<std::size_t>(r.piece)];
  std::vector<bool> saved(r.leaves.size(), false);
  for (const PieceOp& po : piece.ops) {
    const Op& op = w_.op(po.op);
    if (!op.backward) continue;
    for (const int i : op.saves)
      if (i >= 0 && po.inputs[static_cast<std::size_t>(i)] < piece.leaves)
        saved[static_cast<std::size_t>(po.inputs[static_cast<std::size_t>(i)])] = true;
  }
  for (std::size_t k = 0; k < r.leaves.size(); ++k) {
    const PieceLeaf& l = r.leaves[k];
    const Var& v = w_.vars[static_cast<std::size_t>(l.var)];
    if (!saved[k] || r.keep_gathered || !gathered_.count(l.value) || w_.keys.contains({v.tensor, place_}) ||
        !refilled_.insert(l.value).second)
      continue;
    if (w_.p.values[static_cast<std::size_t>(l.value)].indexed != set_ || v.base_value < 0) continue;
    const bool grows = v.growing >= 0 && !prefix_axes(w_.p.layouts[static_cast<std::size_t>(l.layout)]).empty();
    convert(grows ? v.growing : v.base_value, l.layout, nullptr, l.value);
  }
}

// Runs the pieces of a recompute unit again, from the values that came from outside.
void Emitter::replay_unit(const std::vector<PieceRecord>& pieces, int unit) {
  for (const PieceRecord& r : pieces) {
    if (r.recompute != unit) continue;
    std::vector<ProgramValueId> in, out;
    for (std::size_t k = 0; k < r.leaves.size(); ++k)
      in.push_back(value_for(r.leaves[k].var, r.leaves[k].layout, r.modules[k]));
    std::vector<std::pair<VarId, ProgramValueId>> again;
    for (const VarId v : r.outputs) {
      const Var& var = w_.vars[static_cast<std::size_t>(v)];
      out.push_back(w_.new_value(var.tensor, Role::data, var.written, var.place, set_));
      again.emplace_back(v, out.back());
    }
    Instruction& i = push(Code::replay, in, out);
    i.piece = r.piece;
    i.keep = true;
    for (const auto& [v, value] : again) {
      const bool read_inside = std::any_of(pieces.begin(), pieces.end(), [&](const PieceRecord& o) {
        return o.recompute == unit &&
               std::any_of(o.leaves.begin(), o.leaves.end(), [&](const PieceLeaf& l) { return l.var == v; });
      });
      if (!read_inside) continue;
      replayed_[v] = convert(value, w_.vars[static_cast<std::size_t>(v)].base);
    }
  }
}

}  // namespace planscope::build
