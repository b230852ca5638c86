// The layout in which a value stays after the reduction that its readers share, and the one in which its gradient is wanted.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Bases {
 public:
  explicit Bases(Work& w) : w_(w) {}

  void run() {
    for (std::size_t v = 0; v < w_.vars.size(); ++v) choose_base(static_cast<VarId>(v));
    for (Var& v : w_.vars) v.needed = needed(v);
  }

 private:
  void choose_base(VarId id) {
    Var& v = w_.vars[static_cast<std::size_t>(id)];
    if (v.base >= 0 && v.kind != VarKind::received) return;
    if (v.kind == VarKind::received) {
      choose_base(v.from);
      const Var& from = w_.vars[static_cast<std::size_t>(v.from)];
      v.base = v.written =
          w_.intern(translated(w_, w_.p.layouts[static_cast<std::size_t>(from.base)], from.place, v.place));
      return;
    }
    const Layout written = w_.p.layouts[static_cast<std::size_t>(v.written)];
    v.base = v.written;
    const bool sent = !v.received.empty();
    if (sent) v.base = w_.intern(without_keys(written));  // what is sent are regions
    const Layout whole = without_grid_partials(w_, sent ? without_keys(written) : written);
    if (written.partials == whole.partials || (v.reads.empty() && !sent)) return;
    std::vector<LayoutId> targets;
    const auto add = [&](LayoutId l) {
      if (std::find(targets.begin(), targets.end(), l) == targets.end()) targets.push_back(l);
    };
    for (const Read& r : v.reads) {
      const Layout& l = w_.p.layouts[static_cast<std::size_t>(r.layout)];
      if (passes(l, written, whole)) return;
      // Rows are selected by the reader: what tells them apart may be written later than this value.
      if (l.partials == whole.partials && selects_alike(l, whole)) add(r.layout);
    }
    const std::vector<LayoutId> readers = targets;
    add(w_.intern(whole));
    double best = 0;
    LayoutId chosen = -1;
    for (const LayoutId t : targets) {
      double cost = conversion_cost(w_, v.tensor, v.place, v.written, t);
      for (const LayoutId r : readers) cost += conversion_cost(w_, v.tensor, v.place, t, r);
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

  LayoutId needed(const Var& v) {
    if (v.kind == VarKind::parameter) return v.home;
    Layout l = dual(w_.p.layouts[static_cast<std::size_t>(v.kind == VarKind::received ? v.base : v.written)]);
    if (v.kind == VarKind::computed)
      for (const Digit& d : w_.instances[static_cast<std::size_t>(v.producer)].passed)
        l.partials.push_back({d, PartialKind::sum});
    std::sort(l.partials.begin(), l.partials.end());
    return w_.intern(l);
  }

  Work& w_;
};

}  // namespace

void choose_bases(Work& w) { Bases(w).run(); }

}  // namespace planscope::build
