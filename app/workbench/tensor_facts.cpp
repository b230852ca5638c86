#include "app/workbench/tensor_facts.h"

#include <algorithm>
#include <set>

#include "app/workbench/communication_times.h"
#include "engine/base/enumeration.h"
#include "engine/base/text.h"
#include "engine/plan/selection.h"
#include "engine/program/bucket.h"
#include "engine/program/operand_layouts.h"
#include "engine/program/transfer.h"

namespace planscope {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

struct Where {
  SegmentId segment = -1;
  int instruction = -1;
  std::size_t position = 0;  // among the results, or the operands
};

// The way of a value from where it was computed.
struct Way {
  ProgramValueId source = -1;
  std::vector<ProgramValueId> made;  // by moves, in the order in which they run
};

class Facts {
 public:
  Facts(const Evaluation& e, const Cluster& c, TensorId t, const TensorQuestion& q, std::vector<Conversion> conversions)
      : g_(*e.made.graph), p_(e.made.program), tensor_(t), q_(q), conversions_(std::move(conversions)),
        times_(communication_times(e.made.program, c, e.simulation)), index_(p_.axes.size(), 0) {
    for (std::size_t a = 0; a < p_.axes.size(); ++a) {
      const auto wanted = q.index.find(root(static_cast<AxisId>(a)).name);
      if (p_.axes[a].grid < 0 && wanted != q.index.end())
        index_[a] = std::clamp<std::int64_t>(wanted->second, 0, root(static_cast<AxisId>(a)).size - 1);
    }
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s) look_at(s);
    for (const Conversion& conversion : conversions_)
      for (const ExplainedMove& m : conversion.chosen.moves)
        if (m.made >= 0) moves_[m.made] = {&conversion, &m};
  }

  TensorFacts run() {
    out_.tensor = g_.tensor_name(tensor_);
    out_.dtype = std::string(to_string(at(g_.model->values, tensor_).dtype));
    out_.sizes = g_.sizes(tensor_);
    out_.dimensions = dimension_names(g_, tensor_);
    out_.gradient = q_.gradient, out_.has_gradient = at(g_.tensors, tensor_).gradient;
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s)
      if (runs_at_index(s)) inside_pieces(s);
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p_.values.size()); ++v)
      if (of_question(v)) q_.gradient ? contributions(v) : reader(v);
    count_shared();
    for (const TensorReader& r : out_.readers) indices_of(r);
    for (const TensorSide& w : out_.writers) indices_of(w);
    return std::move(out_);
  }

 private:
  const Axis& root(AxisId a) const {
    while (at(p_.axes, a).of >= 0) a = at(p_.axes, a).of;
    return at(p_.axes, a);
  }

  const ProgramValue& value(ProgramValueId v) const { return at(p_.values, v); }
  const Instruction& instruction(const Where& w) const {
    return at(at(p_.segments, w.segment).instructions, w.instruction);
  }
  bool of_question(ProgramValueId v) const {
    const ProgramValue& x = value(v);
    const bool of_value = x.role == Role::data || x.role == Role::home;
    return x.tensor == tensor_ && (q_.gradient ? x.role == Role::gradient : of_value);
  }

  bool runs_at_index(SegmentId s) const {
    if (q_.every_place) return true;
    return std::all_of(at(p_.segments, s).free_axes.begin(), at(p_.segments, s).free_axes.end(), [&](AxisId a) {
      const Axis& axis = at(p_.axes, a);
      return axis.of < 0 || std::find(axis.indices.begin(), axis.indices.end(),
          index_[static_cast<std::size_t>(a)]) != axis.indices.end();
    });
  }

  void look_at(SegmentId s) {
    const std::vector<Instruction>& all = at(p_.segments, s).instructions;
    for (int k = 0; k < static_cast<int>(all.size()); ++k) {
      const Instruction& i = at(all, k);
      if (i.code == Code::send) {
        sends_.try_emplace(i.transfer, Where{s, k, 0});
        const std::vector<ProgramValueId>& from = at(p_.transfers, i.transfer).from;
        sent_.insert(from.begin(), from.end());
      }
      if (i.code == Code::wait || i.code == Code::free || i.code == Code::send) continue;
      for (std::size_t j = 0; j < i.out.size(); ++j)
        if (i.out[j] >= 0 && of_question(i.out[j])) makers_[i.out[j]].push_back({s, k, j});
      for (std::size_t j = 0; j < i.in.size(); ++j)
        if (i.in[j] >= 0 && of_question(i.in[j])) users_[i.in[j]].push_back({s, k, j});
    }
  }

  static bool passes_on(const Instruction& i) {
    return i.code == Code::issue || i.code == Code::local || i.code == Code::add || i.code == Code::accumulate;
  }

  std::vector<Way> ways_to(ProgramValueId v, std::set<ProgramValueId> seen = {}) const {
    const auto makers = makers_.find(v);
    std::vector<Way> out;
    if (!seen.insert(v).second) return out;
    const auto from = [&](ProgramValueId operand, bool move) {
      if (operand < 0 || !of_question(operand)) return;
      for (Way& w : ways_to(operand, seen)) {
        if (move) w.made.push_back(v);
        out.push_back(std::move(w));
      }
    };
    if (makers == makers_.end()) return {{v, {}}};
    for (const Where& w : makers->second) {
      const Instruction& i = instruction(w);
      if (i.code == Code::issue || i.code == Code::local)
        from(operands_of(i, w.position)[0], true);
      else if (i.code == Code::receive)
        from(sent_as(p_, i, v), true);
      else if (i.code == Code::add || i.code == Code::accumulate)
        for (const ProgramValueId operand : i.in) from(operand, true);
      else
        out.push_back({v, {}});
    }
    return out;
  }

  TensorSide side(const Layout& layout, PlaceId place, const std::string& segment) const {
    TensorSide out;
    out.segment = segment;
    out.place = describe(p_, at(p_.places, place));
    out.layout = describe(p_, g_, layout, tensor_);
    out.tiling = tiles(g_, p_, tensor_, layout, at(p_.places, place), index_, q_.most_tiles);
    for (const Split& s : layout.splits)
      for (const Digit& d : s.digits) depends_.insert({d.axis, d.by});
    for (const Partial& x : layout.partials) depends_.insert(x.digit.axis);
    return out;
  }
  TensorSide side(ProgramValueId v, const std::string& segment) const {
    return side(at(p_.layouts, value(v).layout), value(v).place, segment);
  }

  void name(TensorSide& s, std::vector<OpId> ops, const std::string& otherwise) const {
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    constexpr std::size_t named = 3;
    std::vector<std::string> names;
    for (const OpId o : ops)
      if (names.size() < named) names.push_back(g_.node(o).name());
    s.operators = names.empty() ? otherwise : and_more(join(names, ", "), ops.size() - names.size());
    s.ops = std::move(ops);
  }

  std::vector<OpId> readers_of_slot(const Piece& piece, int slot) const {
    std::vector<OpId> out;
    for (const PieceOp& o : piece.ops)
      if (std::find(o.inputs.begin(), o.inputs.end(), slot) != o.inputs.end()) out.push_back(o.op);
    return out;
  }

  int writer(TensorSide side) {
    const auto same = [&](const TensorSide& w) {
      return w.place == side.place && w.layout == side.layout && w.operators == side.operators;
    };
    const auto found = std::find_if(out_.writers.begin(), out_.writers.end(), same);
    if (found != out_.writers.end()) return static_cast<int>(found - out_.writers.begin());
    out_.writers.push_back(std::move(side));
    return static_cast<int>(out_.writers.size()) - 1;
  }

  // Where the tensor is computed, and operators of the same piece, which read it as it is.
  void inside_pieces(SegmentId s) {
    const OpId producer = at(g_.tensors, tensor_).producer;
    const Segment& segment = at(p_.segments, s);
    for (const Instruction& i : segment.instructions) {
      if (producer < 0 || i.code != (q_.gradient ? Code::backward : Code::compute)) continue;
      const Piece& piece = at(p_.pieces, i.piece);
      for (const PieceOp& o : piece.ops) {
        if (o.op != producer) continue;
        const int slot = o.first_output + at(g_.tensors, tensor_).output;
        const auto output = std::find(piece.outputs.begin(), piece.outputs.end(), slot);
        const bool leaves = output != piece.outputs.end();
        if (q_.gradient && leaves) continue;  // told by the value that comes in
        const Layout& held = at(p_.layouts, at(piece.slots, slot).layout);
        TensorSide made = side(q_.gradient ? dual(held) : held, segment.place, segment.name);
        name(made, {producer}, "");
        TensorReader reader{made, 0, {}, {}};
        reader.writer = writer(std::move(made));
        const std::vector<OpId> readers = readers_of_slot(piece, slot);
        if (readers.empty()) continue;
        name(reader, readers, "");
        add(std::move(reader));
      }
    }
  }

  void add(TensorReader r) {
    for (TensorReader& o : out_.readers)
      if (o.writer == r.writer && o.place == r.place && o.layout == r.layout && o.operators == r.operators &&
          made_by(o) == made_by(r))
        return;
    out_.readers.push_back(std::move(r));
  }
  static std::vector<ProgramValueId> made_by(const TensorReader& r) {
    std::vector<ProgramValueId> out;
    for (const TensorMove& m : r.moves) out.push_back(m.move.made);
    return out;
  }

  int source(ProgramValueId v) {
    const auto makers = makers_.find(v);
    if (value(v).role == Role::home || makers == makers_.end()) {
      TensorSide s = side(v, "");
      name(s, {}, value(v).role == Role::home ? "home" : "input");
      return writer(std::move(s));
    }
    const Where& w = makers->second.front();
    TensorSide s = side(v, at(p_.segments, w.segment).name);
    const OpId producer = at(g_.tensors, tensor_).producer;
    name(s, producer >= 0 ? std::vector<OpId>{producer} : std::vector<OpId>{},
        std::string(to_string(instruction(w).code)));
    return writer(std::move(s));
  }

  void reader(ProgramValueId v) {
    std::vector<OpId> ops;
    std::string otherwise;
    SegmentId segment = -1;
    bool filtered = false;
    const ProgramValueId read_as = value(v).refills >= 0 ? value(v).refills : v;
    for (const ProgramValueId u : {v, read_as}) {
      const auto users = users_.find(u);
      if (users == users_.end() || (u != v && segment >= 0)) continue;
      for (const Where& w : users->second) {
        const Instruction& i = instruction(w);
        if (passes_on(i) || i.code == Code::update) continue;
        if (!runs_at_index(w.segment)) {
          filtered = true;
          continue;
        }
        if (i.piece >= 0 && i.code != Code::backward)
          for (const OpId o : readers_of_slot(at(p_.pieces, i.piece), static_cast<int>(w.position))) ops.push_back(o);
        if (segment < 0) segment = w.segment, otherwise = std::string(to_string(i.code));
      }
    }
    const auto makers = makers_.find(v);
    const bool end = users_.find(v) == users_.end() && !sent_.contains(v);  // nothing reads it but what it is made for
    if (segment < 0 && (filtered || !end || makers == makers_.end() || !passes_on(instruction(makers->second.front()))))
      return;
    if (end) {
      segment = makers->second.front().segment;
      otherwise = value(v).refills >= 0 ? "backward" : v == p_.loss ? "the loss" : "nothing";
    }
    if (!runs_at_index(segment)) return;
    for (const Way& way : ways_to(v)) {
      TensorReader r{side(v, at(p_.segments, segment).name), 0, {}, {}};
      name(r, ops, otherwise);
      r.writer = source(way.source);
      moves(way, r);
      add(std::move(r));
    }
  }

  void contributions(ProgramValueId v) {
    const auto users = users_.find(v);
    if (users == users_.end()) return;
    for (const Where& use : users->second) {
      const Instruction& i = instruction(use);
      if (passes_on(i) || !runs_at_index(use.segment)) continue;
      TensorSide wanted = side(v, at(p_.segments, use.segment).name);
      const OpId producer = at(g_.tensors, tensor_).producer;
      name(wanted, producer >= 0 ? std::vector<OpId>{producer} : std::vector<OpId>{}, std::string(to_string(i.code)));
      const int to = writer(std::move(wanted));
      for (const Way& way : ways_to(v)) {
        const auto makers = makers_.find(way.source);
        TensorReader r{side(way.source, ""), 0, {}, {}};
        std::vector<OpId> ops;
        std::string otherwise = "none";
        if (makers != makers_.end()) {
          const Where& w = makers->second.front();
          const Instruction& maker = instruction(w);
          r.segment = at(p_.segments, w.segment).name;
          otherwise = std::string(to_string(maker.code));
          if (maker.code == Code::backward)
            ops = readers_of_slot(at(p_.pieces, maker.piece), static_cast<int>(w.position));
        }
        name(r, ops, otherwise);
        r.writer = to;
        moves(way, r);
        add(std::move(r));
      }
    }
  }

  void moves(const Way& way, TensorReader& r) const {
    std::set<const Conversion*> told;
    for (const ProgramValueId v : way.made) {
      const auto known = moves_.find(v);
      const Where& maker = makers_.at(v).front();
      if (known == moves_.end()) {
        r.moves.push_back({sum(v, instruction(maker)), at(p_.segments, maker.segment).name, 0, 1});
        continue;
      }
      TensorMove m{*known->second.second, at(p_.segments, maker.segment).name, {}, 1};
      Where runs = maker;
      const auto sent = sends_.find(instruction(maker).transfer);
      if (instruction(maker).code == Code::receive && sent != sends_.end())
        runs = sent->second;
      if (instruction(maker).code == Code::local) {
        m.exposed_us = 0;
      } else if (times_.detailed) {
        const CommunicationTime t = times_.over_classes(runs.segment, runs.instruction);
        if (t.busy_us > 0) m.exposed_us = m.move.time.count * std::min(1.0, t.exposed_us / t.busy_us);
      }
      r.moves.push_back(std::move(m));
      if (told.insert(known->second.first).second) r.hops.push_back(*known->second.first);
    }
  }

  // Added on each device: to other contributions, or index by index.
  ExplainedMove sum(ProgramValueId v, const Instruction& i) const {
    std::vector<std::string> axes;
    for (const ProgramValueId operand : i.in)
      for (const AxisId a : operand < 0 ? std::vector<AxisId>{} : value(operand).indexed) {
        const std::vector<AxisId>& kept = value(v).indexed;
        const std::string& name = root(a).name;
        if (std::find(kept.begin(), kept.end(), a) == kept.end() &&
            std::find(axes.begin(), axes.end(), name) == axes.end())
          axes.push_back(name);
      }
    const std::string what = i.code == Code::add ? "add " + std::to_string(i.in.size()) + " of them"
                             : axes.empty()        ? "add up"
                                                   : "add up over " + join(axes, ", ");
    return {what, {}, {}, std::string(to_string(i.code)), 1, v};
  }

  void count_shared() {
    std::map<ProgramValueId, int> readers;
    for (const TensorReader& r : out_.readers)
      for (const TensorMove& m : r.moves) ++readers[m.move.made];
    for (TensorReader& r : out_.readers)
      for (TensorMove& m : r.moves) m.shared = readers[m.move.made];
  }

  void indices_of(const TensorSide& s) {
    for (const Segment& segment : p_.segments)
      if (segment.name == s.segment)
        for (const AxisId a : segment.free_axes)
          if (at(p_.axes, a).of >= 0) depends_.insert(a);
    for (const AxisId a : depends_) {
      if (a < 0 || at(p_.axes, a).grid >= 0) continue;
      const Axis& axis = root(a);
      const auto known = [&](const TensorIndex& i) { return i.axis == axis.name; };
      if (std::any_of(out_.indices.begin(), out_.indices.end(), known)) continue;
      out_.indices.push_back({axis.name, axis.size, index_[static_cast<std::size_t>(a)]});
    }
  }

  const Graph& g_;
  const Program& p_;
  TensorId tensor_;
  const TensorQuestion& q_;
  std::vector<Conversion> conversions_;
  CommunicationTimes times_;
  Point index_;
  std::map<ProgramValueId, std::vector<Where>> makers_, users_;
  std::map<int, Where> sends_;  // by transfer
  std::set<ProgramValueId> sent_;
  std::map<ProgramValueId, std::pair<const Conversion*, const ExplainedMove*>> moves_;
  mutable std::set<AxisId> depends_;
  TensorFacts out_;
};

}  // namespace

Result<TensorFacts> tensor_facts(const Evaluation& e, const Cluster& c, const std::string& tensor,
    const TensorQuestion& q) {
  const Graph& g = *e.made.graph;
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t) {
    if (g.tensor_name(t) != tensor) continue;
    Result<std::vector<Conversion>> conversions = explain(g, e.made.program, c, plan::literal_glob(tensor));
    if (!conversions.ok()) return conversions.diagnostics;
    return Facts(e, c, t, q, std::move(*conversions)).run();
  }
  return error("there is no tensor '" + printable(tensor) + "'");
}

}  // namespace planscope
