// Statements of one line.
#include "engine/plan/line_parser.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"

namespace planscope::plan {

const std::vector<LineParser::Keyword>& LineParser::keywords() {
  using P = LineParser;
  static const std::vector<Keyword> all = {
      {{"devices", "the devices, and the axes that they have"}, &P::devices},
      {{"grid", "some of the devices under a name, with axes of their own"}, &P::grid},
      {{"model", "sizes of the model's inputs, and its loss"}, &P::model},
      {{"axis", "an axis that is run one after the other, as micro-batches"}, &P::axis},
      {{"let", "a name for operators, numbers or functions"}, &P::let},
      {{"trans", "op-trans: splits or rewrites operators"}, &P::trans},
      {{"assign", "op-assign: says where operators run"}, &P::assign},
      {{"order", "op-order: says what runs before what"}, &P::order},
      {{"require", "a condition that has to hold"}, &P::require},
      {{"forbid", "what may not be"}, &P::forbid},
      {{"relax", "operators that read parameters as they were some updates ago"}, &P::relax},
      {{"use", "a template: more statements"}, &P::use},
      {{"template", "defines a template, up to its 'end'"}, &P::template_head},
      {{"end", "ends the definition of a template"}, nullptr},
  };
  return all;
}

std::vector<Word> statement_words() {
  std::vector<Word> out;
  for (const LineParser::Keyword& k : LineParser::keywords()) out.push_back(k.word);
  return out;
}

std::vector<Word> algorithm_words() {
  return {{"recompute", "what backward needs is computed again"},
          {"offload", "what backward needs waits in host memory"},
          {"keep", "what backward needs is kept"},
          {"keep_gathered", "parameters that are gathered for forward are kept for backward"},
          {"grad_split", "gradients of parameters are computed apart"}};
}

namespace {
std::vector<std::string> texts(const std::vector<Word>& words) {
  std::vector<std::string> out;
  for (const Word& w : words) out.emplace_back(w.text);
  return out;
}

const std::vector<std::string>& algorithm_list() {
  static const std::vector<std::string> all = texts(algorithm_words());
  return all;
}
}  // namespace

StatementBody LineParser::statement() {
  if (!is_word()) {
    fail_expected("a statement");
    return EmptyStatement{};
  }
  const std::string keyword(peek());
  advance();
  for (const Keyword& k : keywords())
    if (k.read && k.word.text == keyword) return (this->*k.read)();
  const std::vector<std::string> all = texts(statement_words());
  const std::string near = nearest(keyword, all);
  fail("unknown statement '" + keyword + "'. " +
       (near.empty() ? "Statements: " + join(all, ", ") + "." : "Did you mean '" + near + "'?"));
  return EmptyStatement{};
}

std::vector<AxisSub> LineParser::axis_sizes(bool alternatives) {
  std::vector<AxisSub> out;
  do {
    AxisSub a;
    a.axis = name("a name and '='");
    expect("=");
    if (alternatives)
      a.sub = sub();
    else
      a.sub.alternatives.push_back(expression());
    out.push_back(std::move(a));
  } while (!failed() && is_word() && !is("where"));
  return out;
}

StatementBody LineParser::devices() {
  DevicesStatement s;
  s.count = expression();
  if (accept_word("as")) s.axes = axis_sizes(true);
  return s;
}

StatementBody LineParser::grid() {
  GridStatement s;
  s.name = name("a grid's name");
  if (is_attached("[")) {
    advance();
    s.index = expression();
    expect("]");
  }
  expect("=");
  s.place = place();
  if (accept_word("as")) s.axes = axis_sizes(true);
  return s;
}

StatementBody LineParser::model() { return ModelStatement{axis_sizes(false)}; }

StatementBody LineParser::axis() {
  AxisStatement s;
  s.name = name("an axis");
  expect("=");
  s.size = sub();
  return s;
}

StatementBody LineParser::let() {
  LetStatement s;
  s.name = name("a name");
  if (phase_of(s.name) && is_attached("(")) {
    fail("'" + s.name + "(…)' is a phase and cannot be defined");
    return s;
  }
  if (is_attached("(")) {
    s.function = true;
    advance();
    if (!is(")")) {
      do s.parameters.push_back(name("a parameter"));
      while (!failed() && accept(","));
    }
    expect(")");
  }
  expect("=");
  if (failed()) return s;
  if (is("cut") && ((is_word(1) && !is("where", 1)) || is_quoted(1) || is("{", 1) || is("*", 1) || is(":", 1)) && !token(1).attached) {
    advance();
    Cut c;
    c.units = units();
    if (!accept_word("into")) fail_expected("'into'");
    do c.into.push_back(expression());
    while (!failed() && accept(","));
    s.value = std::move(c);
    return s;
  }
  const std::size_t begin = at_;
  Expression e = expression();
  if (!failed() && (at_end() || is("where"))) {
    s.value = std::move(e);
    return s;
  }
  // Else it is a selection. Where it is none either, the reading that came further says why.
  const std::string no_value = std::exchange(error_, {});
  const std::size_t value_failed_at = failed_at_;
  at_ = begin;
  s.value = units();
  const bool read = !failed() && (at_end() || is("where"));
  if (!read && !no_value.empty() && value_failed_at > (failed() ? failed_at_ : at_)) {
    error_.clear();
    at_ = value_failed_at;
    fail(no_value);
  }
  return s;
}

Choice LineParser::choice() {
  Choice c;
  do {
    std::string w;
    if (accept("?"))
      w = "?" + name("a name behind '?'");
    else if (accept("*"))
      w = "*";
    else
      w = word("a word");
    c.words.push_back(std::move(w));
  } while (!failed() && accept("|"));
  return c;
}

StatementBody LineParser::trans() {
  TransStatement s;
  s.units = units();
  s.factor = choice();
  if (failed()) return s;
  if (!accept_word("by")) {
    AlgorithmStatement a{std::move(s.units), std::move(s.factor)};
    for (const std::string& w : a.algorithm.words) {
      if (std::find(algorithm_list().begin(), algorithm_list().end(), w) != algorithm_list().end()) continue;
      if (w == "none" && a.algorithm.words.size() > 1) continue;  // no algorithm: kept
      const std::string near = nearest(w, algorithm_list());
      fail("expected 'by AXIS' behind '" + join(a.algorithm.words, "|") + "', or an algorithm (" +
           join(algorithm_list(), ", ") + ")" + (near.empty() ? "" : ". Did you mean '" + near + "'?"));
    }
    return a;
  }
  do s.axes.push_back(choice());
  while (!failed() && accept(","));
  if (accept_word("at")) s.at = expression();
  if (!accept_word("sizes")) return s;
  if (accept_word("balanced")) {
    s.sizes.form = Sizes::Form::balanced;
    return s;
  }
  s.sizes.form = Sizes::Form::listed;
  do s.sizes.listed.push_back(expression());
  while (!failed() && accept(","));
  return s;
}

Sub LineParser::sub() {
  Sub s;
  if (accept("[")) {
    s.indices = indices("]");
    return s;
  }
  s.alternatives.push_back(expression());
  while (!failed() && is("|") && !(is_word(1) && is("=", 2))) {
    advance();
    s.alternatives.push_back(expression());
  }
  return s;
}

Place LineParser::place() {
  Place p;
  if (failed()) return p;
  if (accept_word("host")) {
    p.form = Place::Form::host;
  } else if (is("?")) {
    Expression e = open();
    p.form = Place::Form::open;
    p.name = std::move(e.text);
    p.subscript = std::move(e.operands);
  } else if (is_word() && is("=", 1)) {
    do {
      AxisSub a;
      a.axis = name("an axis");
      expect("=");
      a.sub = sub();
      p.axes.push_back(std::move(a));
    } while (!failed() && accept(","));
  } else if (is_word() && is_attached("[", 1)) {
    p.form = Place::Form::name;
    p.name = name("a grid");
    advance();
    p.subscript.push_back(expression());
    expect("]");
  } else {
    p.form = Place::Form::devices;
    p.devices = indices("");
    const bool named = p.devices.size() == 1 && p.devices[0].kind == Index::Kind::one && p.devices[0].begin &&
                       p.devices[0].begin->kind == Expression::Kind::name;
    if (!failed() && named) {
      p.form = Place::Form::name;
      p.name = p.devices[0].begin->text;
      p.devices.clear();
    }
  }
  return p;
}

StatementBody LineParser::assign() {
  AssignStatement s;
  s.units = units();
  if (!accept_word("to")) fail_expected("'to'");
  do s.places.push_back(place());
  while (!failed() && accept("|"));
  return s;
}

StatementBody LineParser::order() {
  OrderStatement s;
  s.open = accept("?");
  if (s.open) return s;
  do s.chain.push_back(group());
  while (!failed() && accept("<"));
  if (!failed() && s.chain.size() < 2) fail_expected("'<' and what comes later");
  return s;
}

StatementBody LineParser::forbid() {
  ForbidStatement s;
  if (accept_word("trans")) {
    StatementBody body = trans();
    if (auto* t = std::get_if<TransStatement>(&body)) s.primitive = std::move(*t);
    if (auto* a = std::get_if<AlgorithmStatement>(&body)) s.primitive = std::move(*a);
  } else if (accept_word("assign")) {
    s.primitive = std::get<AssignStatement>(assign());
  } else if (accept_word("order")) {
    s.primitive = std::get<OrderStatement>(order());
    if (std::get<OrderStatement>(s.primitive).open) fail("'forbid order ?' forbids nothing");
  } else {
    fail_expected("'trans', 'assign' or 'order'");
  }
  return s;
}

StatementBody LineParser::relax() {
  RelaxStatement s;
  s.group = group();
  if (!accept_word("lag")) fail_expected("'lag'");
  s.lag = expression();
  return s;
}

StatementBody LineParser::use() {
  UseStatement s;
  s.name = word("a template's name");
  s.arguments = arguments();
  return s;
}

StatementBody LineParser::template_head() {
  TemplateStatement s;
  s.name = word("a template's name");
  expect("(");
  if (!accept(")")) {
    do s.parameters.push_back(name("a parameter"));
    while (!failed() && accept(","));
    expect(")");
  }
  return s;
}

}  // namespace planscope::plan
