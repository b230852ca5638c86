#pragma once
// Random plans for property tests: every statement and every kind of expression, in the forms that the parser makes.
#include <random>
#include <string>

#include "engine/plan/plan.h"

namespace planscope::plan {

class RandomPlan {
 public:
  explicit RandomPlan(unsigned seed) : random_(seed) {}

  Plan plan() {
    Plan p;
    const int n = below(12);
    for (int i = 0; i < n; ++i) append(p.statements, below(15) ? statement() : template_statement());
    return p;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool maybe() { return below(2) == 0; }
  static bool is_blank(const Statement& s) {
    return std::holds_alternative<EmptyStatement>(s.body) && s.comment.empty() && !s.automatic && s.where.empty();
  }
  // As the parser has them: blank lines one behind the other are one statement.
  static void append(std::vector<Statement>& list, Statement s) {
    if (!list.empty() && is_blank(list.back()) && is_blank(s))
      ++std::get<EmptyStatement>(list.back().body).lines;
    else
      list.push_back(std::move(s));
  }
  template <class F>
  auto several(int most, F f) {
    std::vector<decltype(f())> out;
    for (int n = 1 + below(most); n > 0; --n) out.push_back(f());
    return out;
  }
  std::string word() {
    static const char* words[] = {"S",  "L",    "pipe", "x_1",  "model", "tensor", "k",
                                  "Mb", "dim0", "cut",  "auto", "f",     "keep"};
    return words[below(13)];
  }
  std::string comment() { return below(4) ? "" : maybe() ? "#" : "# why? because #1 — so"; }

  Expression number() {
    Expression e;
    e.number = maybe() ? below(20) : static_cast<std::int64_t>(random_()) * 1000;
    if (!below(5)) e.text = e.number < 20 && maybe() ? "GiB" : "us";
    return e;
  }
  Expression open(int depth) {
    Expression e;
    e.kind = Expression::Kind::open;
    e.text = word();
    if (!below(3)) e.operands = several(2, [&] { return expression(depth - 1); });
    return e;
  }
  Expression expression(int depth = 3) {
    using K = Expression::Kind;
    Expression e;
    switch (depth <= 0 ? below(2) : below(10)) {
      case 0:
        return number();
      case 1:
        return make_name(word());
      case 2:
        return open(depth);
      case 3:
        e.kind = K::bars;
        e.operands = several(2, [&] { return maybe() ? open(depth - 1) : selection(depth - 1); });
        return e;
      case 4:
        e.kind = K::call;
        e.text = "g";
        e.operands = several(3, [&] { return argument(depth - 1); });
        return e;
      case 5:
        e.kind = K::negate;
        e.operands.push_back(expression(depth - 1));
        return e;
      default: {
        static const K kinds[] = {K::add, K::subtract, K::multiply, K::divide, K::modulo};
        return make_binary(kinds[below(5)], expression(depth - 1), expression(depth - 1));
      }
    }
  }
  Expression selection(int depth) {  // a bare name is a name, anything more a group
    Expression e;
    if (maybe()) return make_name(word());
    e.kind = Expression::Kind::group;
    Group g = group(depth);
    // `g(1)` alone is a call; `x` alone is a name; `x*` would be read as a product
    if (g.form == Group::Form::call && g.index.empty()) g.index.push_back({"", Index{}});
    if (g.form == Group::Form::path) g.path.kind = "add";
    e.groups.push_back(std::move(g));
    return e;
  }
  Expression argument(int depth) {
    if (below(3)) return maybe() ? expression(depth) : selection(depth);
    Expression e;
    e.kind = Expression::Kind::setting;
    e.text = word();
    e.operands.push_back(expression(depth));
    return e;
  }
  Index index(int depth) {
    Index i;
    i.kind = static_cast<Index::Kind>(below(3));
    if (i.kind == Index::Kind::one) i.begin = expression(depth);
    if (i.kind == Index::Kind::range) {
      if (maybe()) i.begin = expression(depth);
      if (maybe()) i.end = expression(depth);
      if (!below(3)) i.step = number();
    }
    return i;
  }
  std::string glob() {
    static const char* globs[] = {"model",   "layers",  "*",   "{q,k,v}_proj", "h*", "a{b,c*}d",     "0",
                                  "lm_head", "block-a", "a b", "{encoder,de}", "é*", "x{it's,y-*}z", "a\\*b\"'"};
    return globs[below(14)];
  }
  Path path(int depth) {
    Path p;
    p.names = several(3, [&] {
      Name n{glob(), {}};
      while (!below(3)) n.brackets.push_back(several(2, [&] { return index(depth - 1); }));
      return n;
    });
    if (!below(4)) p.call = expression(depth - 1);
    if (!below(3)) p.kind = glob();
    if (!below(5)) p.ordinal = make_number(below(4));
    if (!below(8) && !p.kind.empty()) p.names.clear(), p.call.reset();
    return p;
  }
  Group group(int depth) {
    Group g;
    g.form = static_cast<Group::Form>(depth > 0 ? below(3) : 0);
    if (g.form == Group::Form::path) g.path = path(depth);
    if (g.form == Group::Form::phase) {
      g.phase = static_cast<Phase>(below(9));
      g.units = units(depth - 1);
    }
    if (g.form == Group::Form::call) {
      g.name = "chunk";
      g.arguments = several(2, [&] { return argument(depth - 1); });
    }
    const bool bare =
        g.form == Group::Form::path && g.path.call == std::nullopt && g.path.kind.empty() && !g.path.ordinal;
    if (!below(3)) {
      g.index = several(2, [&] { return TaskIndex{maybe() ? "mb" : "", index(depth - 1)}; });
      if (bare) g.index[0].axis = "mb";  // else it is the path's own index
    }
    return g;
  }
  Units units(int depth = 2) {
    Units u;
    u.groups = several(3, [&] { return group(depth); });
    if (!below(4)) u.except = several(2, [&] { return group(depth); });
    return u;
  }
  Condition condition(int depth = 2) {
    Condition c;
    c.kind = static_cast<Condition::Kind>(below(depth > 0 ? 5 : 2));
    if (c.kind == Condition::Kind::compare) {
      c.relations = several(2, [&] { return static_cast<Condition::Relation>(below(6)); });
      for (std::size_t i = 0; i <= c.relations.size(); ++i) c.terms.push_back(expression(2));
    } else if (c.kind == Condition::Kind::in) {
      c.terms.push_back(expression(2));
      c.set = several(3, [&] { return below(3) ? expression(1) : make_name("in"); });
    } else {
      const int n = c.kind == Condition::Kind::negation ? 1 : 2 + below(2);
      for (int i = 0; i < n; ++i) c.parts.push_back(condition(depth - 1));
      for (Condition& part : c.parts)  // `a and b and c` is one list
        if (part.kind == c.kind && c.kind != Condition::Kind::negation)
          part.kind = c.kind == Condition::Kind::both ? Condition::Kind::either : Condition::Kind::both;
    }
    return c;
  }
  Sub sub() {
    Sub s;
    if (!below(4))
      s.indices = several(2, [&] { return index(1); });
    else
      s.alternatives = several(3, [&] { return expression(1); });
    return s;
  }
  std::vector<AxisSub> axes() {
    return several(3, [&] { return AxisSub{word(), sub()}; });
  }
  Place place() { return place(static_cast<Place::Form>(below(5))); }
  Place place(Place::Form form) {
    Place p;
    p.form = form;
    if (p.form == Place::Form::axes) p.axes = axes();
    if (p.form == Place::Form::name || p.form == Place::Form::open) p.name = word();
    if (p.form == Place::Form::name && maybe()) p.subscript.push_back(expression(1));
    if (p.form == Place::Form::open && maybe()) p.subscript = several(2, [&] { return expression(1); });
    if (p.form == Place::Form::devices) {
      p.devices = several(3, [&] { return index(1); });
      for (Index& i : p.devices)  // before `| …` a range has its ends
        if (i.kind == Index::Kind::range) i.end = number();
      // a name alone would be a grid
      p.devices[0] = Index{Index::Kind::one, number(), std::nullopt, std::nullopt};
    }
    return p;
  }
  Choice choice() {
    return Choice{several(3, [&]() -> std::string {
      static const char* words[] = {"heads", "*", "none", "?dim", "in", "dim0"};
      return words[below(6)];
    })};
  }
  TransStatement trans() {
    TransStatement s{units(), choice(), several(2, [&] { return choice(); }), {}, {}};
    if (!below(4)) s.at = expression();
    s.sizes.form = static_cast<Sizes::Form>(below(3));
    if (s.sizes.form == Sizes::Form::listed) s.sizes.listed = several(3, [&] { return expression(1); });
    return s;
  }
  AlgorithmStatement algorithm() {
    return {units(), Choice{several(2, [&]() -> std::string {
              static const char* words[] = {"recompute", "offload", "keep", "keep_gathered", "grad_split"};
              return words[below(5)];
            })}};
  }
  AssignStatement assign() {  // alternatives have one form: behind `pipe=0|` more values of `pipe` are expected
    const auto form = static_cast<Place::Form>(below(5));
    return {units(), several(2, [&] { return place(form); })};
  }
  OrderStatement order(bool open) {
    OrderStatement s;
    s.open = open;
    if (open) return s;
    s.chain = several(3, [&] { return group(2); });
    s.chain.push_back(group(2));
    return s;
  }
  LetStatement let() {
    LetStatement s;
    s.name = "L";
    s.function = maybe();
    if (s.function) s.name = "F", s.parameters = several(2, [&] { return word(); });
    if (s.function && maybe()) s.parameters.clear();
    const int kind = below(3);
    if (kind == 0) s.value = expression();
    if (kind == 1) {
      Units u = units();
      Group phase;  // something that no expression begins with
      phase.form = Group::Form::phase;
      phase.units = units(1);
      u.groups.insert(u.groups.begin(), phase);
      s.value = std::move(u);
    }
    if (kind == 2) s.value = Cut{units(), several(2, [&] { return expression(1); })};
    return s;
  }
  StatementBody body() {
    switch (below(15)) {
      case 0:
        return DevicesStatement{expression(), maybe() ? axes() : std::vector<AxisSub>{}};
      case 1:
        return GridStatement{word(), maybe() ? std::optional(expression(1)) : std::nullopt, place(),
                             maybe() ? axes() : std::vector<AxisSub>{}};
      case 2:
        return ModelStatement{several(3, [&] { return AxisSub{word(), Sub{{expression(1)}, {}}}; })};
      case 3:
        return AxisStatement{word(), sub()};
      case 4:
        return let();
      case 5:
        return algorithm();
      case 6:
        return assign();
      case 7:
        return order(!below(4));
      case 8:
        return RequireStatement{condition()};
      case 9:
        return RelaxStatement{group(2), expression()};
      case 10:
        return UseStatement{maybe() ? "1f1b" : "tp",
                            maybe() ? several(3, [&] { return argument(2); }) : std::vector<Expression>{}};
      case 11: {
        ForbidStatement s;
        const int kind = below(4);
        if (kind == 0) s.primitive = trans();
        if (kind == 1) s.primitive = algorithm();
        if (kind == 2) s.primitive = assign();
        if (kind == 3) s.primitive = order(false);
        return s;
      }
      default:
        return trans();
    }
  }
  Statement statement() {
    Statement s;
    s.comment = comment();
    if (!below(8)) return s;
    s.automatic = !below(6);
    s.body = body();
    if (!below(4)) s.where = several(2, [&] { return condition(); });
    return s;
  }
  Statement template_statement() {
    TemplateStatement t;
    t.name = maybe() ? "1f1b" : "mine";
    if (maybe()) t.parameters = several(2, [&] { return word(); });
    for (int n = below(4); n > 0; --n) append(t.body, statement());
    t.end_comment = comment();
    Statement s;
    s.comment = comment();
    s.body = std::move(t);
    return s;
  }

  std::mt19937 random_;
};

}  // namespace planscope::plan
