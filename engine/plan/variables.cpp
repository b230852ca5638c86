#include "engine/plan/variables.h"

#include <algorithm>

namespace planscope::plan {

namespace {
constexpr std::int64_t far = std::int64_t{1} << 40;       // where the search begins
constexpr std::int64_t infinite = std::int64_t{1} << 61;  // saturation
constexpr std::size_t max_variables = 16;
constexpr std::int64_t unbounded_from = std::int64_t{1} << 31;

struct Interval {
  std::int64_t low = -infinite, high = infinite;
};

std::int64_t saturated(std::int64_t a) { return std::clamp(a, -infinite, infinite); }

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return saturated(out);
  return (a < 0) == (b < 0) ? infinite : -infinite;
}

Interval hull(std::initializer_list<std::int64_t> v) { return {std::min(v), std::max(v)}; }

Interval divided(Interval a, Interval b) {
  if (b.low <= 0 && b.high >= 0) return {};
  const auto q = [](std::int64_t x, std::int64_t y) { return apply(Expression::Kind::divide, x, y).value; };
  return hull({q(a.low, b.low), q(a.low, b.high), q(a.high, b.low), q(a.high, b.high)});
}

Interval remainder(Interval a, Interval b) {
  if (b.low <= 0 && b.high >= 0) return {};
  if (b.low == b.high && a.low != -infinite && a.high != infinite) {  // within one period it only shifts
    const Interval q = divided(a, b);
    if (q.low == q.high) return hull({a.low - q.low * b.low, a.high - q.low * b.low});
  }
  return b.low > 0 ? Interval{0, b.high - 1} : Interval{b.low + 1, 0};
}

struct Box {
  const std::vector<std::string>& variables;
  std::vector<Interval> values;
};

Interval bound(const Expression& e, const Box& box) {
  using K = Expression::Kind;
  switch (e.kind) {
    case K::number: {
      const auto v = scaled(e.number, e.text);
      return v ? Interval{saturated(*v), saturated(*v)} : Interval{};
    }
    case K::name:
      for (std::size_t i = 0; i < box.variables.size(); ++i)
        if (box.variables[i] == e.text) return box.values[i];
      return {};
    case K::negate: {
      const Interval a = bound(e.operands[0], box);
      return {-a.high, -a.low};
    }
    case K::add:
    case K::subtract:
    case K::multiply:
    case K::divide:
    case K::modulo: {
      const Interval a = bound(e.operands[0], box), b = bound(e.operands[1], box);
      if (e.kind == K::add) return {saturated(a.low + b.low), saturated(a.high + b.high)};
      if (e.kind == K::subtract) return {saturated(a.low - b.high), saturated(a.high - b.low)};
      if (e.kind == K::divide) return divided(a, b);
      if (e.kind == K::modulo) return remainder(a, b);
      return hull({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
    }
    default:
      return {};
  }
}

bool may_hold(Condition::Relation r, Interval a, Interval b) {
  using R = Condition::Relation;
  switch (r) {
    case R::equal:
      return a.low <= b.high && b.low <= a.high;
    case R::different:
      return !(a.low == a.high && b.low == b.high && a.low == b.low);
    case R::less:
      return a.low < b.high;
    case R::at_most:
      return a.low <= b.high;
    case R::greater:
      return a.high > b.low;
    case R::at_least:
      return a.high >= b.low;
  }
  return true;
}

bool may_hold(const Condition& c, const Box& box) {
  using K = Condition::Kind;
  if (c.kind == K::negation) return true;
  if (c.kind == K::both)
    return std::all_of(c.parts.begin(), c.parts.end(), [&](const auto& p) { return may_hold(p, box); });
  if (c.kind == K::either)
    return std::any_of(c.parts.begin(), c.parts.end(), [&](const auto& p) { return may_hold(p, box); });
  const Interval first = bound(c.terms[0], box);
  if (c.kind == K::in)
    return std::any_of(c.set.begin(), c.set.end(),
                       [&](const Expression& e) { return may_hold(Condition::Relation::equal, first, bound(e, box)); });
  Interval left = first;
  for (std::size_t i = 0; i < c.relations.size(); ++i) {
    const Interval right = bound(c.terms[i + 1], box);
    if (!may_hold(c.relations[i], left, right)) return false;
    left = right;
  }
  return true;
}

class Search {
 public:
  Search(const Problem& problem, const std::function<bool(const std::vector<std::int64_t>&)>& visit)
      : problem_(problem), visit_(visit), boxes_left_(200'000 + problem.limit * 8) {}

  Enumeration run() {
    if (problem_.variables.size() > max_variables) return Enumeration::too_many;
    Box box{problem_.variables, std::vector<Interval>(problem_.variables.size(), {-far, far})};
    if (!possible(box)) return outcome_;
    for (int round = 0; round < 8 && shave(box); ++round) {
    }
    look(box);
    return outcome_;
  }

 private:
  bool possible(const Box& box) const {
    for (const Condition& c : problem_.conditions)
      if (!may_hold(c, box)) return false;
    std::size_t families = 0;
    for (const auto& family : problem_.families) {
      const bool exists = std::all_of(family.begin(), family.end(), [&](const Bounded& b) {
        const Interval v = bound(b.index, box);
        return v.high >= 0 && v.low < b.size;
      });
      families += exists ? 1 : 0;
    }
    return families >= problem_.least;
  }

  // Cuts off both ends of every variable what nothing is possible in; whether that was anything.
  bool shave(Box& box) const {
    bool changed = false;
    for (Interval& v : box.values) {
      const Interval whole = v;
      const auto impossible = [&](std::int64_t low, std::int64_t high) {
        v = {low, high};
        const bool none = !possible(box);
        v = whole;
        return none;
      };
      std::int64_t low = whole.low, high = whole.high;  // the first and the last value that may be
      for (std::int64_t step = far; step > 0; step /= 2) {
        while (low + step <= high && impossible(whole.low, low + step - 1)) low += step;
        while (high - step >= low && impossible(high - step + 1, whole.high)) high -= step;
      }
      v = {low, high};
      changed = changed || low != whole.low || high != whole.high;
    }
    return changed;
  }

  void look(Box& box) {
    if (outcome_ != Enumeration::done) return;
    if (boxes_left_-- == 0) {
      outcome_ = Enumeration::too_many;
      return;
    }
    if (!possible(box)) return;
    for (std::size_t i = 0; i < box.values.size(); ++i) {
      const Interval whole = box.values[i];
      if (whole.low == whole.high) continue;
      const std::int64_t middle = whole.low + (whole.high - whole.low) / 2;  // rounds toward low: both halves shrink
      box.values[i] = {whole.low, middle};
      look(box);
      box.values[i] = {middle + 1, whole.high};
      look(box);
      box.values[i] = whole;
      return;
    }
    give(box);
  }

  void give(const Box& box) {
    std::vector<std::int64_t> values;
    for (const Interval& v : box.values) values.push_back(v.low);
    const LeafValue leaf = [&](const Expression& e) { return value_of(e, problem_.variables, values); };
    for (const Condition& c : problem_.conditions)
      if (!evaluate(c, leaf).value_or(false)) return;
    for (const std::int64_t v : values)
      if (v > unbounded_from || v < -unbounded_from) outcome_ = Enumeration::unbounded;
    if (outcome_ != Enumeration::done) return;
    if (given_++ >= problem_.limit)
      outcome_ = Enumeration::too_many;
    else if (!visit_(values))
      outcome_ = Enumeration::stopped;
  }

  const Problem& problem_;
  const std::function<bool(const std::vector<std::int64_t>&)>& visit_;
  std::size_t boxes_left_;
  std::size_t given_ = 0;
  Enumeration outcome_ = Enumeration::done;
};

void insert_sorted(std::vector<std::string>& into, const std::string& name) {
  const auto at = std::lower_bound(into.begin(), into.end(), name);
  if (at == into.end() || *at != name) into.insert(at, name);
}
}  // namespace

Enumeration enumerate(const Problem& problem, const std::function<bool(const std::vector<std::int64_t>&)>& visit) {
  return Search(problem, visit).run();
}

void collect_variables(const Expression& e, std::vector<std::string>& into) {
  using K = Expression::Kind;
  if (e.kind == K::name) insert_sorted(into, e.text);
  if (e.kind == K::bars) return;
  for (const Expression& o : e.operands) collect_variables(o, into);
}

void collect_variables(const Condition& c, std::vector<std::string>& into) {
  for (const Expression& e : c.terms) collect_variables(e, into);
  for (const Expression& e : c.set) collect_variables(e, into);
  for (const Condition& p : c.parts) collect_variables(p, into);
}

Number value_of(const Expression& e, const std::vector<std::string>& variables,
                const std::vector<std::int64_t>& values) {
  if (e.kind == Expression::Kind::name)
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (variables[i] == e.text) return Number{values[i], std::nullopt};
  const bool leaf = e.operands.empty() && e.kind != Expression::Kind::number;
  if (leaf || e.kind == Expression::Kind::bars || e.kind == Expression::Kind::call ||
      e.kind == Expression::Kind::open) {
    Number n;
    n.error = EvaluationError{EvaluationError::Kind::unknown, e.text};
    return n;
  }
  return evaluate(e, [&](const Expression& inner) { return value_of(inner, variables, values); });
}

namespace {
std::optional<std::int64_t> constant(const Expression& e) {
  if (e.kind == Expression::Kind::negate && e.operands[0].kind == Expression::Kind::number)
    return -e.operands[0].number;
  return e.kind == Expression::Kind::number && e.text.empty() ? std::optional(e.number) : std::nullopt;
}

// `m+4-1` -> `m+3`, `m+0` -> `m`, `1*m` -> `m`; the operands are folded.
Expression simplified(Expression e) {
  using K = Expression::Kind;
  if (e.kind == K::multiply) {
    if (constant(e.operands[0]) == 1) return e.operands[1];
    if (constant(e.operands[1]) == 1) return e.operands[0];
  }
  if (e.kind == K::add && constant(e.operands[0]) == 0) return e.operands[1];
  if (e.kind != K::add && e.kind != K::subtract) return e;
  const auto signed_by = [](K kind, std::int64_t n) { return kind == K::subtract ? -n : n; };
  const auto right = constant(e.operands[1]);
  if (!right) return e;
  if (*right == 0) return e.operands[0];
  const Expression& left = e.operands[0];
  if (left.kind != K::add && left.kind != K::subtract) return e;
  const auto middle = constant(left.operands[1]);
  if (!middle) return e;
  const Number n = apply(K::add, signed_by(left.kind, *middle), signed_by(e.kind, *right));
  if (!n.ok() || n.value == INT64_MIN) return e;
  if (n.value == 0) return left.operands[0];
  return make_binary(n.value < 0 ? K::subtract : K::add, left.operands[0],
                     make_number(n.value < 0 ? -n.value : n.value));
}
}  // namespace

Expression folded(const Expression& e) {
  Expression out = e;
  for (Expression& o : out.operands) o = folded(o);
  using K = Expression::Kind;
  const auto is_number = [](const Expression& o) {
    return (o.kind == K::number && o.text.empty()) || (o.kind == K::negate && o.operands[0].kind == K::number);
  };
  if (out.kind == K::number && !out.text.empty())
    if (const auto v = scaled(out.number, out.text)) return make_number(*v);
  const bool arithmetic = out.kind >= K::negate && out.kind <= K::modulo;
  if (!arithmetic || !std::all_of(out.operands.begin(), out.operands.end(), is_number))
    return simplified(std::move(out));
  const Number n = evaluate(out, [](const Expression&) { return Number{}; });
  return n.ok() && n.value != INT64_MIN ? make_number(n.value) : out;
}

Condition folded(const Condition& c) {
  Condition out = c;
  for (Expression& e : out.terms) e = folded(e);
  for (Expression& e : out.set) e = folded(e);
  for (Condition& p : out.parts) p = folded(p);
  return out;
}

}  // namespace planscope::plan
