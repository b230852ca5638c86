// Parameters: the layout in which they are used, stored and accumulated.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Homes {
 public:
  explicit Homes(Work& w) : w_(w) {}

  void run() {
    std::map<TensorId, int> index;
    for (std::size_t k = 0; k < w_.g.parameters.size(); ++k) index[w_.g.parameters[k].tensor] = static_cast<int>(k);
    for (Var& v : w_.vars) {
      if (v.kind != VarKind::parameter) continue;
      const Layout use = common_use(v);
      const int parameter = index.at(v.tensor);
      bool split_fetch = false, split_grad = false, unused = false;
      const Layout home = extended(v, use, parameter, plan::Phase::update, unused);
      const Layout grad = extended(v, use, parameter, plan::Phase::grad, split_grad);
      extended(v, use, parameter, plan::Phase::fetch, split_fetch);
      v.home = w_.intern(home);
      v.fetch_split = split_fetch && home != use;
      v.base = v.fetch_split ? v.home : w_.intern(use);
      v.written = v.base;
      v.grad_layout = split_grad ? w_.intern(grad) : -1;
    }
  }

 private:
  // The splits that all uses share.
  Layout common_use(const Var& v) const {
    Layout use;
    bool first = true;
    for (const Read& r : v.reads) {
      Layout l = without_free_splits(w_, w_.p.layouts[static_cast<std::size_t>(r.layout)]);
      l.partials.clear();
      if (first)
        use = l;
      else
        std::erase_if(use.splits,
                      [&](const Split& s) { return std::find(l.splits.begin(), l.splits.end(), s) == l.splits.end(); });
      first = false;
    }
    return use;
  }

  // `use` with the axes of a statement on update, grad or fetch added on the minor side.
  Layout extended(const Var& v, Layout l, int parameter, plan::Phase phase, bool& any) {
    const auto& dims = w_.g.tensors[static_cast<std::size_t>(v.tensor)].dims;
    for (int dim = 0; dim < static_cast<int>(dims.size()); ++dim)
      for (const int a : plan::parameter_split_axes(w_.d, phase, parameter, dim)) {
        const auto digit = w_.digit_at(v.place, LogicalDigit{a, 0, 1});
        if (!digit || used(l, *digit)) continue;
        any = true;
        add_minor(l, dim, dims[static_cast<std::size_t>(dim)], *digit);
      }
    return l;
  }

  static bool used(const Layout& l, const Digit& d) {
    for (const Split& s : l.splits)
      for (const Digit& x : s.digits)
        if (x.axis == d.axis) return true;
    return false;
  }

  // On the outermost part that the axis divides, else on the largest.
  void add_minor(Layout& l, int dim, const std::vector<ClassId>& parts, const Digit& digit) const {
    int best = -1;
    std::int64_t largest = 0;
    for (int p = 0; p < static_cast<int>(parts.size()); ++p) {
      std::int64_t left = w_.g.classes[static_cast<std::size_t>(parts[static_cast<std::size_t>(p)])].size;
      for (const Split& s : l.splits)
        if (s.dim == dim && s.part == p)
          for (const Digit& d : s.digits) left /= d.size;
      if (left % digit.size == 0) {
        best = p;
        break;
      }
      if (left > largest) {
        largest = left;
        best = p;
      }
    }
    if (best < 0) return;
    for (Split& s : l.splits)
      if (s.dim == dim && s.part == best) {
        s.digits.push_back(digit);
        return;
      }
    l.splits.push_back({dim, best, {digit}});
    std::sort(l.splits.begin(), l.splits.end());
  }

  Work& w_;
};

}  // namespace

void set_homes(Work& w) { Homes(w).run(); }

}  // namespace planscope::build
