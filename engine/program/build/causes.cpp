// Which statement caused an instruction, for messages alone: the one that binds, on the axes over which the instruction
// works, an operator that reads or writes its tensor; of messages between places, the one that places such an operator;
// of recomputation and host copies, the one that asks for them. Where nothing but follow is behind it, none.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Causes {
 public:
  explicit Causes(Work& w)
      : w_(w),
        vars_(w.g.tensors.size()),
        parameter_(w.g.tensors.size(), -1),
        axis_(w.p.axes.size(), -1),
        cause_(w.p.values.size(), -1) {
    for (std::size_t v = 0; v < w.vars.size(); ++v)
      vars_[static_cast<std::size_t>(w.vars[v].tensor)].push_back(static_cast<VarId>(v));
    for (std::size_t k = 0; k < w.g.parameters.size(); ++k)
      parameter_[static_cast<std::size_t>(w.g.parameters[k].tensor)] = static_cast<int>(k);
    for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a) {
      all_.push_back(a);
      for (const std::vector<AxisId>& of_grid : w.axis_ids) name(of_grid[static_cast<std::size_t>(a)], a);
      name(w.free_axis_ids[static_cast<std::size_t>(a)], a);
    }
    for (const DividedAxis& d : w.divided)
      for (const AxisId part : d.classes) name(part, d.axis);
  }

  void run() {
    for (Segment& s : w_.p.segments)
      for (Instruction& i : s.instructions) {
        i.statement = w_.statement(cause(s, i));
        if (i.code == Code::issue || i.code == Code::receive)
          for (const ProgramValueId v : i.out) cause_[static_cast<std::size_t>(v)] = i.statement;
      }
    for (Segment& s : w_.p.segments)
      for (Instruction& i : s.instructions)
        if (i.code == Code::wait) i.statement = cause_[static_cast<std::size_t>(i.out[0])];
  }

 private:
  using Axes = std::vector<int>;        // of Decisions
  using Operators = std::vector<OpId>;  // the likeliest first

  void name(AxisId axis, int decision_axis) {
    if (axis >= 0) axis_[static_cast<std::size_t>(axis)] = decision_axis;
  }

  const ProgramValue& value(ProgramValueId v) const { return w_.p.values[static_cast<std::size_t>(v)]; }
  const Layout& layout(const ProgramValue& v) const { return w_.p.layouts[static_cast<std::size_t>(v.layout)]; }

  // Indices into the plan's statements, as everything below.
  int cause(const Segment& s, const Instruction& i) const {
    switch (i.code) {
      case Code::compute:
        return of_split(piece(i));
      case Code::backward:
        return s.phase == Phase::weight ? of_algorithm(piece(i), w_.d.operator_grad_split) : of_split(piece(i));
      case Code::replay:
        return of_algorithm(piece(i), w_.d.operator_storage);
      case Code::offload:
      case Code::restore:
        return i.piece >= 0 ? of_algorithm(piece(i), w_.d.operator_storage) : of_state(i);
      case Code::local:
      case Code::issue:
        return of_move(i);
      case Code::accumulate:
        return of_sum(value(i.in[0]), value(i.out[0]));
      case Code::load:
        return of_load(value(i.out[0]));
      case Code::send:
      case Code::receive:
        return of_transfer(w_.p.transfers[static_cast<std::size_t>(i.transfer)]);
      case Code::update:
        return of_parameter(value(i.in[0]).tensor, {plan::Phase::update}, all_);
      case Code::seed:
      case Code::add:
      case Code::wait:
      case Code::free:
      case Code::write:
        return -1;
    }
    return -1;
  }

  // --- what operators do

  const Piece& piece(const Instruction& i) const { return w_.p.pieces[static_cast<std::size_t>(i.piece)]; }

  int of_split(const Piece& piece) const {
    for (const PieceOp& o : piece.ops)
      if (const int statement = split(o.op, all_); statement >= 0) return statement;
    return -1;
  }

  int of_algorithm(const Piece& piece, const std::vector<int>& by_operator) const {
    for (const PieceOp& o : piece.ops)
      if (const int a = by_operator[static_cast<std::size_t>(o.op)]; a >= 0)
        return w_.d.algorithms[static_cast<std::size_t>(a)].statement;
    return -1;
  }

  int of_state(const Instruction& i) const {
    const int parameter = parameter_[static_cast<std::size_t>(value((i.in.empty() ? i.out : i.in)[0]).tensor)];
    const int a = parameter < 0 ? -1 : w_.d.update_storage[static_cast<std::size_t>(parameter)];
    return a < 0 ? -1 : w_.d.algorithms[static_cast<std::size_t>(a)].statement;
  }

  // --- what happens to a tensor between operators

  int of_move(const Instruction& i) const {
    const ProgramValue &from = value(i.in[0]), &to = value(i.out[0]);
    const bool combines = i.move.kind == MoveKind::all_reduce || i.move.kind == MoveKind::reduce_scatter;
    Axes axes = axes_of(i.move.digits);
    if (i.move.turned.axis >= 0) axes.push_back(axis_[static_cast<std::size_t>(i.move.turned.axis)]);
    if (from.role == Role::gradient) {
      if (i.move.kind != MoveKind::all_reduce)
        if (const int s = of_parameter(from.tensor, {plan::Phase::grad, plan::Phase::update}, axes); s >= 0) return s;
      return first_split(combines ? around(from, Side::readers) : around(to, Side::writer), axes);
    }
    if (const int s = of_parameter(from.tensor, {plan::Phase::fetch, plan::Phase::update}, axes); s >= 0) return s;
    return first_split(combines ? around(from, Side::writer) : around(to, Side::readers), axes);
  }

  // Over the indices that `sum` has no more.
  int of_sum(const ProgramValue& term, const ProgramValue& sum) const {
    Axes axes;
    for (const AxisId a : term.indexed)
      if (!std::binary_search(sum.indexed.begin(), sum.indexed.end(), a))
        axes.push_back(axis_[static_cast<std::size_t>(a)]);
    return first_split(around(term, term.role == Role::gradient ? Side::readers : Side::writer), axes);
  }

  int of_load(const ProgramValue& v) const {
    Axes axes;
    for (const AxisId a : build::axes_of(layout(v))) axes.push_back(axis_[static_cast<std::size_t>(a)]);
    return first_split(around(v, Side::readers), axes);
  }

  int of_transfer(const Transfer& t) const {
    for (const ProgramValue* end : {&value(t.to[0]), &value(t.from[0])})
      for (const OpId o : around(*end, Side::readers))
        if (const int s = placed(o, end->place); s >= 0) return s;
    return -1;
  }

  // --- operators around a value

  enum class Side : std::uint8_t { writer, readers };

  // Those that write or read its tensor at its place. Readers in its own layout, or whose gradient it is, before others.
  Operators around(const ProgramValue& v, Side first) const {
    Operators writers, exact, others;
    for (const VarId id : vars_[static_cast<std::size_t>(v.tensor)]) {
      const Var& var = w_.vars[static_cast<std::size_t>(id)];
      if (var.place != v.place) continue;
      if (const OpId o = operator_of(var.producer); o >= 0) writers.push_back(o);
      for (const Read& r : var.reads)
        if (const OpId o = operator_of(r.instance); o >= 0)
          ((v.role == Role::gradient ? r.contribution : r.layout) == v.layout ? exact : others).push_back(o);
    }
    Operators out = first == Side::writer ? writers : exact;
    if (first == Side::writer) out.insert(out.end(), exact.begin(), exact.end());
    out.insert(out.end(), others.begin(), others.end());
    if (first == Side::readers) out.insert(out.end(), writers.begin(), writers.end());
    return out;
  }

  OpId operator_of(InstanceId i) const {
    if (i < 0) return -1;
    const Instance& x = w_.instances[static_cast<std::size_t>(i)];
    return x.kind == InstanceKind::op ? x.op : -1;
  }

  // --- statements

  int first_split(const Operators& operators, const Axes& axes) const {
    for (const OpId o : operators)
      if (const int s = split(o, axes); s >= 0) return s;
    return -1;
  }

  int split(OpId o, const Axes& axes) const {
    for (const int a : axes)
      if (a >= 0)
        if (const int s = w_.binding(o, a).statement; s >= 0) return s;
    return -1;
  }

  int of_parameter(TensorId t, const std::vector<plan::Phase>& phases, const Axes& axes) const {
    const int parameter = parameter_[static_cast<std::size_t>(t)];
    if (parameter < 0) return -1;
    for (const plan::Phase phase : phases)
      for (const int a : axes)
        if (a >= 0)
          if (const int s = w_.d.parameter_split(phase, parameter, a).statement; s >= 0) return s;
    return -1;
  }

  int placed(OpId o, PlaceId place) const {
    const int indexed = w_.d.operator_indexed[static_cast<std::size_t>(o)];
    const std::vector<int> one = {w_.d.operator_place[static_cast<std::size_t>(o)]};
    for (const int p : indexed < 0 ? one : w_.d.indexed_places[static_cast<std::size_t>(indexed)].places)
      if (p >= 0 && is_at(w_.d.places[static_cast<std::size_t>(p)], w_.p.places[static_cast<std::size_t>(place)]))
        return w_.d.places[static_cast<std::size_t>(p)].statement;
    return -1;
  }

  bool is_at(const plan::PlaceInfo& info, const Place& place) const {
    return info.grid == place.grid && info.fixed.size() == place.fixed.size() &&
           std::all_of(info.fixed.begin(), info.fixed.end(), [&](const plan::PlaceInfo::Fixed& f) {
             return std::any_of(place.fixed.begin(), place.fixed.end(), [&](const auto& fixed) {
               return axis_[static_cast<std::size_t>(fixed.first)] == f.axis && fixed.second == f.value;
             });
           });
  }

  Axes axes_of(const std::vector<Digit>& digits) const {
    Axes out;
    for (const Digit& d : digits) out.push_back(axis_[static_cast<std::size_t>(d.axis)]);
    return out;
  }

  Work& w_;
  Axes all_;
  std::vector<std::vector<VarId>> vars_;  // by tensor
  std::vector<int> parameter_;            // by tensor, into Graph::parameters
  std::vector<int> axis_;                 // by axis of the Program, into Decisions::axes; -1: of no statement's
  std::vector<int> cause_;                // by value that is waited for
};

}  // namespace

bool find_causes(Work& w) {
  Causes(w).run();
  return true;
}

}  // namespace planscope::build
