#include "engine/graph/reconcile.h"

#include <algorithm>
#include <set>

namespace planscope {

namespace {

constexpr const char* misfit = "its parts do not fit those of the other operands";

class Reconciler {
 public:
  Reconciler(const Graph& g, Op& op) : g_(g), op_(op) {}

  bool run() {
    for (auto* list : {&op_.inputs, &op_.outputs})
      for (Operand& o : *list)
        if (!look(o)) return false;
    if (spoiled_.empty() && spans_.empty()) return true;
    for (const Factor& f : op_.factors)
      if (f.kind == FactorKind::merge || f.kind == FactorKind::softmax) return false;
    take_out();
    for (const Span& s : spans_) fill(s);
    return true;
  }

 private:
  // Parts [front, size - behind) of a dimension are not those of the factors.
  struct Span {
    Operand* operand;
    std::size_t dim, front, behind;
  };

  bool same(const PartRef& r, ClassId c) const {
    if (r.factor < 0) return true;
    const std::vector<ClassId>& parts = op_.factors[static_cast<std::size_t>(r.factor)].parts;
    return static_cast<std::size_t>(r.part) < parts.size() && parts[static_cast<std::size_t>(r.part)] == c;
  }

  bool look(Operand& o) {
    const auto& dims = g_.tensors[static_cast<std::size_t>(o.tensor)].dims;
    if (dims.size() != o.map.size()) return false;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::vector<ClassId>& own = dims[d];
      const std::vector<PartRef>& map = o.map[d];
      const std::size_t most = std::min(own.size(), map.size());
      std::size_t front = 0, behind = 0;
      while (front < most && same(map[front], own[front])) ++front;
      if (front == own.size() && front == map.size()) continue;
      while (front + behind < most && same(map[map.size() - 1 - behind], own[own.size() - 1 - behind])) ++behind;
      for (std::size_t p = front; p + behind < map.size(); ++p)
        if (map[p].factor >= 0) spoiled_.insert({map[p].factor, map[p].part});
      spans_.push_back({&o, d, front, behind});
    }
    return true;
  }

  // Spoiled parts leave their factors for frozen ones.
  void take_out() {
    const std::size_t count = op_.factors.size();
    std::vector<std::vector<PartRef>> now(count);
    for (std::size_t f = 0; f < count; ++f) {
      Factor left, taken;
      for (std::size_t p = 0; p < op_.factors[f].parts.size(); ++p) {
        const bool bad = spoiled_.contains({static_cast<int>(f), static_cast<int>(p)});
        Factor& to = bad ? taken : left;
        now[f].push_back({bad ? -2 : static_cast<int>(f), static_cast<int>(to.parts.size())});
        to.parts.push_back(op_.factors[f].parts[p]);
      }
      if (taken.parts.empty()) continue;
      int place = static_cast<int>(f);
      if (left.parts.empty()) {
        op_.factors[f].kind = FactorKind::frozen;
        op_.factors[f].reason = misfit;
      } else {
        op_.factors[f].parts = left.parts;
        taken.kind = FactorKind::frozen;
        taken.reason = misfit;
        place = static_cast<int>(op_.factors.size());
        op_.factors.push_back(std::move(taken));
      }
      for (PartRef& r : now[f])
        if (r.factor == -2) r.factor = place;
    }
    for (auto* list : {&op_.inputs, &op_.outputs})
      for (Operand& o : *list)
        for (auto& dim : o.map)
          for (PartRef& r : dim)
            if (r.factor >= 0) r = now[static_cast<std::size_t>(r.factor)][static_cast<std::size_t>(r.part)];
  }

  void fill(const Span& s) {
    std::vector<PartRef>& map = s.operand->map[s.dim];
    const std::vector<ClassId>& own = g_.tensors[static_cast<std::size_t>(s.operand->tensor)].dims[s.dim];
    std::vector<PartRef> out(map.begin(), map.begin() + static_cast<std::ptrdiff_t>(s.front));
    Factor frozen;
    frozen.kind = FactorKind::frozen;
    frozen.reason = misfit;
    for (std::size_t p = s.front; p + s.behind < own.size(); ++p) {
      out.push_back({static_cast<int>(op_.factors.size()), static_cast<int>(frozen.parts.size())});
      frozen.parts.push_back(own[p]);
    }
    if (!frozen.parts.empty()) op_.factors.push_back(std::move(frozen));
    out.insert(out.end(), map.end() - static_cast<std::ptrdiff_t>(s.behind), map.end());
    map = std::move(out);
  }

  const Graph& g_;
  Op& op_;
  std::set<std::pair<int, int>> spoiled_;
  std::vector<Span> spans_;
};

}  // namespace

bool reconcile(const Graph& g, Op& op) { return Reconciler(g, op).run(); }

void freeze(const Graph& g, Op& op) {
  op.rule = "opaque";
  op.linear.clear();
  op.factors.clear();
  op.shard = ShardForm::same;
  op.log_sums = -1;
  for (auto* list : {&op.inputs, &op.outputs})
    for (Operand& o : *list) {
      o.map.clear();
      o.added = false;
      for (const auto& dim : g.tensors[static_cast<std::size_t>(o.tensor)].dims) {
        std::vector<PartRef> map;
        for (const ClassId c : dim) {
          op.factors.push_back({"", FactorKind::frozen, {c}, misfit});
          map.push_back({static_cast<int>(op.factors.size()) - 1, 0});
        }
        o.map.push_back(std::move(map));
      }
    }
}

}  // namespace planscope
