#include "planner/constraint/arithmetic.h"

namespace planscope::constraint {
namespace {

// Long conjunctions and disjunctions are made at once: one that grows term by term is as deep as it is long, and Z3 goes down it
// for every term.
class Translator {
 public:
  Translator(const Variables& v, const Words& w, z3::context& c)
      : variables_(v), words_(w), context_(c), defined_(c.bool_val(true)) {}

  std::optional<z3::expr> condition(const plan::Condition& c) {
    using K = plan::Condition::Kind;
    switch (c.kind) {
      case K::compare:
        return compare(c);
      case K::in:
        return in(c);
      case K::negation: {
        const auto part = condition(c.parts[0]);
        return part ? std::optional(!*part) : std::nullopt;
      }
      case K::both:
      case K::either: {
        z3::expr_vector all(context_);
        for (const plan::Condition& p : c.parts) {
          const auto part = condition(p);
          if (!part) return std::nullopt;
          all.push_back(*part);
        }
        return c.kind == K::both ? z3::mk_and(all) : z3::mk_or(all);
      }
    }
    return std::nullopt;
  }

  const z3::expr& defined() const { return defined_; }

 private:
  std::optional<z3::expr> compare(const plan::Condition& c) {
    z3::expr_vector all(context_);
    for (std::size_t i = 0; i < c.relations.size(); ++i) {
      const auto a = expression(c.terms[i]), b = expression(c.terms[i + 1]);
      if (!a || !b) return std::nullopt;
      all.push_back(relation(c.relations[i], *a, *b));
    }
    return z3::mk_and(all);
  }

  static z3::expr relation(plan::Condition::Relation r, const z3::expr& a, const z3::expr& b) {
    using R = plan::Condition::Relation;
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
    return a == b;
  }

  std::optional<z3::expr> in(const plan::Condition& c) {
    const auto term = expression(c.terms[0]);
    if (!term) return std::nullopt;
    z3::expr_vector any(context_);
    for (const plan::Expression& e : c.set) {
      const auto value = expression(e);
      if (!value) return std::nullopt;
      any.push_back(*term == *value);
    }
    return z3::mk_or(any);
  }

  std::optional<z3::expr> expression(const plan::Expression& e) {
    using K = plan::Expression::Kind;
    switch (e.kind) {
      case K::number: {
        const auto n = plan::scaled(e.number, e.text);
        return n ? std::optional(context_.int_val(*n)) : std::nullopt;
      }
      case K::name: {
        const auto found = words_.find(e.text);
        return found != words_.end() ? std::optional(context_.int_val(found->second)) : std::nullopt;
      }
      case K::open: {
        const auto found = variables_.find(e.text);
        return e.operands.empty() && found != variables_.end() ? std::optional(found->second) : std::nullopt;
      }
      case K::negate: {
        const auto a = expression(e.operands[0]);
        return a ? std::optional(-*a) : std::nullopt;
      }
      case K::add:
      case K::subtract:
      case K::multiply:
      case K::divide:
      case K::modulo: {
        const auto a = expression(e.operands[0]), b = expression(e.operands[1]);
        return a && b ? std::optional(arithmetic(e.kind, *a, *b)) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  // Z3's division leaves a remainder that is never negative; with the signs of both changed where the divisor is
  // negative, it rounds down.
  z3::expr arithmetic(plan::Expression::Kind kind, const z3::expr& a, const z3::expr& b) {
    using K = plan::Expression::Kind;
    if (kind == K::add) return a + b;
    if (kind == K::subtract) return a - b;
    if (kind == K::multiply) return a * b;
    defined_ = defined_ && b != 0;
    const z3::expr quotient = z3::ite(b > 0, a / b, (-a) / (-b));
    return kind == K::divide ? quotient : a - b * quotient;
  }

  const Variables& variables_;
  const Words& words_;
  z3::context& context_;
  z3::expr defined_;
};

}  // namespace

std::optional<z3::expr> to_term(const plan::Condition& c, const Variables& variables, const Words& words,
                                z3::context& context) {
  Translator t(variables, words, context);
  const auto term = t.condition(c);
  return term ? std::optional(*term && t.defined()) : std::nullopt;
}

}  // namespace planscope::constraint
