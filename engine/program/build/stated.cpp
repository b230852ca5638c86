// Bindings by statement, for those who have no plan yet, and all bindings of a plan, for those who need no Program.
#include "engine/plan/bind.h"
#include "engine/program/build/work.h"

namespace planscope {

namespace build {

void bind_axis(const Graph& g, AxisBinding& b, int axis, std::int64_t size, int factor, std::size_t part,
               const std::vector<ClassId>& parts, std::vector<std::int64_t>& left,
               const std::vector<std::int64_t>& sizes, const plan::Turn& turn) {
  std::int64_t rest = size;
  for (; rest > 1; ++part) {
    const bool last = part + 1 >= parts.size() || g.classes[static_cast<std::size_t>(parts[part + 1])].frozen;
    if (left[part] == 1 && !last) continue;
    const bool spills = !last && left[part] % rest != 0 && rest % left[part] == 0;
    const std::int64_t here = spills ? left[part] : rest;
    rest /= here;
    const bool whole = here == size;
    b.factors.push_back({whole ? LogicalDigit{axis, 0, 1, sizes, turn} : LogicalDigit{axis, here, rest}, factor,
                         static_cast<int>(part)});
    left[part] = left[part] % here == 0 ? left[part] / here : 1;
    if (part + 1 >= parts.size()) break;
  }
}

}  // namespace build

std::vector<Binding> stated_bindings(const Graph& g, const Program& p, OpId o, const std::vector<StatedSplit>& splits) {
  const Op& op = g.ops[static_cast<std::size_t>(o)];
  std::vector<std::vector<std::int64_t>> left(op.factors.size());
  std::vector<Binding> out;
  for (const StatedSplit& s : splits) {
    const std::vector<ClassId>& parts = op.factors[static_cast<std::size_t>(s.factor)].parts;
    std::vector<std::int64_t>& rest = left[static_cast<std::size_t>(s.factor)];
    if (rest.empty())
      for (const ClassId c : parts) rest.push_back(g.classes[static_cast<std::size_t>(c)].size);
    const std::int64_t size = p.axes[static_cast<std::size_t>(s.axis)].size;
    build::AxisBinding b;
    build::bind_axis(g, b, s.axis, size, s.factor, static_cast<std::size_t>(s.part), parts, rest);
    for (const build::FactorBinding& f : b.factors) {
      const Digit digit = f.digit.size == 0 ? Digit{s.axis, size, 1} : Digit{s.axis, f.digit.size, f.digit.stride};
      out.push_back({digit, f.factor, f.part, Origin::statement, -1});
    }
  }
  return out;
}

Result<std::vector<std::vector<BoundAxis>>> bound_axes(const Graph& g, const plan::Decisions& d,
                                                       const Cluster& cluster) {
  Result<std::vector<std::vector<BoundAxis>>> result;
  build::Work w(g, d, cluster);
  const bool ok = build::make_places(w) && build::bind_axes(w);
  result.diagnostics = std::move(w.diagnostics);
  if (!ok) return result;
  std::vector<std::vector<BoundAxis>> out(g.ops.size(), std::vector<BoundAxis>(d.axes.size()));
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    for (int a = 0; a < static_cast<int>(d.axes.size()); ++a) {
      if (w.op(o).parameter_free) continue;
      const build::AxisBinding& b = w.binding(o, a);
      BoundAxis& to = out[static_cast<std::size_t>(o)][static_cast<std::size_t>(a)];
      for (const build::FactorBinding& f : b.factors) to.parts.emplace_back(f.factor, f.part);
      to.pass = b.pass;
      to.backward_pass = b.backward_pass;
    }
  result.value = std::move(out);
  return result;
}

}  // namespace planscope
