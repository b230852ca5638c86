#include "engine/plan/rewrite.h"

#include <algorithm>

namespace planscope::plan {

namespace {
template <class T>
void each(std::vector<T>& values, const Rewrite& r);

std::string renamed(const std::string& name, NameUse use, const Rewrite& r) {
  return r.name ? r.name(name, use) : name;
}

void apply(Expression& e, const Rewrite& r) {
  if (r.expression) {
    if (auto replaced = r.expression(e)) {
      e = std::move(*replaced);
      return;
    }
  }
  if (e.kind == Expression::Kind::call) e.text = renamed(e.text, NameUse::call, r);
  if (e.kind == Expression::Kind::setting) e.text = renamed(e.text, NameUse::axis, r);
  each(e.operands, r);
  each(e.groups, r);
}

void apply(std::optional<Expression>& e, const Rewrite& r) {
  if (e) apply(*e, r);
}

void apply(Index& i, const Rewrite& r) {
  apply(i.begin, r);
  apply(i.end, r);
  apply(i.step, r);
}

void apply(Path& p, const Rewrite& r) {
  if (!p.names.empty()) p.names[0].glob = renamed(p.names[0].glob, NameUse::root, r);
  for (Name& n : p.names)
    for (auto& bracket : n.brackets) each(bracket, r);
  apply(p.call, r);
  apply(p.ordinal, r);
}

void apply(TaskIndex& t, const Rewrite& r) {
  if (!t.axis.empty()) t.axis = renamed(t.axis, NameUse::axis, r);
  apply(t.index, r);
}

void apply(Units& u, const Rewrite& r) {
  each(u.groups, r);
  each(u.except, r);
}

void apply(Group& g, const Rewrite& r) {
  apply(g.path, r);
  apply(g.units, r);
  if (g.form == Group::Form::call) g.name = renamed(g.name, NameUse::call, r);
  each(g.arguments, r);
  each(g.index, r);
}

void apply(Condition& c, const Rewrite& r) {
  each(c.terms, r);
  each(c.set, r);
  each(c.parts, r);
}

void apply(Sub& s, const Rewrite& r) {
  each(s.alternatives, r);
  each(s.indices, r);
}

void apply(AxisSub& a, const Rewrite& r) {
  a.axis = renamed(a.axis, NameUse::axis, r);
  apply(a.sub, r);
}

void apply(Place& p, const Rewrite& r) {
  each(p.axes, r);
  if (p.form == Place::Form::name) p.name = renamed(p.name, NameUse::place, r);
  each(p.subscript, r);
  each(p.devices, r);
}

void apply(Choice& c, const Rewrite& r) {
  for (std::string& w : c.words) w = renamed(w, NameUse::word, r);
}

struct BodyRewrite {
  const Rewrite& r;
  void operator()(EmptyStatement&) const {}
  void operator()(UnparsedStatement&) const {}
  void operator()(TemplateStatement&) const {}
  void operator()(DevicesStatement& s) const {
    apply(s.count, r);
    each(s.axes, r);
  }
  void operator()(GridStatement& s) const {
    s.name = renamed(s.name, NameUse::defined, r);
    apply(s.index, r);
    apply(s.place, r);
    each(s.axes, r);
  }
  void operator()(ModelStatement& s) const {
    for (AxisSub& a : s.sizes) apply(a.sub, r);  // the names are the model's
  }
  void operator()(AxisStatement& s) const {
    s.name = renamed(s.name, NameUse::defined, r);
    apply(s.size, r);
  }
  void operator()(LetStatement& s) const {
    s.name = renamed(s.name, NameUse::defined, r);
    Rewrite inner = r;  // parameters hide what is outside
    const auto hidden = [&](const std::string& n) {
      return std::find(s.parameters.begin(), s.parameters.end(), n) != s.parameters.end();
    };
    inner.expression = [&](const Expression& e) -> std::optional<Expression> {
      if (!r.expression || (e.kind == Expression::Kind::name && hidden(e.text))) return std::nullopt;
      return r.expression(e);
    };
    inner.name = [&](const std::string& n, NameUse use) { return hidden(n) ? n : renamed(n, use, r); };
    if (auto* e = std::get_if<Expression>(&s.value)) apply(*e, inner);
    if (auto* u = std::get_if<Units>(&s.value)) apply(*u, inner);
    if (auto* c = std::get_if<Cut>(&s.value)) {
      apply(c->units, inner);
      each(c->into, inner);
    }
  }
  void operator()(TransStatement& s) const {
    apply(s.units, r);
    apply(s.factor, r);
    each(s.axes, r);
    apply(s.at, r);
    each(s.sizes.listed, r);
  }
  void operator()(AlgorithmStatement& s) const { apply(s.units, r); }
  void operator()(AssignStatement& s) const {
    apply(s.units, r);
    each(s.places, r);
  }
  void operator()(OrderStatement& s) const { each(s.chain, r); }
  void operator()(RequireStatement& s) const { apply(s.condition, r); }
  void operator()(ForbidStatement& s) const { std::visit(*this, s.primitive); }
  void operator()(RelaxStatement& s) const {
    apply(s.group, r);
    apply(s.lag, r);
  }
  void operator()(UseStatement& s) const { each(s.arguments, r); }
};

template <class T>
void each(std::vector<T>& values, const Rewrite& r) {
  for (T& v : values) apply(v, r);
}

template <class T>
T copied(T value, const Rewrite& r) {
  apply(value, r);
  return value;
}

Rewrite names_to(const std::map<std::string, Expression>& values) {
  Rewrite r;
  r.expression = [&values](const Expression& e) -> std::optional<Expression> {
    if (e.kind != Expression::Kind::name) return std::nullopt;
    const auto it = values.find(e.text);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  return r;
}
}  // namespace

Expression rewrite(const Expression& e, const Rewrite& r) { return copied(e, r); }
Condition rewrite(const Condition& c, const Rewrite& r) { return copied(c, r); }
Group rewrite(const Group& g, const Rewrite& r) { return copied(g, r); }
Units rewrite(const Units& u, const Rewrite& r) { return copied(u, r); }
Place rewrite(const Place& p, const Rewrite& r) { return copied(p, r); }

Statement rewrite(const Statement& s, const Rewrite& r) {
  Statement out = s;
  std::visit(BodyRewrite{r}, out.body);
  each(out.where, r);
  return out;
}

Expression substitute(const Expression& e, const std::map<std::string, Expression>& v) {
  return copied(e, names_to(v));
}
Condition substitute(const Condition& c, const std::map<std::string, Expression>& v) { return copied(c, names_to(v)); }
Group substitute(const Group& g, const std::map<std::string, Expression>& v) { return copied(g, names_to(v)); }

}  // namespace planscope::plan
