// What is stored: the layouts in which it is used, fetched, stored and accumulated. Only those of parameters can be stated;
// a buffer or a constant is stored as all its readers use it. `fetch` says what a device holds of a parameter during the
// step: made from the home once, gathered for each use from there. Splits of the use are outermost, then those of `fetch`,
// then those that the home has beside; so the home's blocks lie in those of `fetch`.
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
      if (v.kind != VarKind::stored) continue;
      const Layout use = common_use(v);
      v.use = v.home = v.base = v.written = w_.intern(use);
      const auto known = index.find(v.tensor);
      if (known == index.end()) continue;
      const int parameter = known->second;
      const auto axes = [&](plan::Phase phase, int dim) {
        return plan::parameter_split_axes(w_.d, phase, parameter, dim);
      };
      const auto fetched = [&](int dim) { return at_home(v, axes(plan::Phase::fetch, dim), parameter); };
      const auto both = [&](int dim) { return common(fetched(dim), axes(plan::Phase::update, dim)); };
      const auto updated = [&](int dim) { return axes(plan::Phase::update, dim); };
      const auto added = [&](int dim) { return axes(plan::Phase::grad, dim); };
      const Layout outer = extended(v, use, both);
      const Layout home = extended(v, outer, updated), fetch = extended(v, use, fetched);
      const Layout grad = extended(v, extended(v, use, [&](int dim) { return common(both(dim), added(dim)); }), added);
      v.home = w_.intern(home);
      v.fetch_split = fetch != use;
      v.base = w_.intern(fetch);
      v.written = v.base;
      v.grad_layout = grad != use ? w_.intern(grad) : -1;
    }
  }

 private:
  // The splits that all uses share.
  Layout common_use(const Var& v) const {
    Layout use;
    bool first = true;
    for (const Read& r : v.reads) {
      Layout l = without_keys(without_free_splits(w_, w_.p.layouts[static_cast<std::size_t>(r.layout)]));
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

  // A layout with axes added on the minor side of each dimension.
  template <class AxesOfDim>
  Layout extended(const Var& v, Layout l, const AxesOfDim& axes) {
    const auto& dims = w_.g.tensors[static_cast<std::size_t>(v.tensor)].dims;
    for (int dim = 0; dim < static_cast<int>(dims.size()); ++dim)
      for (const int a : axes(dim)) {
        const auto digit = w_.digit_at(v.place, LogicalDigit{a, 0, 1});
        if (!digit || used(l, *digit)) continue;
        add_minor(l, dim, dims[static_cast<std::size_t>(dim)], *digit);
      }
    return l;
  }

  static std::vector<int> common(std::vector<int> axes, const std::vector<int>& others) {
    std::erase_if(axes, [&](int a) { return std::find(others.begin(), others.end(), a) == others.end(); });
    return axes;
  }

  // Those axes over which the home is split at all: what every device stores whole is not fetched in parts.
  std::vector<int> at_home(const Var& v, std::vector<int> axes, int parameter) {
    std::erase_if(axes, [&](int a) {
      if (w_.d.parameter_split(plan::Phase::update, parameter, a).factor >= 0) return false;
      if (w_.digit_at(v.place, LogicalDigit{a, 0, 1}))
        warn_of_whole_home(w_.d.parameter_split(plan::Phase::fetch, parameter, a).statement, a);
      return true;
    });
    return axes;
  }

  void warn_of_whole_home(int statement, int axis) {
    Diagnostic d = warning("the fetch has no effect over '" + w_.d.axes[static_cast<std::size_t>(axis)].name + "'",
                           "parameters that it names are stored whole on each of its devices",
                           "split their update over the axis too, or delete the line");
    d.file = w_.d.plan.file;
    if (statement >= 0) d.line = w_.d.plan.statements[static_cast<std::size_t>(statement)].line;
    const auto told = [&](const Diagnostic& x) { return x.line == d.line && x.what == d.what; };
    if (std::none_of(w_.diagnostics.begin(), w_.diagnostics.end(), told)) w_.diagnostics.push_back(std::move(d));
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
