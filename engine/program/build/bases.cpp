// The layout in which a value stays after the reduction that its readers share, those in which it goes to other places and
// its gradient comes back, and the one in which its gradient is wanted.
#include <algorithm>
#include <iterator>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Bases {
 public:
  explicit Bases(Work& w) : w_(w) {}

  void run() {
    for (std::size_t v = 0; v < w_.vars.size(); ++v) choose_base(static_cast<VarId>(v));
    for (Var& v : w_.vars)
      if (v.kind != VarKind::received) v.needed = needed(v);
    for (Var& v : w_.vars)
      if (v.kind == VarKind::received) choose_return(v);
  }

 private:
  const Var& var(VarId v) const { return w_.vars[static_cast<std::size_t>(v)]; }
  const Layout& layout(LayoutId l) const { return w_.p.layouts[static_cast<std::size_t>(l)]; }

  void choose_base(VarId id) {
    Var& v = w_.vars[static_cast<std::size_t>(id)];
    if (v.base >= 0 && v.kind != VarKind::received) return;
    if (v.kind == VarKind::received) {
      choose_base(v.from);
      const CrossingPair pair = crossing(v, layout(var(v.from).base)).pair;
      v.sent = w_.intern(pair.sent);
      v.base = v.written = w_.intern(pair.got);
      return;
    }
    v.base = v.written;
    const bool sent = !v.received.empty();
    const auto over_grid = [&](const Partial& p) { return !w_.is_free(p.digit.axis); };
    const auto& partials = layout(v.written).partials;
    if (!sent && std::none_of(partials.begin(), partials.end(), over_grid)) return;
    const Layout written = layout(v.written);
    if (sent) v.base = w_.intern(without_keys(written));  // what is sent are regions
    const Layout whole = without_grid_partials(w_, sent ? without_keys(written) : written);
    if (written.partials == whole.partials || (v.reads.empty() && !sent)) return;
    std::vector<LayoutId> targets;
    const auto add = [&](LayoutId l) {
      if (std::find(targets.begin(), targets.end(), l) == targets.end()) targets.push_back(l);
    };
    for (const Read& r : v.reads) {
      const Layout& l = layout(r.layout);
      if (passes(l, written, whole)) return;
      // Rows are selected by the reader: what tells them apart may be written later than this value.
      if (l.partials == whole.partials && selects_alike(l, whole)) add(r.layout);
    }
    const std::vector<LayoutId> readers = targets;
    add(w_.intern(whole));
    for (const VarId r : v.received) add(w_.intern(crossing(var(r), without_keys(written)).pair.sent));
    double best = 0;
    LayoutId chosen = -1;
    for (const LayoutId t : targets) {
      double cost = conversion_cost(w_, v.tensor, v.place, v.written, t);
      for (const LayoutId r : readers) cost += conversion_cost(w_, v.tensor, v.place, t, r);
      for (const VarId r : v.received) cost += crossing(var(r), layout(t)).cost;
      if (chosen < 0 || cost < best) {
        chosen = t;
        best = cost;
      }
    }
    v.base = chosen;
  }

  // Whether a value that is partial over axes of the grid is read so: its only reader does.
  static bool passes(const Layout& read, const Layout& written, const Layout& whole) {
    const auto has = [](const Layout& l, const Partial& p) {
      return std::find(l.partials.begin(), l.partials.end(), p) != l.partials.end();
    };
    return std::any_of(read.partials.begin(), read.partials.end(),
                       [&](const Partial& p) { return has(written, p) && !has(whole, p); });
  }

  // Whether all splits by key of a layout are those of another one.
  static bool selects_alike(const Layout& l, const Layout& of) {
    return std::all_of(l.splits.begin(), l.splits.end(), [&](const Split& s) {
      return s.part != kByKey || std::find(of.splits.begin(), of.splits.end(), s) != of.splits.end();
    });
  }

  // How a value that is held so at its own place comes to another one.
  const Crossing& crossing(const Var& received, Layout held) {
    const Var& from = var(received.from);
    const Layout sent = without_grid_partials(w_, held);
    std::vector<CrossingEnd> read;
    for (const Read& r : received.reads) add(read, outside(r.layout, received), again(received, r) ? 2 : 1);
    for (const VarId c : received.combined)
      for (const CombinedPart& part : var(c).parts)
        if (&var(part.from) == &received) add(read, layout(part.ready), 1);
    return w_.crossing(received.tensor, from.place, {{std::move(held)}}, received.place, read,
                       {sent, translated(w_.p, sent, from.place, received.place)});
  }

  // Its gradient goes back as what is given and what is wanted there suggest, whatever the way that it came. What a run gives
  // of a sum over a free axis (repeated.cpp) goes back as that.
  void choose_return(Var& v) {
    const Var& from = var(v.from);
    const AxisSet& run = v.set;
    std::vector<CrossingEnd> held;
    for (const Read& r : v.reads)
      if (r.contribution >= 0) add(held, whole_sums(outside(r.contribution, v), run), 1);
    for (const VarId c : v.combined)
      if (var(c).gradient) add(held, whole_sums(layout(var(c).needed), run), 1);
    const CrossingPair usual{dual(layout(v.base)), dual(layout(v.sent))};
    const Layout wanted = whole_sums(layout(from.needed), run);
    CrossingPair pair =
        !v.gradient || held.empty() ? usual : w_.crossing(v.tensor, v.place, held, from.place, {{wanted}}, usual).pair;
    for (const Partial& p : layout(from.needed).partials)
      if (std::binary_search(run.begin(), run.end(), p.digit.axis))
        for (Layout* l : {&pair.sent, &pair.got}) l->partials.push_back(p);
    v.needed = w_.intern(canonical(std::move(pair.sent)));
    v.returned = w_.intern(canonical(std::move(pair.got)));
  }

  static Layout whole_sums(Layout l, const AxisSet& axes) {
    std::erase_if(l.partials,
                  [&](const Partial& p) { return std::binary_search(axes.begin(), axes.end(), p.digit.axis); });
    return l;
  }

  static void add(std::vector<CrossingEnd>& ends, Layout l, int times) {
    const auto known = std::find_if(ends.begin(), ends.end(), [&](const CrossingEnd& e) { return e.layout == l; });
    if (known == ends.end())
      ends.push_back({std::move(l), times});
    else
      known->times = std::max(known->times, times);
  }

  // What a reader's layout, or that of its gradient, is outside of loops over free axes that the value does not have; blocks
  // that rotate inside are read from their homes.
  Layout outside(LayoutId l, const Var& v) const {
    const auto rotates = [](const Split& s) { return std::any_of(s.digits.begin(), s.digits.end(), is_turned); };
    if (std::any_of(layout(l).splits.begin(), layout(l).splits.end(), rotates)) return layout(l);
    AxisSet foreign;
    for (const AxisId a : axes_of(layout(l)))
      if (w_.is_free(a) && !std::binary_search(v.set.begin(), v.set.end(), a)) foreign.push_back(a);
    return foreign.empty() ? layout(l) : without_axes(made_minor(layout(l), foreign), foreign);
  }

  // Whether what is made for a reader is made again for its backward (Emitter::refill_leaves, replay_unit).
  bool again(const Var& v, const Read& r) const {
    const Instance& reader = w_.instances[static_cast<std::size_t>(r.instance)];
    if (reader.recompute >= 0) return true;
    if (reader.kind != InstanceKind::op || r.operand < 0 || !v.gradient || reader.keep_gathered) return false;
    const Op& op = w_.op(reader.op);
    return op.backward && std::find(op.saves.begin(), op.saves.end(), r.operand) != op.saves.end();
  }

  LayoutId needed(const Var& v) {
    if (v.kind == VarKind::stored) return v.home;
    static const std::vector<Digit> none;
    const auto& passed = v.kind == VarKind::computed ? w_.instances[static_cast<std::size_t>(v.producer)].passed : none;
    if (passed.empty())
      if (const auto known = duals_.find(v.written); known != duals_.end()) return known->second;
    Layout l = dual(layout(v.written));
    for (const Digit& d : passed) l.partials.push_back({d, PartialKind::sum});
    std::sort(l.partials.begin(), l.partials.end());
    const LayoutId id = w_.intern(l);
    if (passed.empty()) duals_.emplace(v.written, id);
    return id;
  }

  Work& w_;
  std::unordered_map<LayoutId, LayoutId> duals_;
};

}  // namespace

void choose_bases(Work& w) { Bases(w).run(); }

}  // namespace planscope::build
