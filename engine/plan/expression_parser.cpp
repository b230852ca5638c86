// Expressions, selections and conditions of one line.
#include <algorithm>
#include <cctype>

#include "engine/base/module_path.h"
#include "engine/plan/line_parser.h"
#include "engine/plan/parser.h"
#include "engine/plan/selection.h"

namespace planscope::plan {

namespace {
std::size_t digit_prefix(std::string_view w) {
  std::size_t n = 0;
  while (n < w.size() && w[n] >= '0' && w[n] <= '9') ++n;
  return n;
}
std::optional<Condition::Relation> relation_of(std::string_view text) {
  using R = Condition::Relation;
  for (const R r : {R::equal, R::different, R::less, R::at_most, R::greater, R::at_least})
    if (to_string(r) == text) return r;
  return std::nullopt;
}
}  // namespace

struct LineParser::Depth {
  explicit Depth(LineParser& p) : parser(p) {
    if (++parser.depth_ > max_nesting) parser.fail("nested too deeply (more than " + std::to_string(max_nesting) + ")");
  }
  ~Depth() { --parser.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  LineParser& parser;
};

// --- tokens -----------------------------------------------------------------------------------------------------------

void LineParser::fail(std::string message) {
  if (error_.empty()) {
    error_ = std::move(message);
    failed_at_ = at_;
  }
  at_ = tokens_.size() - 1;  // nothing is left to read: every loop ends
}

void LineParser::fail_expected(std::string_view what) {
  const std::string found = at_end() ? "the end of the line" : "'" + std::string(peek()) + "'";
  const bool odd = token().attached && (is("-") || token().kind == Token::Kind::unknown);
  fail("expected " + std::string(what) + ", found " + found +
       (odd ? "; a name with other characters than letters, digits and _ stands in quotes: 'block-0'" : ""));
}

// A chain of operations is as deep a tree as it is long.
void LineParser::count_operation() {
  if (++operations_ > max_operations) fail("more than " + std::to_string(max_operations) + " operations in one line");
}

bool LineParser::accept(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

bool LineParser::accept_word(std::string_view text) { return is_word() && accept(text); }

void LineParser::expect(std::string_view text) {
  if (!accept(text)) fail_expected("'" + std::string(text) + "'");
}

void LineParser::expect_end() {
  if (!failed() && !at_end()) fail_expected("the end of the statement");
}

std::string LineParser::word(std::string_view what) {
  if (!is_word()) {
    fail_expected(what);
    return {};
  }
  std::string out(peek());
  advance();
  return out;
}

std::string LineParser::name(std::string_view what) {
  if (!is_word() || is_script_word(peek()) || digit_prefix(peek()) > 0) {
    fail_expected(what);
    return {};
  }
  return word(what);
}

// --- expressions ------------------------------------------------------------------------------------------------------

Expression LineParser::sum(std::optional<Expression> first) {
  const Depth depth(*this);
  Expression left = product(std::move(first));
  while (!failed() && (is("+") || is("-"))) {
    count_operation();
    const auto kind = is("+") ? Expression::Kind::add : Expression::Kind::subtract;
    advance();
    left = make_binary(kind, std::move(left), product(std::nullopt));
  }
  return left;
}

Expression LineParser::product(std::optional<Expression> first) {
  Expression left = first ? std::move(*first) : unary();
  while (!failed() && (is("*") || is("/") || is("%"))) {
    count_operation();
    const auto kind = is("*")   ? Expression::Kind::multiply
                      : is("/") ? Expression::Kind::divide
                                : Expression::Kind::modulo;
    advance();
    left = make_binary(kind, std::move(left), unary());
  }
  return left;
}

Expression LineParser::unary() {
  const Depth depth(*this);
  if (failed() || !accept("-")) return primary();
  Expression e;
  e.kind = Expression::Kind::negate;
  e.operands.push_back(unary());
  return e;
}

Expression LineParser::primary() {
  const Depth depth(*this);
  if (failed()) return {};
  if (accept("(")) {
    Expression e = expression();
    expect(")");
    return e;
  }
  if (is("|")) return bars();
  if (is("?")) return open();
  if (!is_word() || is_script_word(peek())) {
    fail_expected("a value");
    return {};
  }
  if (digit_prefix(peek()) > 0) return number();
  std::string text = word("a value");
  if (is_attached("(")) return call(std::move(text));
  return make_name(std::move(text));
}

Expression LineParser::number() {
  const std::string_view text = peek();
  const std::size_t digits = digit_prefix(text);
  const std::string_view unit = text.substr(digits);
  Expression e;
  if (!unit.empty() && !is_unit(unit)) {
    fail("'" + std::string(text) + "' is not a number; units are B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, us, ms, s");
    return e;
  }
  e.text = unit;
  for (const char c : text.substr(0, digits)) {
    if (__builtin_mul_overflow(e.number, std::int64_t{10}, &e.number) ||
        __builtin_add_overflow(e.number, std::int64_t{c - '0'}, &e.number)) {
      fail("'" + std::string(text) + "' is too large");
      return {};
    }
  }
  if (!scaled(e.number, e.text)) {
    fail("'" + std::string(text) + "' is too large");
    return {};
  }
  advance();
  return e;
}

Expression LineParser::open() {
  expect("?");
  Expression e;
  e.kind = Expression::Kind::open;
  e.text = name("a name behind '?'");
  if (is_attached("[")) {
    advance();
    do e.operands.push_back(expression());
    while (accept(","));
    expect("]");
  }
  return e;
}

Expression LineParser::bars() {
  const Depth depth(*this);
  expect("|");
  Expression e;
  e.kind = Expression::Kind::bars;
  do {
    if (is("?"))
      e.operands.push_back(open());
    else
      e.operands.push_back(argument());
  } while (!failed() && accept("&"));
  expect("|");
  return e;
}

Expression LineParser::call(std::string text) {
  Expression e;
  e.kind = Expression::Kind::call;
  e.text = std::move(text);
  if (phase_of(e.text)) {
    fail("'" + e.text + "(…)' names tasks, it is not a value");
    return e;
  }
  e.operands = arguments();
  return e;
}

std::vector<Expression> LineParser::arguments() {
  std::vector<Expression> out;
  expect("(");
  if (accept(")")) return out;
  do out.push_back(argument());
  while (!failed() && accept(","));
  expect(")");
  return out;
}

// Does a selection begin here that is more than a bare name?
bool LineParser::group_ahead() const {
  if (is("*") || is("{") || is(":") || is_quoted()) return true;
  if (!is_word()) return false;
  for (const std::string_view s : {".", "[", "{", "@", ":"})
    if (is_attached(s, 1)) return true;
  if (is_quoted(1) && token(1).attached) return true;
  const bool operand = is_word(2) || is("(", 2) || is("-", 2) || is("|", 2) || is("?", 2);
  if (is_attached("*", 1) && !operand) return true;  // `h*.mlp`; `h*2` is a product
  return is_attached("(", 1) && phase_of(peek());
}

Expression LineParser::argument() {
  const Depth depth(*this);
  if (failed()) return {};
  Expression e;
  if (is_word() && is("=", 1)) {
    e.kind = Expression::Kind::setting;
    e.text = name("an axis");
    advance();
    e.operands.push_back(expression());
    return e;
  }
  if (is_word() && is_script_word(peek()) && (is(",", 1) || is(")", 1)))  // a factor may have such a name: `in`
    return make_name(word("a value"));
  e.kind = Expression::Kind::group;
  if (group_ahead()) {
    e.groups.push_back(group());
    return e;
  }
  if (!is_word() || !is_attached("(", 1) || is_script_word(peek())) return expression();
  Expression called = call(word("a name"));
  if (!is_attached("[")) return sum(std::move(called));
  Group g;
  g.form = Group::Form::call;
  g.name = std::move(called.text);
  g.arguments = std::move(called.operands);
  g.index = task_index();
  e.groups.push_back(std::move(g));
  return e;
}

Index LineParser::index() {
  Index i;
  if (accept("*")) return i;
  i.kind = Index::Kind::one;
  if (!is(":")) i.begin = expression();
  if (!accept(":")) return i;
  i.kind = Index::Kind::range;
  const auto ends = [&] { return at_end() || is(":") || is("]") || is(",") || is("as") || is("where"); };
  if (!ends()) i.end = expression();
  if (accept(":") && !ends()) i.step = expression();
  return i;
}

std::vector<Index> LineParser::indices(std::string_view close) {
  std::vector<Index> out;
  do out.push_back(index());
  while (!failed() && accept(","));
  if (!close.empty()) expect(close);
  return out;
}

// --- selections -------------------------------------------------------------------------------------------------------

Units LineParser::units() {
  const Depth depth(*this);
  Units u;
  do u.groups.push_back(group());
  while (!failed() && accept(","));
  if (accept_word("except")) {
    do u.except.push_back(group());
    while (!failed() && accept(","));
  }
  return u;
}

Group LineParser::group() {
  const Depth depth(*this);
  Group g;
  if (failed()) return g;
  if (is_word() && is_attached("(", 1)) {
    if (const auto phase = phase_of(peek())) {
      g.form = Group::Form::phase;
      g.phase = *phase;
      advance();
      advance();
      g.units = units();
      expect(")");
    } else {
      g.form = Group::Form::call;
      g.name = name("a name");
      g.arguments = arguments();
    }
  } else {
    g.path = path();
  }
  g.index = task_index();
  return g;
}

std::vector<TaskIndex> LineParser::task_index() {
  std::vector<TaskIndex> out;
  while (!failed() && is_attached("[")) {
    advance();
    do {
      TaskIndex t;
      if (is_word() && is("=", 1)) {
        t.axis = name("an axis");
        advance();
      }
      t.index = index();
      out.push_back(std::move(t));
    } while (!failed() && accept(","));
    expect("]");
  }
  return out;
}

Path LineParser::path() {
  Path p;
  if (!is(":")) {
    do {
      Name n;
      n.glob = glob(!p.names.empty());
      for (auto dot = n.glob.find('.'); dot != std::string::npos; dot = n.glob.find('.')) {  // 'blocks.block-a'
        p.names.push_back({n.glob.substr(0, dot), {}});
        n.glob.erase(0, dot + 1);
      }
      while (!failed() && is_attached("[") && !(is_word(1) && is("=", 2))) {
        advance();
        n.brackets.push_back(indices("]"));
      }
      p.names.push_back(std::move(n));
    } while (!failed() && is_attached(".") && accept("."));
  }
  if (is_attached("@")) {
    advance();
    if (is("(") || !is_word() || digit_prefix(peek()) > 0)
      p.call = primary();
    else
      p.call = make_name(name("a call number"));
  }
  if ((p.names.empty() && is(":")) || is_attached(":")) {
    advance();
    p.kind = glob(token().attached);  // `:to` is an operator
  }
  if (is_attached("#")) {
    advance();
    p.ordinal = number();
  }
  return p;
}

std::string LineParser::glob(bool any_word) {
  std::string out;
  bool first = true;
  while (!failed() && (first || token().attached)) {
    if (is("*") || is_word()) {
      if (first && !any_word && is_word() && is_script_word(peek())) break;
      out += peek();
      advance();
    } else if (is_quoted()) {
      out += literal_glob(plain_component(peek()));
      advance();
    } else if (is("{")) {
      out += braces();
    } else {
      break;
    }
    first = false;
  }
  if (out.empty()) fail_expected("a module name");
  return out;
}

std::string LineParser::braces() {
  expect("{");
  std::string out = "{";
  for (;;) {
    std::string part;
    while (is_word() || is("*") || is_quoted()) {
      part += is_quoted() ? literal_glob(plain_component(peek())) : std::string(peek());
      advance();
      if (!token().attached) break;
    }
    if (part.empty()) fail_expected("a name in '{…}'");
    if (failed()) return out;
    out += part;
    if (!accept(",")) break;
    out += ",";
  }
  expect("}");
  return out + "}";
}

// --- conditions -------------------------------------------------------------------------------------------------------

std::vector<Condition> LineParser::where() {
  std::vector<Condition> out;
  if (failed() || !accept_word("where")) return out;
  do out.push_back(condition());
  while (!failed() && accept(","));
  return out;
}

Condition LineParser::condition() {
  const Depth depth(*this);
  Condition first = conjunction();
  if (!is("or")) return first;
  Condition c;
  c.kind = Condition::Kind::either;
  c.parts.push_back(std::move(first));
  while (!failed() && accept_word("or")) c.parts.push_back(conjunction());
  return c;
}

Condition LineParser::conjunction() {
  Condition first = negation();
  if (!is("and")) return first;
  Condition c;
  c.kind = Condition::Kind::both;
  c.parts.push_back(std::move(first));
  while (!failed() && accept_word("and")) c.parts.push_back(negation());
  return c;
}

Condition LineParser::negation() {
  const Depth depth(*this);
  if (failed()) return {};
  if (accept_word("not")) {
    Condition c;
    c.kind = Condition::Kind::negation;
    c.parts.push_back(negation());
    return c;
  }
  if (!is("(") || !parenthesized_condition()) return comparison();
  advance();
  Condition c = condition();
  expect(")");
  return c;
}

// Is what stands in the parentheses that open here a condition (and not a term of one)?
bool LineParser::parenthesized_condition() const {
  int open = 0;
  for (std::size_t i = 0; token(i).kind != Token::Kind::end; ++i) {
    if (is("(", i)) ++open;
    if (is(")", i) && --open == 0) return false;
    if (relation_of(token(i).text) || is("and", i) || is("or", i) || is("not", i) || is("in", i)) return true;
  }
  return false;
}

// Of a set: a value, or any word (`{in,out}` are factors).
Expression LineParser::member() {
  if (!is_word() || !is_script_word(peek())) return expression();
  return make_name(word("a value"));
}

// `G[0]` is a grid there.
Expression LineParser::term() { return is_word() && is_attached("[", 1) ? argument() : expression(); }

Condition LineParser::comparison() {
  Condition c;
  c.terms.push_back(term());
  if (accept_word("in")) {
    c.kind = Condition::Kind::in;
    expect("{");
    do c.set.push_back(member());
    while (!failed() && accept(","));
    expect("}");
    return c;
  }
  while (!failed()) {
    const auto relation = relation_of(peek());
    if (!relation) break;
    advance();
    c.relations.push_back(*relation);
    c.terms.push_back(is("in") ? member() : term());  // `?dim = in`
  }
  if (c.relations.empty() && !failed()) fail_expected("a comparison (= != < <= > >= in)");
  return c;
}

}  // namespace planscope::plan
