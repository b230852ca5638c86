#include <algorithm>

#include "engine/runtime/audit_splits.h"

namespace planscope {

namespace {

constexpr std::size_t kMostPairs = 12;

enum class Form : std::uint8_t { even, uneven, nested };

class Divider {
 public:
  explicit Divider(const AuditedOperator& one) : graph_(one.graph()), op_(one.op()) {}

  std::vector<Division> all() const {
    std::vector<Division> out;
    const std::vector<PartRef> parts = free_parts();
    for (const PartRef p : parts)
      for (const Form form : {Form::even, Form::uneven, Form::nested})
        if (size(p) >= least(form)) out.push_back(made({{p, form}}));
    for (const auto& [a, b] : pairs(parts))
      out.push_back(made({{a, Form::even}, {b, size(b) >= least(Form::uneven) ? Form::uneven : Form::even}}));
    return out;
  }

 private:
  const Factor& factor(PartRef p) const { return op_.factors[static_cast<std::size_t>(p.factor)]; }

  std::int64_t size(PartRef p) const {
    const ClassId c = factor(p).parts[static_cast<std::size_t>(p.part)];
    return graph_.classes[static_cast<std::size_t>(c)].size;
  }

  // No block is empty: not every operator of LibTorch takes one.
  static std::int64_t least(Form form) { return form == Form::nested ? 4 : form == Form::uneven ? 3 : 2; }

  std::vector<PartRef> free_parts() const {
    std::vector<PartRef> out;
    for (int f = 0; f < static_cast<int>(op_.factors.size()); ++f) {
      const Factor& of = op_.factors[static_cast<std::size_t>(f)];
      if (of.kind == FactorKind::frozen) continue;
      for (int p = 0; p < static_cast<int>(of.key < 0 ? of.parts.size() : 1); ++p) if (size({f, p}) >= least(Form::even)) out.push_back({f, p});
    }
    return out;
  }

  // All pairs; of many parts, neighbours and those with the first.
  std::vector<std::pair<PartRef, PartRef>> pairs(const std::vector<PartRef>& parts) const {
    std::vector<std::pair<PartRef, PartRef>> every, some;
    for (std::size_t a = 0; a < parts.size(); ++a)
      for (std::size_t b = a + 1; b < parts.size(); ++b) {
        if (!together(parts[a], parts[b])) continue;
        every.emplace_back(parts[a], parts[b]);
        if (a == 0 || b == a + 1) some.push_back(every.back());
      }
    std::vector<std::pair<PartRef, PartRef>>& out = every.size() <= kMostPairs ? every : some;
    if (out.size() > kMostPairs) out.resize(kMostPairs);
    return out;
  }

  // Rows are selected by one of two cuts; what is combined in two ways has no order in which to do so.
  bool together(PartRef a, PartRef b) const {
    const Factor &x = factor(a), &y = factor(b);
    if ((x.key >= 0 && (x.rows == b.factor || y.key >= 0)) || (y.key >= 0 && y.rows == a.factor)) return false;
    const auto combines = [](const Factor& f) { return f.key < 0 && f.kind != FactorKind::free; };
    return !combines(x) || !combines(y) || (x.kind == y.kind && x.kind != FactorKind::softmax);
  }

  Division made(const std::vector<std::pair<PartRef, Form>>& wanted) const {
    Division out;
    for (const auto& [part, form] : wanted) {
      const std::int64_t n = size(part), last = std::max<std::int64_t>(1, n / 3);
      out.name += (out.name.empty() ? "" : " and ") + factor(part).name + " part " + std::to_string(part.part);
      Cut cut{part, {}};
      if (form == Form::uneven) {
        Digit digit = axis(out, 3);
        digit.sizes = {1, n - 1 - last, last};
        cut.digits = {digit};
        out.name += " by 3 uneven";
      } else if (form == Form::even) {
        cut.digits = {axis(out, 2)};
        out.name += " by 2";
      } else {
        cut.digits = {axis(out, 2), axis(out, 2)};
        cut.digits[1].by = axis(out, 1).axis;
        cut.digits[1].turn = 1;
        out.name += " by 2 x 2 turned";
      }
      out.cuts.push_back(std::move(cut));
    }
    return out;
  }

  static Digit axis(Division& division, std::int64_t size) {
    Digit digit;
    digit.axis = static_cast<AxisId>(division.axes.size());
    digit.size = size;
    division.axes.push_back(size);
    return digit;
  }

  const Graph& graph_;
  const Op& op_;
};

}  // namespace

std::vector<Division> divisions(const AuditedOperator& one) { return Divider(one).all(); }

}  // namespace planscope
