// Combinations over free axes: a reader that is not bound to an axis over which a value is split or partial reads the
// sum, or the blocks put together, of all its indices.
#include <algorithm>
#include <iterator>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Combinations {
 public:
  explicit Combinations(Work& w) : w_(w) {}

  void run() {
    for (std::size_t v = 0; v < w_.vars.size(); ++v) {  // grows: what is left over other axes is combined again
      if (w_.vars[v].kind == VarKind::stored || w_.vars[v].kind == VarKind::source) continue;
      for (AxisSet over = next_combination(static_cast<VarId>(v)); !over.empty();
           over = next_combination(static_cast<VarId>(v)))
        combine(static_cast<VarId>(v), over);
    }
  }

 private:
  // Free axes of the value that a reader's layout lacks; of all readers the fewest.
  AxisSet next_combination(VarId id) {
    const Var& v = w_.vars[static_cast<std::size_t>(id)];
    AxisSet best;
    const auto consider = [&](const AxisSet& lacking) {
      if (!lacking.empty() && (best.empty() || lacking.size() < best.size())) best = lacking;
    };
    for (const Read& r : v.reads) consider(lacking(v, r));
    if (best.empty() && (!v.received.empty() || joins(v))) consider(free_partials(v));
    const AxisSet weighed = softmax_axes(w_, v);  // these first: results that have been put together have other weights
    return best.empty() || weighed.empty() ? best : weighed;
  }

  // Whether a value is put together of this one and those of other classes.
  bool joins(const Var& v) const {
    return v.kind != VarKind::received && std::any_of(v.combined.begin(), v.combined.end(), [&](VarId c) {
             return w_.vars[static_cast<std::size_t>(c)].of_classes;
           });
  }

  // Free axes that split the value, or over which it is partial, in a way that the reader does not share.
  const AxisSet& lacking(const Var& v, const Read& r) {
    const auto [known, fresh] = lacking_.try_emplace({v.written, r.layout});
    if (!fresh) return known->second;
    const Layout& written = w_.p.layouts[static_cast<std::size_t>(v.written)];
    const Layout& read = w_.p.layouts[static_cast<std::size_t>(r.layout)];
    AxisSet& out = known->second;
    for (const AxisId a : axes_of(written)) {  // who reads up to its index reads from what grows (grow())
      const Layout have = only_axes(written, {a}), want = only_axes(read, {a});
      if (whole_axis(a) && have != want && have != with_own(want)) out.push_back(a);
    }
    return out;
  }

  AxisSet free_partials(const Var& v) const {
    AxisSet out;
    for (const Partial& p : w_.p.layouts[static_cast<std::size_t>(v.written)].partials)
      if (whole_axis(p.digit.axis) && (out.empty() || out.back() != p.digit.axis)) out.push_back(p.digit.axis);
    return out;
  }

  // A free axis that is not divided; classes of one are put together where they are read.
  bool whole_axis(AxisId a) const { return w_.is_free(a) && w_.p.axes[static_cast<std::size_t>(a)].of < 0; }

  bool divides(TensorId t, const Split& s) const {
    std::int64_t blocks = 1;
    for (const Digit& d : s.digits) blocks *= d.size;
    const auto& parts = w_.g.tensors[static_cast<std::size_t>(t)].dims[static_cast<std::size_t>(s.dim)];
    return w_.g.classes[static_cast<std::size_t>(parts[static_cast<std::size_t>(s.part)])].size % blocks == 0;
  }

  // Whether blocks of all indices stay by themselves, as all who read them together get them one by one from their homes.
  bool rotates(const Var& v, const AxisSet& over) {
    const Layout& written = w_.p.layouts[static_cast<std::size_t>(v.written)];
    const Layout home = with_every(written, over);
    if (!holds_every(home) || !written.partials.empty() || !v.received.empty() || !v.combined.empty()) return false;
    if (!std::all_of(home.splits.begin(), home.splits.end(),
                     [&](const Split& s) { return !holds_every({{s}, {}}) || divides(v.tensor, s); }))
      return false;
    return std::all_of(v.reads.begin(), v.reads.end(), [&](const Read& r) {
      const AxisSet& l = lacking(v, r);
      if (!std::includes(l.begin(), l.end(), over.begin(), over.end())) return true;
      const Layout& read = w_.p.layouts[static_cast<std::size_t>(r.layout)];
      return at_home(w_.p, read, home, axes_of(read), false) == home;
    });
  }

  // Reads that lack `over` get the combination; so does what would receive partial values, or be put together of them.
  void combine(VarId v, const AxisSet& over) {
    const Layout written = w_.p.layouts[static_cast<std::size_t>(w_.vars[static_cast<std::size_t>(v)].written)];
    const bool every = rotates(w_.vars[static_cast<std::size_t>(v)], over);
    const Layout ready = every ? written : made_minor(written, over);
    const VarId id = make_combined(w_, {{v, w_.intern(ready)}}, over,
                                   w_.intern(every ? with_every(ready, over) : without_axes(ready, over)),
                                   w_.vars[static_cast<std::size_t>(v)].place, {});
    Var& from = w_.vars[static_cast<std::size_t>(v)];
    Var& c = w_.vars[static_cast<std::size_t>(id)];
    const auto moves = [&](const Read& r) {
      const AxisSet& l = lacking(from, r);
      return std::includes(l.begin(), l.end(), over.begin(), over.end());
    };
    std::copy_if(from.reads.begin(), from.reads.end(), std::back_inserter(c.reads), moves);
    std::erase_if(from.reads, moves);
    if (!every && softmax_axes(w_, from).empty()) tell_barrier(from, c, over);
    const AxisSet partial = free_partials(from);
    if (!partial.empty() && std::includes(over.begin(), over.end(), partial.begin(), partial.end()))
      hand_over(v, id, over);
    for (const Read& r : c.reads) {
      Instance& reader = w_.instances[static_cast<std::size_t>(r.instance)];
      if (r.operand >= 0) reader.inputs[static_cast<std::size_t>(r.operand)] = id;
      for (auto& [key, layout] : reader.keys)
        if (r.operand < 0 && key == v && layout == r.layout) key = id;
    }
    join_weights(v, id, over);
  }

  // A barrier: blocks of all indices are put together for a reader, or a sum is read where the indices run one after the
  // other, so that all of them run once for the sum before. What no parameter reaches costs little: of that, nothing is said.
  void tell_barrier(const Var& from, const Var& combination, const AxisSet& over) {
    if (from.producer < 0) return;
    const OpId writer = w_.instances[static_cast<std::size_t>(from.producer)].op;
    if (writer < 0 || !w_.reached(writer)) return;
    for (const AxisId a : over) {
      const bool blocks = !only_axes(w_.p.layouts[static_cast<std::size_t>(from.written)], {a}).splits.empty();
      for (const Read& r : combination.reads) {
        const Instance& reader = w_.instances[static_cast<std::size_t>(r.instance)];
        const bool in_turn = std::binary_search(reader.set.begin(), reader.set.end(), a);
        if (reader.kind == InstanceKind::op && (blocks || in_turn))
          return tell_barrier(a, from.tensor, writer, reader.op);
      }
    }
  }

  // Only a reader that has such a factor can be split as well.
  std::string barrier_hint(OpId writer, OpId reader, const AxisBinding& split, const std::string& axis) const {
    const Op &from = w_.g.ops[static_cast<std::size_t>(writer)], &to = w_.g.ops[static_cast<std::size_t>(reader)];
    std::string reason = to.known ? "" : "it has no rule";
    for (const FactorBinding& bound : split.factors)
      for (const Factor& f : to.factors) {
        const auto& parts = from.factors[static_cast<std::size_t>(bound.factor)].parts;
        const bool same = std::find_first_of(parts.begin(), parts.end(), f.parts.begin(), f.parts.end()) != parts.end();
        if (to.known && same && f.kind == FactorKind::frozen)
          reason = f.reason.empty() ? "it is frozen there" : f.reason;
      }
    if (reason.empty()) return "split the reader over " + axis + " as well, or leave both whole";
    return "the reader cannot be split over " + axis + " (" + reason +
           "): accept it, or leave the writer whole, 'trans " + w_.g.node(writer).name() + " none by " + axis + "'" +
           (to.known ? "" : ", or write a rule for the reader in a file MODEL.rules beside the model");
  }

  void tell_barrier(AxisId axis, TensorId tensor, OpId writer, OpId reader) {
    const AxisId of = w_.p.axes[static_cast<std::size_t>(axis)].of;  // of a class of indices
    const auto found = std::find(w_.free_axis_ids.begin(), w_.free_axis_ids.end(), of >= 0 ? of : axis);
    if (found == w_.free_axis_ids.end()) return;
    const int a = static_cast<int>(found - w_.free_axis_ids.begin());
    const AxisBinding &split = w_.binding(writer, a), &read = w_.binding(reader, a);
    const bool says_whole = read.statement >= 0 && !read.bound();
    const int statement = says_whole || split.statement < 0 ? read.statement : split.statement;
    const std::string& name = w_.p.axes[static_cast<std::size_t>(axis)].name;
    if (statement < 0 && std::any_of(told_.begin(), told_.end(), [&](const auto& t) { return t.second == a; })) return;
    if (!told_.insert({statement, a}).second) return;
    Diagnostic d =
        warning("all indices of " + name + " run before '" + w_.g.tensor_name(tensor) + "' is read",
                w_.g.node(reader).name() + " needs the whole of it", barrier_hint(writer, reader, split, name));
    if (statement >= 0) {
      d.file = w_.d.plan.file;
      d.line = w_.d.plan.statements[static_cast<std::size_t>(statement)].line;
      d.subject = w_.statement_text(statement);
    }
    w_.diagnostics.push_back(std::move(d));
  }

  // What is made of a var is made of its combination instead.
  void hand_over(VarId v, VarId combination, const AxisSet& over) {
    Var& from = w_.vars[static_cast<std::size_t>(v)];
    Var& to = w_.vars[static_cast<std::size_t>(combination)];
    to.received.swap(from.received);
    for (const VarId r : to.received) {
      Var& received = w_.vars[static_cast<std::size_t>(r)];
      received.from = combination;
      received.written = as_received(w_, to, received.place);
      for (const VarId j : received.combined) finish(j, r, r, over);
    }
    for (const VarId j : from.combined) {
      if (!w_.vars[static_cast<std::size_t>(j)].of_classes) continue;
      finish(j, v, combination, over);
      to.combined.push_back(j);
    }
    std::erase_if(from.combined, [&](VarId j) { return w_.vars[static_cast<std::size_t>(j)].of_classes; });
  }

  // A part of a joined value has been combined over some axes; so have all others, or will be.
  void finish(VarId joined, VarId part, VarId now, const AxisSet& over) {
    Var& j = w_.vars[static_cast<std::size_t>(joined)];
    const auto without = [&](LayoutId l) {
      return w_.intern(without_axes(made_minor(w_.p.layouts[static_cast<std::size_t>(l)], over), over));
    };
    for (CombinedPart& p : j.parts)
      if (p.from == part) p = {now, without(p.ready)};
    j.written = without(j.written);
    AxisSet left;
    std::set_difference(j.set.begin(), j.set.end(), over.begin(), over.end(), std::back_inserter(left));
    j.set = left;
    w_.instances[static_cast<std::size_t>(j.producer)].set = left;
  }

  // The log-sum-exps that weigh the blocks of a softmax are put together with them.
  void join_weights(VarId v, VarId combined, const AxisSet& over) {
    const Var& part = w_.vars[static_cast<std::size_t>(v)];
    if (part.log_sums < 0 || softmax_axes(w_, part).empty()) return;
    const Var& sums = w_.vars[static_cast<std::size_t>(part.log_sums)];
    const Layout ready = made_minor(w_.p.layouts[static_cast<std::size_t>(sums.written)], over);
    const VarId joined = make_combined(w_, {{part.log_sums, w_.intern(ready)}}, over,
                                       w_.intern(without_axes(ready, over)), sums.place, {});
    w_.vars[static_cast<std::size_t>(joined)].joined = true;
    w_.vars[static_cast<std::size_t>(combined)].log_sums = joined;
  }

  Work& w_;
  std::set<std::pair<int, int>> told_;  // barriers, by statement and axis
  std::map<std::pair<LayoutId, LayoutId>, AxisSet> lacking_;
};

}  // namespace

void combine_vars(Work& w) { Combinations(w).run(); }

AxisSet softmax_axes(const Work& w, const Var& v) {
  AxisSet out;
  for (const Partial& p : w.p.layouts[static_cast<std::size_t>(v.written)].partials)
    if (is_softmax(p)) out.push_back(p.digit.axis);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

LayoutId as_received(Work& w, const Var& from, PlaceId place) {
  const Layout& written = w.p.layouts[static_cast<std::size_t>(from.written)];
  return w.intern(translated(w.p, without_grid_partials(w, written), from.place, place));
}

VarId make_combined(Work& w, std::vector<CombinedPart> parts, const AxisSet& over, LayoutId layout, PlaceId place,
                    const Classes& classes) {
  const VarId id = static_cast<VarId>(w.vars.size());
  const InstanceId instance = static_cast<InstanceId>(w.instances.size());
  for (const CombinedPart& part : parts) w.vars[static_cast<std::size_t>(part.from)].combined.push_back(id);
  const Var& from = w.vars[static_cast<std::size_t>(parts[0].from)];
  Var c;
  c.kind = VarKind::combined;
  c.tensor = from.tensor;
  c.place = place;
  c.written = layout;
  c.producer = instance;
  std::set_difference(from.set.begin(), from.set.end(), over.begin(), over.end(), std::back_inserter(c.set));
  c.gradient = from.gradient;
  c.parts = std::move(parts);
  Instance i;
  i.kind = InstanceKind::combine;
  i.op = w.g.tensors[static_cast<std::size_t>(c.tensor)].producer;
  i.var = id;
  i.place = place;
  i.set = c.set;
  i.classes = classes;
  c.of_classes = !classes.empty();
  w.instances.push_back(std::move(i));
  w.vars.push_back(std::move(c));
  return id;
}

}  // namespace planscope::build
