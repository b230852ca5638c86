#pragma once
// What plan statements are made of: expressions over integers, selections of operators, conditions. Plain values.
//
// An Expression is integer arithmetic (64 bits; `/` and `%` round down) over literals, sizes (`80GiB` is bytes, `900ms`
// is microseconds), names, open values `?x`, `|set|` and calls. A Group selects operators (`L.self_attn.{q,k}_proj`) or
// names tasks (`f(S[i])[m+1]`). Arguments of calls and atoms of `|…|` may be selections too; they are Expressions of
// kind `group` (or `name`, if they are a bare name) and `setting` (`pipe=0`).
//
// Evaluation never throws and never overflows: a value that does not fit in 64 bits is an EvaluationError.
//
//   Result<Expression> e = parse_expression("|pipe| * 2 + ?x");   // parser.h
//   print(*e)                                                     // printer.h
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace planscope::plan {

struct Group;

struct Expression {
  enum class Kind : std::uint8_t {
    number,  // 16, 80GiB: `number` and `text` = the unit
    name,    // n, tensor, S
    open,    // ?x, ?x[i]: `text` without the question mark, operands = indices
    bars,    // |a & b|: operands are the atoms
    call,    // chunk(k), memory(pipe=0)
    negate,  // -x
    add,
    subtract,
    multiply,
    divide,
    modulo,
    group,    // a selection: `groups` has one
    setting,  // pipe=0, as an argument: `text` = the axis, operands[0] = the value
  };
  Kind kind = Kind::number;
  std::int64_t number = 0;
  std::string text;
  std::vector<Expression> operands;
  std::vector<Group> groups;

  bool operator==(const Expression&) const;
};

Expression make_number(std::int64_t value);
Expression make_name(std::string name);
Expression make_binary(Expression::Kind, Expression left, Expression right);

// `*`, `expr`, or the half-open range `begin:end:step` with each end optional.
struct Index {
  enum class Kind : std::uint8_t { all, one, range };
  Kind kind = Kind::all;
  std::optional<Expression> begin, end, step;  // `one` uses begin alone
  bool operator==(const Index&) const;
};

// One component of a path: a glob (`*`, `{a,b}`, letters) and what stands in brackets behind it.
struct Name {
  std::string glob;
  std::vector<std::vector<Index>> brackets;
  bool operator==(const Name&) const;
};

struct Path {
  std::vector<Name> names;            // empty: `:kind` alone
  std::optional<Expression> call;     // @call
  std::string kind;                   // :kind, a glob; empty: any
  std::optional<Expression> ordinal;  // #ordinal
  bool operator==(const Path&) const;
};

enum class Phase : std::uint8_t { forward, backward, weight, replay, fetch, grad, update, load, store };
std::string_view to_string(Phase);  // f b w r fetch grad update load store
std::optional<Phase> phase_of(std::string_view word);
inline bool of_parameters(Phase p) { return p == Phase::grad || p == Phase::update; }  // run once a step

struct Units {
  std::vector<Group> groups;
  std::vector<Group> except;
  bool operator==(const Units&) const;
};

struct TaskIndex {
  std::string axis;  // empty: by position among the free axes
  Index index;
  bool operator==(const TaskIndex&) const;
};

struct Group {
  enum class Form : std::uint8_t { path, phase, call };
  Form form = Form::path;
  Path path;                          // form path
  Phase phase = Phase::forward;       // form phase
  Units units;                        // form phase: what stands in the parentheses
  std::string name;                   // form call
  std::vector<Expression> arguments;  // form call
  std::vector<TaskIndex> index;       // `[m]`, `[mb=m]`, behind the rest
  bool operator==(const Group&) const;
};

struct Condition {
  enum class Kind : std::uint8_t { compare, in, both, either, negation };
  enum class Relation : std::uint8_t { equal, different, less, at_most, greater, at_least };
  Kind kind = Kind::compare;
  std::vector<Expression> terms;  // compare: n+1 terms, n relations; in: the term
  std::vector<Relation> relations;
  std::vector<Expression> set;   // in
  std::vector<Condition> parts;  // both, either: two or more; negation: one
  bool operator==(const Condition&) const;
};
std::string_view to_string(Condition::Relation);

// --- evaluation -------------------------------------------------------------------------------------------------------

struct EvaluationError {
  enum class Kind : std::uint8_t { unknown, overflow, zero_divisor, unsupported };
  Kind kind = Kind::unknown;
  std::string text;  // unknown: the name that has no value; else the expression
};

// An integer, or why there is none.
struct Number {
  std::int64_t value = 0;
  std::optional<EvaluationError> error;
  bool ok() const { return !error.has_value(); }
};

// Gives the value of a leaf (name, open, bars, call, group); arithmetic is done by `evaluate`.
using LeafValue = std::function<Number(const Expression&)>;
Number evaluate(const Expression&, const LeafValue&);

// Three-valued: nothing if a term that matters has no value.
std::optional<bool> evaluate(const Condition&, const LeafValue&);

bool holds(Condition::Relation, std::int64_t a, std::int64_t b);

// Checked arithmetic and floor division; an error on overflow or a divisor of zero.
Number apply(Expression::Kind, std::int64_t a, std::int64_t b);

// A literal with its unit as bytes or microseconds; nothing if it does not fit.
std::optional<std::int64_t> scaled(std::int64_t number, std::string_view unit);
bool is_unit(std::string_view);

// Calls `visit` on every expression below (and including) this one, also inside indices, selections and conditions.
void for_each(const Expression&, const std::function<void(const Expression&)>& visit);
void for_each(const Group&, const std::function<void(const Expression&)>& visit);
void for_each(const Units&, const std::function<void(const Expression&)>& visit);
void for_each(const Condition&, const std::function<void(const Expression&)>& visit);

bool mentions_open(const Expression&);
bool mentions_open(const Condition&);

}  // namespace planscope::plan
