#include "planner/verify/trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "engine/graph/schemas.h"
#include "engine/program/bucket.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

class Tracer {
 public:
  Tracer(const Graph& g, const Program& p, const Makers& m)
      : g_(g), p_(p), makers_(m), local_(p.values.size() + p.pieces.size(), -1), refills_(p.values.size()) {
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p.values.size()); ++v)
      if (at(p.values, v).refills >= 0) refills_[static_cast<std::size_t>(at(p.values, v).refills)].push_back(v);
    for (const Segment& s : p.segments)
      for (const Instruction& i : s.instructions)
        if (i.code == Code::accumulate)
          for (const ProgramValueId v : i.out) added_[v].emplace_back(&s, &i);
  }

  Trace run(const Segment& s) {
    trace_ = {};
    for (instruction_ = 0; instruction_ < static_cast<int>(s.instructions.size()); ++instruction_) {
      last_ = at(s.instructions, instruction_).last;
      add(at(s.instructions, instruction_));
    }
    for (const Subject x : trace_.subjects) local_[static_cast<std::size_t>(x)] = -1;
    return std::move(trace_);
  }

 private:
  int local(Subject x) {
    int& l = local_[static_cast<std::size_t>(x)];
    if (l < 0) {
      l = static_cast<int>(trace_.subjects.size());
      trace_.subjects.push_back(x);
    }
    return l;
  }
  void step(Event e, Subject x) {
    if (e == Event::make || e == Event::begin || e == Event::accumulate) begins_alone(x);
    trace_.steps.push_back({e, instruction_, local(x), last_});
  }
  void choose(Event e, std::vector<int> choice) {
    trace_.steps.push_back({e, instruction_, static_cast<int>(trace_.choices.size()), last_});
    trace_.choices.push_back(std::move(choice));
  }

  // A value and what holds its contents again are one storage: each begins when all others have ended.
  void begins_alone(Subject x) {
    if (x >= static_cast<Subject>(p_.values.size())) return;
    const ProgramValueId original = at(p_.values, x).refills >= 0 ? at(p_.values, x).refills : x;
    const std::vector<ProgramValueId>& again = at(refills_, original);
    if (again.empty()) return;
    std::vector<int> choice{local(x)};
    if (original != x) choice.push_back(local(original));
    for (const ProgramValueId r : again)
      if (r != x) choice.push_back(local(r));
    choose(Event::alone, std::move(choice));
  }
  void steps(Event e, const std::vector<ProgramValueId>& values) {
    for (const ProgramValueId v : values)
      if (v >= 0) step(e, v);
  }
  Subject kept(PieceId piece) const { return static_cast<Subject>(p_.values.size()) + piece; }

  // How the terms of a value are split that a slice may read while they are added: all by one free axis alone, in one way, at
  // the dimension that the slice cuts. Nothing: it may not.
  std::optional<GrowingRead> growing_read(const Instruction& slice) const {
    const Move& m = slice.move;
    const auto terms = m.kind == MoveKind::slice ? added_.find(slice.in[0]) : added_.end();
    if (terms == added_.end() || slice.in.size() != 1 || m.digits.size() != 1 || m.part == kByKey) return {};
    const Digit& d = m.digits[0];
    if (!cuts(slice.in[0], m).empty() || !whole_axis(d, d.axis)) return {};
    std::optional<GrowingRead> out;
    for (const auto& [segment, i] : terms->second) {
      const std::vector<Digit> term = i->out.size() > 1 ? std::vector<Digit>{} : cuts(i->in[0], m);
      std::vector<AxisId> over;
      for (const AxisId a : segment->free_axes)
        if (const auto& kept = at(p_.values, slice.in[0]).indexed; std::find(kept.begin(), kept.end(), a) == kept.end())
          over.push_back(a);
      if (out || term.size() != 1 || !whole_axis(term[0], d.axis) || over != std::vector<AxisId>{d.axis} ||
          (term[0].reach == Reach::prefix && d.reach == Reach::prefix))
        return {};
      out = GrowingRead{d.axis, term[0].reach, d.reach};
    }
    return out;
  }

  std::vector<Digit> cuts(ProgramValueId v, const Move& m) const {
    for (const Split& s : at(p_.layouts, at(p_.values, v).layout).splits)
      if (s.dim == m.dim && s.part == m.part) return s.digits;
    return {};
  }

  bool whole_axis(const Digit& d, AxisId axis) const {
    const Axis& a = at(p_.axes, d.axis);
    return d.axis == axis && a.grid < 0 && a.of < 0 && d.stride == 1 && d.size == a.size && d.sizes.empty() &&
           !is_turned(d) && d.reach != Reach::every;
  }

  const Instruction* maker(ProgramValueId v) const {
    const CodePoint& c = at(makers_.of, v);
    return c.segment < 0 ? nullptr : &at(at(p_.segments, c.segment).instructions, c.instruction);
  }

  void add(const Instruction& i) {
    switch (i.code) {
      case Code::load:
      case Code::seed:
        return steps(Event::make, i.out);
      case Code::write:
        return steps(Event::read, i.in);
      case Code::compute:
      case Code::replay:
        steps(Event::read, i.in);
        steps(Event::make, i.out);
        if (i.keep) step(Event::make, kept(i.piece));
        return;
      case Code::backward:
        steps(Event::read, i.in);
        step(Event::read, kept(i.piece));
        read_saved(i.piece);
        return steps(Event::make, i.out);
      case Code::add:
      case Code::local:
        if (const auto growing = i.code == Code::local ? growing_read(i) : std::nullopt) {
          trace_.growing[instruction_] = *growing;
          step(Event::read_some, i.in[0]);
        } else {
          steps(Event::read, i.in);
        }
        return steps(Event::make, i.out);
      case Code::accumulate:
        steps(Event::read, i.in);
        return steps(Event::accumulate, i.out);
      case Code::issue:
        steps(Event::hold, i.in);
        return steps(Event::begin, i.out);
      case Code::wait:
        for (const ProgramValueId v : i.out) {
          step(Event::settle, v);
          const Instruction* m = maker(v);
          if (m == nullptr || m->code != Code::issue) continue;
          const auto k = static_cast<std::size_t>(std::find(m->out.begin(), m->out.end(), v) - m->out.begin());
          for (const ProgramValueId operand : operands_of(*m, k)) step(Event::release, operand);
        }
        return;
      case Code::send:
        return steps(Event::read, i.in);
      case Code::receive:
        return steps(Event::begin, i.out);
      case Code::update:
        step(Event::read, i.in[1]);
        if (i.in.size() > 2) step(Event::read, i.in[2]);
        return step(Event::update, i.in[0]);
      case Code::free:
        return steps(Event::end, i.in);
      case Code::offload:
        return i.piece < 0 ? steps(Event::end, i.in) : step(Event::end, kept(i.piece));
      case Code::restore:
        return i.piece < 0 ? steps(Event::make, i.out) : step(Event::make, kept(i.piece));
    }
  }

  // What backward reads of the leaves: stored parameters, which must not have changed yet, and values that are made again
  // instead of being kept.
  void read_saved(PieceId id) {
    const CodePoint& c = at(makers_.kept, id);
    if (c.segment < 0) return;
    const Instruction& forward = at(at(p_.segments, c.segment).instructions, c.instruction);
    const Piece& piece = at(p_.pieces, id);
    std::vector<bool> saved(piece.slots.size(), false);
    for (const PieceOp& o : piece.ops) {
      const Op& op = at(g_.ops, o.op);
      if (!op.backward) continue;
      for (const int k : op.saves) {
        const int slot = k < 0 ? o.first_output - 1 - k : k < static_cast<int>(o.inputs.size()) ? at(o.inputs, k) : -1;
        if (slot >= 0 && slot < static_cast<int>(saved.size())) saved[static_cast<std::size_t>(slot)] = true;
      }
    }
    for (auto o = piece.ops.rbegin(); o != piece.ops.rend(); ++o)
      if (o->inputs.size() == 1 && may_be_view(at(g_.ops, o->op)))
        for (int k = 0; k < static_cast<int>(at(g_.ops, o->op).outputs.size()); ++k)
          if (saved[static_cast<std::size_t>(o->first_output + k)])
            saved[static_cast<std::size_t>(o->inputs[0])] = true;
    for (int k = 0; k < piece.leaves; ++k)
      if (saved[static_cast<std::size_t>(k)]) read_leaf(at(forward.in, k));
  }

  // Of its one operand: by the operator's schema; operators that have none, and dropout, which gives back what it does not
  // change, may.
  bool may_be_view(const Op& op) {
    const std::string& target = at(g_.model->nodes, op.node).target;
    const auto [known, fresh] = views_.emplace(target, true);
    if (fresh && target.find("dropout") == std::string::npos)
      if (const std::optional<Schema> schema = find_schema(target)) known->second = schema->view;
    return known->second;
  }

  void read_leaf(ProgramValueId v) {
    const std::vector<ProgramValueId>& again = at(refills_, v);
    if (again.empty()) {
      if (at(p_.values, v).role == Role::home) step(Event::read, v);
      return;
    }
    std::vector<int> choice{local(v)};
    for (const ProgramValueId r : again) choice.push_back(local(r));
    choose(Event::read_any, std::move(choice));
  }

  const Graph& g_;
  const Program& p_;
  const Makers& makers_;
  std::vector<int> local_;
  std::vector<std::vector<ProgramValueId>> refills_;
  std::map<ProgramValueId, std::vector<std::pair<const Segment*, const Instruction*>>> added_;
  std::map<std::string, bool> views_;  // by target
  Trace trace_;
  int instruction_ = 0;
  bool last_ = false;  // Instruction::last
};

}  // namespace

std::vector<Trace> traces(const Graph& g, const Program& p, const Makers& m) {
  Tracer tracer(g, p, m);
  std::vector<Trace> out;
  for (const Segment& s : p.segments) out.push_back(tracer.run(s));
  return out;
}

std::vector<AxisId> indexed_by(const Program& p, const Makers& m, Subject x) {
  if (x < static_cast<Subject>(p.values.size())) return at(p.values, x).indexed;
  const CodePoint& c = at(m.kept, x - static_cast<int>(p.values.size()));
  std::vector<AxisId> axes = c.segment < 0 ? std::vector<AxisId>{} : at(p.segments, c.segment).free_axes;
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace planscope::verification
