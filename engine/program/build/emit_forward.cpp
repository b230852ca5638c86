#include <algorithm>

#include "engine/program/build/emit.h"

namespace planscope::build {

namespace {
constexpr int kResult = 1 << 28;  // slots of results while the number of leaves is not known
}

void Emitter::forward(SegmentWork& s) {
  s.forward = pass_ = new_segment(Phase::forward, s);
  open_segment(s.forward);
  open_ = Open{};
  note_last_reads(s);
  const int segment = static_cast<int>(&s - w_.segments.data());
  for (std::size_t k = 0; k < s.instances.size(); ++k) {
    const InstanceId i = s.instances[k];
    const Instance& x = w_.instances[static_cast<std::size_t>(i)];
    switch (x.kind) {
      case InstanceKind::op:
        if (!open_.empty() && must_close(x)) {
          close_piece();
          offload(segment, k);
        }
        add_op(i);
        break;
      case InstanceKind::receive:
        receive(i);
        break;
      case InstanceKind::combine:
        w_.vars[static_cast<std::size_t>(x.var)].base_value = w_.vars[static_cast<std::size_t>(x.var)].written_value;
        finish_var(x.var);
        break;
      case InstanceKind::output:
        close_piece();
        w_.p.loss = value_for(x.inputs[0], x.input_layouts[0], "loss");
        break;
      case InstanceKind::write:
        close_piece();
        push(Code::write, {value_for(x.inputs[0], x.input_layouts[0], "")}, {}).last = !set_.empty();
        break;
    }
  }
  close_piece();
  offload(segment, s.instances.size());
}

void Emitter::note_last_reads(const SegmentWork& s) {
  last_read_.clear();
  held_.clear();
  seen_pieces_ = 0;
  if (std::none_of(s.instances.begin(), s.instances.end(),
                   [&](InstanceId i) { return w_.instances[static_cast<std::size_t>(i)].offload; }))
    return;
  for (std::size_t k = 0; k < s.instances.size(); ++k)
    for (const VarId v : w_.instances[static_cast<std::size_t>(s.instances[k])].inputs)
      if (w_.vars[static_cast<std::size_t>(v)].gradient) last_read_[v] = k;
}

// Once nothing else holds what its run has kept: of the segment's instances, so many have been emitted.
void Emitter::offload(int segment, std::size_t emitted) {
  const std::vector<PieceRecord>& pieces = pieces_[static_cast<std::size_t>(segment)];
  const auto is_read = [&](VarId v) {
    const auto last = last_read_.find(v);
    return last != last_read_.end() && last->second >= emitted &&
           w_.vars[static_cast<std::size_t>(v)].kind != VarKind::stored;
  };
  for (; seen_pieces_ < pieces.size(); ++seen_pieces_)
    if (pieces[seen_pieces_].offload) held_.push_back(seen_pieces_);
  std::erase_if(held_, [&](std::size_t k) {
    const PieceRecord& r = pieces[k];
    if (std::any_of(r.leaves.begin(), r.leaves.end(), [&](const PieceLeaf& l) { return is_read(l.var); }) ||
        std::any_of(r.outputs.begin(), r.outputs.end(), is_read))
      return false;
    push(Code::offload, {}, {}).piece = r.piece;
    return true;
  });
}

void Emitter::receive(InstanceId i) {
  const VarId var = w_.instances[static_cast<std::size_t>(i)].var;
  const ProgramValueId value = w_.vars[static_cast<std::size_t>(var)].base_value;
  int transfer = -1;
  for (std::size_t t = 0; t < w_.p.transfers.size(); ++t)
    if (w_.p.transfers[t].to[0] == value) transfer = static_cast<int>(t);
  push(Code::receive, {}, {value}).transfer = transfer;
  add_to_combined(var);
  grow(var);
  hoist(var);
}

bool Emitter::must_close(const Instance& x) const {
  if (x.recompute != open_.recompute || x.grad_split != open_.grad_split || x.keep_gathered != open_.keep_gathered ||
      x.offload != open_.offload || open_.passing_bytes >= passing_bounds_[static_cast<std::size_t>(place_)])
    return true;
  const std::string& module = w_.g.node(x.op).module;
  for (std::size_t k = 0; k < x.inputs.size(); ++k) {
    const Var& v = w_.vars[static_cast<std::size_t>(x.inputs[k])];
    if (v.fetch_split && module != open_.module) return true;
    if (result_slots_[static_cast<std::size_t>(x.inputs[k])] < 0) continue;
    if (x.input_layouts[k] != v.written) return true;
    for (const Read& r : v.reads)
      if (&w_.instances[static_cast<std::size_t>(r.instance)] == &x && r.operand == static_cast<int>(k) &&
          r.contribution >= 0 && r.contribution != v.needed)
        return true;
  }
  return false;
}

// Of the gradient of a parameter that does not stay what the piece's backward gives, but is added to that of other
// indices, or reduced by the segment itself (reduce_if_whole). Bytes of whole tensors: a plan's pieces do not depend on
// how many devices it has.
std::int64_t Emitter::passing_bytes(const PieceLeaf& l) const {
  const Var& v = w_.vars[static_cast<std::size_t>(l.var)];
  if (l.contribution < 0 || v.kind != VarKind::stored) return 0;
  const bool reduced = l.contribution != v.home && reduces_here(v);
  return set_ != v.set || reduced ? w_.whole_bytes(v.tensor) : 0;
}

// A piece ends when the gradients that pass through are this part of all of its place: few are there at once.
void Emitter::bound_passing() {
  passing_bounds_.assign(w_.p.places.size(), 0);
  std::vector<int> stand_for(w_.g.tensors.size(), 1);
  for (const Parameter& p : w_.g.parameters) stand_for[static_cast<std::size_t>(p.tensor)] = p.stands_for;
  for (const Var& v : w_.vars)
    if (v.kind == VarKind::stored && v.gradient)
      passing_bounds_[static_cast<std::size_t>(v.place)] +=
          w_.whole_bytes(v.tensor) * stand_for[static_cast<std::size_t>(v.tensor)];
  for (std::int64_t& b : passing_bounds_) b = std::max(b / 16, std::int64_t{1} << 20);
}

void Emitter::add_op(InstanceId id) {
  const Instance& x = w_.instances[static_cast<std::size_t>(id)];
  const Op& op = w_.op(x.op);
  const std::string& module = w_.g.node(x.op).module;
  if (open_.empty()) {
    open_.recompute = x.recompute;
    open_.grad_split = x.grad_split;
    open_.keep_gathered = x.keep_gathered;
    open_.offload = x.offload;
  }
  PieceOp out;
  out.op = x.op;
  out.bindings = x.bindings;
  out.inputs.reserve(x.inputs.size());
  for (std::size_t k = 0; k < x.inputs.size(); ++k) {
    const VarId var = x.inputs[k];
    if (const int inside = result_slots_[static_cast<std::size_t>(var)]; inside >= 0) {
      out.inputs.push_back(kResult + inside);
      continue;
    }
    LayoutId contribution = -1;
    for (const Read& r : w_.vars[static_cast<std::size_t>(var)].reads)
      if (r.instance == id && r.operand == static_cast<int>(k)) contribution = r.contribution;
    const ProgramValueId value = value_for(var, x.input_layouts[k], module);
    const auto [it, fresh] =
        open_.leaf_ids.emplace(std::make_pair(value, contribution), static_cast<int>(open_.leaves.size()));
    if (fresh) {
      open_.leaves.push_back({var, x.input_layouts[k], contribution, value});
      open_.modules.push_back(module);
      open_.passing_bytes += passing_bytes(open_.leaves.back());
    }
    out.inputs.push_back(it->second);
  }
  out.first_output = static_cast<int>(open_.result_vars.size());
  for (const VarId v : x.outputs) {
    result_slots_[static_cast<std::size_t>(v)] = static_cast<int>(open_.result_vars.size());
    open_.result_vars.push_back(v);
  }
  open_.piece.gradient = open_.piece.gradient || op.backward;
  open_.piece.ops.push_back(std::move(out));
  open_.instances.push_back(id);
  open_.module = module;
}

void Emitter::close_piece() {
  if (open_.empty()) {
    open_ = Open{};
    return;
  }
  Piece& piece = open_.piece;
  piece.leaves = static_cast<int>(open_.leaves.size());
  std::vector<ProgramValueId> in, out;
  for (const PieceLeaf& l : open_.leaves) {
    piece.slots.push_back({w_.vars[static_cast<std::size_t>(l.var)].tensor, l.layout});
    in.push_back(l.value);
  }
  for (const VarId v : open_.result_vars)
    piece.slots.push_back({w_.vars[static_cast<std::size_t>(v)].tensor, w_.vars[static_cast<std::size_t>(v)].written});
  for (PieceOp& op : piece.ops) {
    for (int& s : op.inputs)
      if (s >= kResult) s = s - kResult + piece.leaves;
    op.first_output += piece.leaves;
  }
  PieceRecord record;
  record.piece = static_cast<PieceId>(w_.p.pieces.size());
  record.leaves = open_.leaves;
  record.modules = open_.modules;
  record.recompute = open_.recompute;
  record.grad_split = open_.grad_split;
  record.keep_gathered = open_.keep_gathered;
  record.offload = open_.offload && open_.piece.gradient;
  for (std::size_t k = 0; k < open_.result_vars.size(); ++k) {
    Var& v = w_.vars[static_cast<std::size_t>(open_.result_vars[k])];
    const bool outside =
        !v.combined.empty() || !v.received.empty() || std::any_of(v.reads.begin(), v.reads.end(), [&](const Read& r) {
          return std::find(open_.instances.begin(), open_.instances.end(), r.instance) == open_.instances.end();
        });
    if (!outside) continue;
    v.written_value = w_.new_value(v.tensor, Role::data, v.written, v.place, set_);
    piece.outputs.push_back(piece.leaves + static_cast<int>(k));
    out.push_back(v.written_value);
    record.outputs.push_back(open_.result_vars[k]);
  }
  Instruction& i = push(Code::compute, std::move(in), std::move(out));
  i.piece = record.piece;
  i.keep = piece.gradient && record.recompute < 0;
  w_.p.pieces.push_back(std::move(piece));
  const int segment = w_.instances[static_cast<std::size_t>(open_.instances.front())].segment;
  for (const VarId v : open_.result_vars) result_slots_[static_cast<std::size_t>(v)] = -1;
  open_ = Open{};
  for (const VarId v : record.outputs) finish_var(v);
  pieces_[static_cast<std::size_t>(segment)].push_back(std::move(record));
}

}  // namespace planscope::build
