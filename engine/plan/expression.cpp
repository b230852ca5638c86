#include "engine/plan/expression.h"

#include <array>
#include <utility>

namespace planscope::plan {

bool Expression::operator==(const Expression&) const = default;
bool Index::operator==(const Index&) const = default;
bool Name::operator==(const Name&) const = default;
bool Path::operator==(const Path&) const = default;
bool Units::operator==(const Units&) const = default;
bool TaskIndex::operator==(const TaskIndex&) const = default;
bool Group::operator==(const Group&) const = default;
bool Condition::operator==(const Condition&) const = default;

Expression make_number(std::int64_t value) {
  Expression e;
  if (value < 0 && value != INT64_MIN) {
    e.kind = Expression::Kind::negate;
    e.operands.push_back(make_number(-value));
    return e;
  }
  e.number = value;
  return e;
}

Expression make_name(std::string name) {
  Expression e;
  e.kind = Expression::Kind::name;
  e.text = std::move(name);
  return e;
}

Expression make_binary(Expression::Kind kind, Expression left, Expression right) {
  Expression e;
  e.kind = kind;
  e.operands.push_back(std::move(left));
  e.operands.push_back(std::move(right));
  return e;
}

namespace {
constexpr std::array<std::string_view, 9> phase_words{"f", "b", "w", "r", "fetch", "grad", "update", "load", "store"};
constexpr std::array<std::string_view, 6> relation_words{"=", "!=", "<", "<=", ">", ">="};

struct Unit {
  std::string_view name;
  std::int64_t scale;
};
constexpr std::array<Unit, 12> units{{{"B", 1},
                                      {"KiB", 1LL << 10},
                                      {"MiB", 1LL << 20},
                                      {"GiB", 1LL << 30},
                                      {"TiB", 1LL << 40},
                                      {"kB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000},
                                      {"us", 1},
                                      {"ms", 1'000},
                                      {"s", 1'000'000}}};

Number failed(EvaluationError::Kind kind, std::string text) {
  Number n;
  n.error = EvaluationError{kind, std::move(text)};
  return n;
}
}  // namespace

std::string_view to_string(Phase p) { return phase_words[static_cast<std::size_t>(p)]; }
std::string_view to_string(Condition::Relation r) { return relation_words[static_cast<std::size_t>(r)]; }

std::optional<Phase> phase_of(std::string_view word) {
  for (std::size_t i = 0; i < phase_words.size(); ++i)
    if (phase_words[i] == word) return static_cast<Phase>(i);
  return std::nullopt;
}

bool is_unit(std::string_view word) {
  for (const Unit& u : units)
    if (u.name == word) return true;
  return false;
}

std::optional<std::int64_t> scaled(std::int64_t number, std::string_view unit) {
  if (unit.empty()) return number;
  for (const Unit& u : units) {
    std::int64_t out = 0;
    if (u.name == unit) return __builtin_mul_overflow(number, u.scale, &out) ? std::nullopt : std::optional(out);
  }
  return std::nullopt;
}

Number apply(Expression::Kind kind, std::int64_t a, std::int64_t b) {
  using K = Expression::Kind;
  Number n;
  bool overflow = false;
  if (kind == K::add) overflow = __builtin_add_overflow(a, b, &n.value);
  if (kind == K::subtract) overflow = __builtin_sub_overflow(a, b, &n.value);
  if (kind == K::multiply) overflow = __builtin_mul_overflow(a, b, &n.value);
  if (kind == K::divide || kind == K::modulo) {
    if (b == 0) return failed(EvaluationError::Kind::zero_divisor, {});
    if (b == -1) {  // INT64_MIN / -1
      overflow = kind == K::divide && __builtin_sub_overflow(std::int64_t{0}, a, &n.value);
    } else {
      const std::int64_t q = a / b, r = a % b;
      const bool down = r != 0 && ((r < 0) != (b < 0));
      n.value = kind == K::divide ? q - (down ? 1 : 0) : r + (down ? b : 0);
    }
  }
  return overflow ? failed(EvaluationError::Kind::overflow, {}) : n;
}

Number evaluate(const Expression& e, const LeafValue& leaf) {
  using K = Expression::Kind;
  switch (e.kind) {
    case K::number: {
      const auto v = scaled(e.number, e.text);
      if (!v) return failed(EvaluationError::Kind::overflow, {});
      return Number{*v, std::nullopt};
    }
    case K::negate: {
      const Number a = evaluate(e.operands[0], leaf);
      return a.ok() ? apply(K::subtract, 0, a.value) : a;
    }
    case K::add:
    case K::subtract:
    case K::multiply:
    case K::divide:
    case K::modulo: {
      const Number a = evaluate(e.operands[0], leaf);
      if (!a.ok()) return a;
      const Number b = evaluate(e.operands[1], leaf);
      return b.ok() ? apply(e.kind, a.value, b.value) : b;
    }
    case K::name:
    case K::open:
    case K::bars:
    case K::call:
    case K::group:
      return leaf(e);
    case K::setting:
      return failed(EvaluationError::Kind::unsupported, e.text);
  }
  return failed(EvaluationError::Kind::unsupported, {});
}

bool holds(Condition::Relation r, std::int64_t a, std::int64_t b) {
  using R = Condition::Relation;
  switch (r) {
    case R::equal:
      return a == b;
    case R::different:
      return a != b;
    case R::less:
      return a < b;
    case R::at_most:
      return a <= b;
    case R::greater:
      return a > b;
    case R::at_least:
      return a >= b;
  }
  return false;
}

namespace {
std::optional<bool> evaluate_compare(const Condition& c, const LeafValue& leaf) {
  bool known = true;
  Number left = evaluate(c.terms[0], leaf);
  for (std::size_t i = 0; i < c.relations.size(); ++i) {
    Number right = evaluate(c.terms[i + 1], leaf);
    if (!left.ok() || !right.ok())
      known = false;
    else if (!holds(c.relations[i], left.value, right.value))
      return false;
    left = std::move(right);
  }
  return known ? std::optional(true) : std::nullopt;
}

std::optional<bool> evaluate_in(const Condition& c, const LeafValue& leaf) {
  const Number a = evaluate(c.terms[0], leaf);
  if (!a.ok()) return std::nullopt;
  bool known = true;
  for (const Expression& member : c.set) {
    const Number b = evaluate(member, leaf);
    if (!b.ok())
      known = false;
    else if (a.value == b.value)
      return true;
  }
  return known ? std::optional(false) : std::nullopt;
}
}  // namespace

std::optional<bool> evaluate(const Condition& c, const LeafValue& leaf) {
  using K = Condition::Kind;
  if (c.kind == K::compare) return evaluate_compare(c, leaf);
  if (c.kind == K::in) return evaluate_in(c, leaf);
  if (c.kind == K::negation) {
    const auto v = evaluate(c.parts[0], leaf);
    return v ? std::optional(!*v) : std::nullopt;
  }
  const bool decisive = c.kind == K::either;  // true decides `or`, false decides `and`
  bool known = true;
  for (const Condition& part : c.parts) {
    const auto v = evaluate(part, leaf);
    if (!v)
      known = false;
    else if (*v == decisive)
      return decisive;
  }
  return known ? std::optional(!decisive) : std::nullopt;
}

// --- walking ----------------------------------------------------------------------------------------------------------

namespace {
using Visit = std::function<void(const Expression&)>;

void for_each(const Index& i, const Visit& visit) {
  for (const auto* e : {&i.begin, &i.end, &i.step})
    if (*e) plan::for_each(**e, visit);
}

void for_each(const Path& p, const Visit& visit) {
  for (const Name& n : p.names)
    for (const auto& bracket : n.brackets)
      for (const Index& i : bracket) for_each(i, visit);
  if (p.call) plan::for_each(*p.call, visit);
  if (p.ordinal) plan::for_each(*p.ordinal, visit);
}
}  // namespace

void for_each(const Expression& e, const Visit& visit) {
  visit(e);
  for (const Expression& o : e.operands) for_each(o, visit);
  for (const Group& g : e.groups) for_each(g, visit);
}

void for_each(const Group& g, const Visit& visit) {
  for_each(g.path, visit);
  for_each(g.units, visit);
  for (const Expression& a : g.arguments) for_each(a, visit);
  for (const TaskIndex& i : g.index) for_each(i.index, visit);
}

void for_each(const Units& u, const Visit& visit) {
  for (const Group& g : u.groups) for_each(g, visit);
  for (const Group& g : u.except) for_each(g, visit);
}

void for_each(const Condition& c, const Visit& visit) {
  for (const Expression& t : c.terms) for_each(t, visit);
  for (const Expression& t : c.set) for_each(t, visit);
  for (const Condition& p : c.parts) for_each(p, visit);
}

namespace {
template <class T>
bool any_open(const T& value) {
  bool found = false;
  for_each(value, [&](const Expression& e) { found = found || e.kind == Expression::Kind::open; });
  return found;
}
}  // namespace

bool mentions_open(const Expression& e) { return any_open(e); }
bool mentions_open(const Condition& c) { return any_open(c); }

}  // namespace planscope::plan
