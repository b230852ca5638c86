// Who needs all indices of a free axis at once, for messages about orders that are not possible.
#include <algorithm>
#include <set>

#include "engine/program/build/schedule.h"

namespace planscope::build {

namespace {

std::set<ProgramValueId> written_by(const Work& w, SegmentId s) {
  std::set<ProgramValueId> out;
  for (const Instruction& i : w.p.segments[static_cast<std::size_t>(s)].instructions) {
    out.insert(i.out.begin(), i.out.end());
    if (i.code != Code::send) continue;
    const auto& sent = w.p.transfers[static_cast<std::size_t>(i.transfer)].to;
    out.insert(sent.begin(), sent.end());
  }
  return out;
}

std::set<ProgramValueId> read_by(const Work& w, SegmentId s) {
  std::set<ProgramValueId> out;
  for (const Instruction& i : w.p.segments[static_cast<std::size_t>(s)].instructions) {
    if (i.code != Code::free) out.insert(i.in.begin(), i.in.end());
    if (i.code == Code::wait || i.code == Code::receive) out.insert(i.out.begin(), i.out.end());
  }
  out.erase(-1);
  return out;
}

// An operator that reads a tensor, or else writes it, for all indices of an axis at once; else one that reads at every
// index what all have added up to.
OpId needs_all(const Work& w, TensorId t, AxisId a) {
  const auto whole = [&](InstanceId i) {
    if (i < 0) return false;
    const Instance& x = w.instances[static_cast<std::size_t>(i)];
    return x.kind == InstanceKind::op && !std::binary_search(x.set.begin(), x.set.end(), a);
  };
  OpId in_turn = -1;
  for (const Var& v : w.vars) {
    if (v.tensor != t) continue;
    for (const Read& r : v.reads) {
      const Instance& x = w.instances[static_cast<std::size_t>(r.instance)];
      if (whole(r.instance)) return x.op;
      if (v.kind == VarKind::combined && x.kind == InstanceKind::op) in_turn = x.op;
    }
  }
  for (const Var& v : w.vars)
    if (v.tensor == t && whole(v.producer)) return w.instances[static_cast<std::size_t>(v.producer)].op;
  return in_turn;
}

// Whether backward of an operator reads a tensor that it had read: then that waits for it as well (not so of a sum of losses).
bool saves(const Work& w, OpId o, TensorId t) {
  const Op& op = w.op(o);
  return std::any_of(op.saves.begin(), op.saves.end(),
                     [&](int s) { return s >= 0 && op.inputs[static_cast<std::size_t>(s)].tensor == t; });
}

Barrier told(const Work& w, OpId o, TensorId t, AxisId axis) {
  const AxisId of = w.p.axes[static_cast<std::size_t>(axis)].of, whole = of >= 0 ? of : axis;
  Barrier out{w.g.node(o).name() + " needs '" + w.g.tensor_name(t) + "' of all indices of " +
                  w.p.axes[static_cast<std::size_t>(whole)].name,
              0};
  const auto found = std::find(w.free_axis_ids.begin(), w.free_axis_ids.end(), whole);
  if (found == w.free_axis_ids.end()) return out;
  const PTensor& tensor = w.g.tensors[static_cast<std::size_t>(t)];
  std::vector<OpId> around = {o};
  if (tensor.producer >= 0) around.push_back(tensor.producer);
  around.insert(around.end(), tensor.readers.begin(), tensor.readers.end());
  for (const OpId other : around)
    if (const int s = w.binding(other, static_cast<int>(found - w.free_axis_ids.begin())).statement; s >= 0) {
      out.line = w.d.plan.statements[static_cast<std::size_t>(s)].line;
      out.text += " (line " + std::to_string(out.line) + ": " + w.statement_text(s) + ")";
      break;
    }
  return out;
}

}  // namespace

std::optional<Barrier> barrier(const Work& w, SegmentId from, SegmentId to) {
  const std::set<ProgramValueId> read = read_by(w, to);
  std::optional<Barrier> out;
  for (const ProgramValueId v : written_by(w, from)) {
    if (v < 0 || !read.contains(v)) continue;
    const ProgramValue& value = w.p.values[static_cast<std::size_t>(v)];
    for (const SegmentId s : {from, to})
      for (const AxisId a : w.p.segments[static_cast<std::size_t>(s)].free_axes)
        if (index_count(w.p.axes[static_cast<std::size_t>(a)]) > 1 &&
            std::find(value.indexed.begin(), value.indexed.end(), a) == value.indexed.end())
          if (const OpId o = needs_all(w, value.tensor, a); o >= 0 && (!out || saves(w, o, value.tensor))) {
            out = told(w, o, value.tensor, a);
            if (saves(w, o, value.tensor)) return out;
          }
  }
  return out;
}

std::optional<Barrier> barrier_of(const Work& w, int unit, int axis) {
  const AxisId whole = w.free_axis_ids[static_cast<std::size_t>(axis)];
  for (const Instance& x : w.instances) {
    if (x.unit != unit || x.kind != InstanceKind::op) continue;
    for (const VarId v : x.inputs) {
      const Var& var = w.vars[static_cast<std::size_t>(v)];
      const Var& made = var.kind == VarKind::received ? w.vars[static_cast<std::size_t>(var.from)] : var;
      if (made.kind != VarKind::combined) continue;
      for (const AxisId a : w.vars[static_cast<std::size_t>(made.parts[0].from)].set)
        if ((a == whole || w.p.axes[static_cast<std::size_t>(a)].of == whole) &&
            !std::binary_search(made.set.begin(), made.set.end(), a))
          return told(w, x.op, var.tensor, a);
    }
  }
  return std::nullopt;
}

}  // namespace planscope::build
