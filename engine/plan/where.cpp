// Conditions. A `where` that speaks of variables of the statement (outside the index of an open value) says for which of
// their values the statement holds. One that speaks of an open value, as written, is a condition on that value: a row for the
// planner while the value is open, an error where a known one breaks it, of every case of the statement's variables.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/context.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"

namespace planscope::plan {

namespace {

bool any_name(const Condition& c, const std::set<std::string>& names) {
  bool found = false;
  for_each(c, [&](const Expression& e) {
    found = found || (e.kind == Expression::Kind::name && names.contains(e.text));
    if (e.kind == Expression::Kind::group && !e.groups[0].path.names.empty())
      found = found || names.contains(e.groups[0].path.names[0].glob);
  });
  return found;
}

void collect(const Expression& e, bool in_index, ConditionNames& out) {
  using K = Expression::Kind;
  const auto add = [&](const std::string& name) { (in_index ? out.in_indices : out.free).insert(name); };
  switch (e.kind) {
    case K::name:
      return add(e.text);
    case K::open:
      for (const Expression& o : e.operands) collect(o, true, out);
      return;
    case K::group:
      return for_each(e.groups[0], [&](const Expression& x) {
        if (x.kind == K::name) add(x.text);
      });
    case K::bars:
    case K::call:
      for (const Expression& o : e.operands)
        if (o.kind != K::name || (e.kind == K::call && e.text != "memory")) collect(o, in_index, out);
      return;
    default:
      for (const Expression& o : e.operands) collect(o, in_index, out);
  }
}

// Whole terms that `=`, `!=` and `in` hold against each other.
std::vector<const Expression*> compared(const Condition& c) {
  std::vector<const Expression*> out;
  const bool same = std::all_of(c.relations.begin(), c.relations.end(), [](Condition::Relation r) {
    return r == Condition::Relation::equal || r == Condition::Relation::different;
  });
  if (c.kind != Condition::Kind::in && (c.kind != Condition::Kind::compare || !same)) return out;
  for (const auto* list : {&c.terms, &c.set})
    for (const Expression& e : *list) out.push_back(&e);
  return out;
}

void collect_words(const Condition& c, std::set<std::string>& out) {
  for (const Condition& p : c.parts) collect_words(p, out);
  const std::vector<const Expression*> terms = compared(c);
  const auto is = [](Expression::Kind kind) { return [kind](const Expression* e) { return e->kind == kind; }; };
  const bool open = std::any_of(terms.begin(), terms.end(), is(Expression::Kind::open));
  const bool chosen =
      c.kind == Condition::Kind::in && std::all_of(terms.begin(), terms.end(), is(Expression::Kind::name));
  for (const Expression* e : terms)
    if ((open || chosen) && e->kind == Expression::Kind::name) out.insert(e->text);
}

}  // namespace

ConditionNames names_of(const Condition& c) {
  ConditionNames out;
  for (const auto* list : {&c.terms, &c.set})
    for (const Expression& e : *list) collect(e, false, out);
  for (const Condition& p : c.parts) {
    ConditionNames part = names_of(p);
    out.free.merge(part.free);
    out.in_indices.merge(part.in_indices);
  }
  return out;
}

std::set<std::string> open_names(const Plan& plan) {
  std::set<std::string> out;
  const auto open = [&](const Expression& e) {
    return mentions_open(e) || any_name(Condition{Condition::Kind::compare, {e}, {}, {}, {}}, out);
  };
  const auto open_sub = [&](const Sub& s) {
    return s.alternatives.size() > 1 || std::any_of(s.alternatives.begin(), s.alternatives.end(), open);
  };
  const auto take = [&](const std::vector<AxisSub>& axes) {
    for (const AxisSub& a : axes)
      if (open_sub(a.sub)) out.insert(a.axis);
  };
  for (const Statement& s : plan.statements) {
    if (const auto* d = std::get_if<DevicesStatement>(&s.body)) {
      take(d->axes);
      if (open(d->count)) out.insert("all");
    } else if (const auto* g = std::get_if<GridStatement>(&s.body)) {
      take(g->axes);
    } else if (const auto* a = std::get_if<AxisStatement>(&s.body)) {
      take({{a->name, a->size}});
    } else if (const auto* let = std::get_if<LetStatement>(&s.body)) {
      const auto* e = std::get_if<Expression>(&let->value);
      const auto* cut = std::get_if<Cut>(&let->value);
      if ((e && open(*e)) || (cut && std::any_of(cut->into.begin(), cut->into.end(), open))) out.insert(let->name);
    }
  }
  return out;
}

namespace {
// Open values that a statement speaks of, without their indices.
std::set<std::string> open_values_of(const Statement& s) {
  std::set<std::string> out;
  const auto places = [&](const Place& p) {
    if (p.form == Place::Form::open) out.insert(p.name);
  };
  rewrite(s, Rewrite{[&](const Expression& e) -> std::optional<Expression> {
                       if (e.kind == Expression::Kind::open) out.insert(e.text);
                       return std::nullopt;
                     },
                     [&](const std::string& name, NameUse use) {
                       if (use == NameUse::word && name.starts_with("?")) out.insert(name.substr(1));
                       return name;
                     }});
  if (const auto* a = std::get_if<AssignStatement>(&s.body)) std::for_each(a->places.begin(), a->places.end(), places);
  if (const auto* g = std::get_if<GridStatement>(&s.body)) places(g->place);
  if (const auto* f = std::get_if<ForbidStatement>(&s.body))
    if (const auto* a = std::get_if<AssignStatement>(&f->primitive))
      std::for_each(a->places.begin(), a->places.end(), places);
  return out;
}
}  // namespace

void report_idle_values(Context& c) {
  std::set<std::string> used;
  const auto row = [](const Statement& s) { return std::holds_alternative<RequireStatement>(s.body); };
  for (const Statement& s : c.written->statements)
    if (!row(s)) used.merge(open_values_of(s));
  for (std::size_t i = 0; i < c.written->statements.size(); ++i) {
    const Statement& s = c.written->statements[i];
    if (!row(s) || s.automatic || s.use > 0) continue;
    for (const std::string& name : open_values_of(s))
      if (!used.contains(name))
        c.report(Severity::warning, static_cast<int>(i),
                 "'?" + name + "' is used by no statement; the row decides nothing.");
  }
}

std::vector<std::string> possible_words(const Decisions& d, std::size_t variable) {
  const std::string word = "?" + d.variables[variable].name;
  std::vector<std::string> out;
  for (const Statement& s : d.plan.statements)
    if (const auto* trans = std::get_if<TransStatement>(&s.body))
      for (const Choice& axes : trans->axes)
        if (out.empty() && axes.words == std::vector<std::string>{word})
          for (const AxisInfo& a : d.axes) out.push_back(a.name);
  for (const Alternatives& a : d.alternatives)
    if (a.variable == static_cast<int>(variable))
      for (const std::string& w : a.words)
        if (std::find(out.begin(), out.end(), w) == out.end()) out.push_back(w);
  return out;
}

namespace {
// Words that a condition compares with open values and that none of these can be. A value without possible words is left out.
void collect_impossible_words(const Condition& c, const Decisions& d, std::map<std::string, std::vector<std::string>>& out) {
  for (const Condition& p : c.parts) collect_impossible_words(p, d, out);
  const std::vector<const Expression*> terms = compared(c);
  std::vector<std::string> known;
  for (const Expression* e : terms) {
    if (e->kind != Expression::Kind::open) continue;
    const auto v = std::find_if(d.variables.begin(), d.variables.end(), [&](const OpenVariable& o) { return o.name == e->text; });
    if (v == d.variables.end()) return;
    const std::vector<std::string> words = possible_words(d, static_cast<std::size_t>(v - d.variables.begin()));
    if (words.empty()) return;
    known.insert(known.end(), words.begin(), words.end());
  }
  if (known.empty()) return;
  for (const Expression* e : terms)
    if (e->kind == Expression::Kind::name && std::find(known.begin(), known.end(), e->text) == known.end())
      out.emplace(e->text, known);
}
}  // namespace

void report_impossible_words(Context& c) {
  std::map<int, std::map<std::string, std::vector<std::string>>> by_statement;
  for (const ConditionRow& row : c.decisions.conditions)
    collect_impossible_words(row.condition, c.decisions, by_statement[row.statement]);
  for (const auto& [statement, words] : by_statement)
    for (const auto& [word, known] : words) {
      const std::string near = nearest(word, known);
      c.report(Severity::warning, statement,
               "'" + word + "' is no value that it can take; there are " + join(known, ", ") + "." +
                   (near.empty() ? "" : " Did you mean '" + near + "'?"));
    }
}

// --- of the current statement

const Statement& Context::as_written() const {
  return written ? written->statements[static_cast<std::size_t>(statement)] : current();
}

bool Context::speaks_of_open(const Condition& c) const { return mentions_open(c) || any_name(c, opened); }

// Names that stand for themselves: what is compared with an open value (or chosen among names, where the value was
// written in its place), and is neither a let nor a variable.
std::set<std::string> Context::words_of(const Condition& as_written_) const {
  std::set<std::string> out, variables;
  collect_words(as_written_, out);
  const auto exclude = [&](const Condition& c, bool row) {
    const ConditionNames names = names_of(c);
    variables.insert(names.in_indices.begin(), names.in_indices.end());
    if (!row && !speaks_of_open(c)) variables.insert(names.free.begin(), names.free.end());
  };
  exclude(as_written_, true);
  for (const Condition& w : as_written().where) exclude(w, &w == &as_written_);
  std::erase_if(out, [&](const std::string& n) { return variables.contains(n) || lets.contains(n); });
  return out;
}

ConditionNames Context::variables_of(const Condition& as_written_) const {
  ConditionNames out = names_of(as_written_);
  const std::set<std::string> words = words_of(as_written_);
  for (auto* names : {&out.free, &out.in_indices})
    std::erase_if(*names, [&](const std::string& n) { return words.contains(n) || lets.contains(n); });
  return out;
}

// Of a template's line, what is open came with an argument: the condition says when the line counts, as it does of a value.
bool Context::demands(std::size_t k) const {
  if (current().use > 0) return false;
  const Condition& w = as_written().where[k];
  return speaks_of_open(w) && variables_of(w).free.empty();
}

std::optional<std::vector<Condition>> Context::conditions() {
  std::vector<Condition> out;
  for (std::size_t k = 0; k < current().where.size(); ++k) {
    if (demands(k)) continue;
    auto resolved = resolve(current().where[k]);
    if (!resolved) return std::nullopt;
    if (mentions_open(*resolved)) {
      defer();
      return std::nullopt;
    }
    const bool of_words = variables_of(as_written().where[k]).free.empty() && !names_of(*resolved).free.empty();
    if (!of_words)
      out.push_back(folded(*resolved));
    else if (!truth(*resolved).value_or(false))
      refuse("'" + print(current().where[k]) + "' does not hold.");
  }
  return out;
}

void Context::hold_demands(const Bindings& b) {
  if (held_statement_ != statement) demands_held_ = false;
  held_statement_ = statement;
  demands_held_ = demands_held_ || !b.variables.empty();
  for (std::size_t k = 0; k < current().where.size(); ++k)
    if (demands(k) && variables_of(as_written().where[k]).in_indices.empty() == b.variables.empty())
      demand(current().where[k], as_written().where[k], b);
}

bool Context::demands_left() const {
  const bool deferred = !decisions.deferred.empty() && decisions.deferred.back() == statement;
  if ((held_statement_ == statement && demands_held_) || deferred) return false;
  for (std::size_t k = 0; k < current().where.size(); ++k)
    if (demands(k) && !variables_of(as_written().where[k]).in_indices.empty()) return true;
  return false;
}

// What is true of a condition, its words being values like any other; nothing: a name has no value.
std::optional<bool> Context::truth(const Condition& resolved) const {
  std::map<std::string, std::int64_t> codes;
  return evaluate(resolved, [&](const Expression& e) -> Number {
    if (e.kind != Expression::Kind::name) return value_of(e, {}, {});
    const auto code = codes.try_emplace(e.text, INT64_MIN + static_cast<std::int64_t>(codes.size())).first->second;
    return Number{code, std::nullopt};
  });
}

void Context::demand(const Condition& valued, const Condition& written_, const Bindings& b,
                     const std::vector<Condition>& unless) {
  const Condition here = substitute(valued, b.expressions());
  const auto condition = resolve(here);
  if (!condition) return;
  const ConditionNames names = names_of(*condition);
  const bool open = speaks_of_open(written_);
  for (const std::string& n : names.free) {
    const std::set<std::string> words = words_of(written_);
    const bool value = std::any_of(open_values.begin(), open_values.end(), [&](const auto& v) {
      const auto* word = std::get_if<std::string>(&v.second);
      return word && *word == n;
    });
    if (!words.contains(n) && !(open && (value || grid(n) >= 0))) return refuse("'" + n + "' has no value here.");
  }
  if (mentions_open(*condition)) {
    if (unless.empty()) return add_condition_row(*this, *condition);
    Condition all{Condition::Kind::either, {}, {}, {}, {}};
    for (const Condition& u : unless) all.parts.push_back({Condition::Kind::negation, {}, {}, {}, {u}});
    all.parts.push_back(*condition);
    return add_condition_row(*this, all);
  }
  const auto holds = truth(*condition);
  if (!holds) {
    for (const Expression& e : condition->terms)
      if (!number(e)) return;
    return refuse("'" + print(here) + "' has no value.");
  }
  if (!*holds) report(Severity::error, statement, failure(here, *condition), {current().line});
}

namespace {
std::string with_value(const Expression& written, std::int64_t value) {
  const std::string text = print(written);
  return written.kind == Expression::Kind::number ? text : text + "=" + std::to_string(value);
}
}  // namespace

// Why a condition on known values does not hold: `written` with its names, `resolved` with its numbers.
std::string Context::failure(const Condition& written_, const Condition& resolved) {
  const std::string plain = "'" + print(written_) + "' does not hold";
  if (resolved.kind != Condition::Kind::compare || resolved.relations.size() != 1) return plain + ".";
  const Expression &a = written_.terms[0], &b = written_.terms[1];
  const auto known = [](const Expression& e) -> std::optional<std::int64_t> {
    const Number n = value_of(e, {}, {});
    return n.ok() ? std::optional(n.value) : std::nullopt;
  };
  const bool zero = b.kind == Expression::Kind::number && b.number == 0;
  if (a.kind == Expression::Kind::modulo && zero && resolved.relations[0] == Condition::Relation::equal &&
      resolved.terms[0].operands.size() == 2) {
    const auto x = known(resolved.terms[0].operands[0]), y = known(resolved.terms[0].operands[1]);
    if (x && y) return with_value(a.operands[0], *x) + " is not a multiple of " + with_value(a.operands[1], *y) + ".";
  }
  const auto x = known(resolved.terms[0]), y = known(resolved.terms[1]);
  if (!x || !y) return plain + ".";
  return plain + ": " + std::to_string(*x) + " " + std::string(to_string(resolved.relations[0])) + " " +
         std::to_string(*y) + ".";
}

}  // namespace planscope::plan
