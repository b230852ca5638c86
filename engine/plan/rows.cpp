// require, forbid, and the open values of a plan.
#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/context.h"
#include "engine/plan/order.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"
#include "engine/plan/trans.h"

namespace planscope::plan {

namespace {
using Relation = Condition::Relation;

const Expression* memory_call(const Expression& e) {
  return e.kind == Expression::Kind::call && e.text == "memory" ? &e : nullptr;
}

bool mentions_memory(const Condition& c) {
  bool found = false;
  for_each(c, [&](const Expression& e) { found = found || memory_call(e); });
  return found;
}

// The place that the arguments of memory(…) name.
std::optional<PlaceInfo> memory_place(Context& c, const Expression& call) {
  Place p;
  for (const Expression& a : call.operands) {
    if (a.kind == Expression::Kind::setting) {
      p.axes.push_back({a.text, Sub{{a.operands[0]}, {}}});
    } else if (a.kind == Expression::Kind::name && call.operands.size() == 1) {
      p.form = Place::Form::name;
      p.name = a.text;
    } else if (a.kind == Expression::Kind::group && call.operands.size() == 1 &&
               a.groups[0].form == Group::Form::path && a.groups[0].path.names.size() == 1 &&
               a.groups[0].path.names[0].brackets.size() == 1 && a.groups[0].path.names[0].brackets[0][0].begin) {
      p.form = Place::Form::name;
      p.name = a.groups[0].path.names[0].glob;
      p.subscript.push_back(*a.groups[0].path.names[0].brackets[0][0].begin);
    } else {
      c.refuse("memory(…) names a grid or axes of one: memory(all), memory(pipe=0).");
      return std::nullopt;
    }
  }
  if (call.operands.empty()) {
    c.refuse("memory(…) names a grid or axes of one: memory(all), memory(pipe=0).");
    return std::nullopt;
  }
  return c.place(p);
}

void bind_memory(Context& c, const Condition& condition) {
  const bool plain = condition.kind == Condition::Kind::compare && condition.relations.size() == 1;
  const Expression* left = plain ? memory_call(condition.terms[0]) : nullptr;
  const Expression* right = plain ? memory_call(condition.terms[1]) : nullptr;
  const Relation relation = plain ? condition.relations[0] : Relation::equal;
  const bool upper = (left && (relation == Relation::at_most || relation == Relation::less)) ||
                     (right && (relation == Relation::at_least || relation == Relation::greater));
  if (!upper || (left && right)) return c.refuse("memory rows have the form 'memory(PLACE) <= SIZE'.");
  const auto place = memory_place(c, left ? *left : *right);
  const auto limit = c.resolve(condition.terms[left ? 1 : 0]);
  if (!place || !limit) return;
  MemoryRow row;
  row.statement = c.statement;
  row.place = c.place_id(*place);
  row.limit = folded(*limit);
  row.strict = relation == Relation::less || relation == Relation::greater;
  const Number n = value_of(row.limit, {}, {});
  if (n.ok()) row.limit_bytes = n.value;
  if (!n.ok() && !mentions_open(*limit)) return c.refuse("'" + print(*limit) + "' has no value here.");
  c.decisions.memory.push_back(std::move(row));
}

std::string with_value(const Expression& written, std::int64_t value) {
  const std::string text = print(written);
  return written.kind == Expression::Kind::number ? text : text + "=" + std::to_string(value);
}

// Why a condition without open values does not hold.
std::string failure(Context& c, const Condition& condition) {
  const auto value = [&](const Expression& e) { return c.number(e); };
  if (condition.kind != Condition::Kind::compare || condition.relations.size() != 1)
    return "'" + print(condition) + "' does not hold.";
  const Expression &a = condition.terms[0], &b = condition.terms[1];
  const bool zero = b.kind == Expression::Kind::number && b.number == 0;
  if (a.kind == Expression::Kind::modulo && zero && condition.relations[0] == Relation::equal) {
    const auto x = value(a.operands[0]), y = value(a.operands[1]);
    if (x && y) return with_value(a.operands[0], *x) + " is not a multiple of " + with_value(a.operands[1], *y) + ".";
  }
  const auto x = value(a), y = value(b);
  if (!x || !y) return "'" + print(condition) + "' does not hold.";
  return "'" + print(condition) + "' does not hold: " + std::to_string(*x) + " " +
         std::string(to_string(condition.relations[0])) + " " + std::to_string(*y) + ".";
}
}  // namespace

void add_condition_row(Context& c, const Condition& condition) {
  const bool words = condition.kind == Condition::Kind::in &&
                     std::any_of(condition.set.begin(), condition.set.end(),
                                 [](const Expression& e) { return e.kind == Expression::Kind::name; });
  if (words) return;  // a domain: OpenVariable::words
  ConditionRow row{c.statement, folded(condition)};
  auto& rows = c.decisions.conditions;
  if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(std::move(row));
}

namespace {
// `out in {out,in}`: what `?dim in {out,in}` is once `?dim` has a value.
bool chooses_word(const Condition& c) {
  const auto is_name = [](const Expression& e) { return e.kind == Expression::Kind::name; };
  return c.kind == Condition::Kind::in && is_name(c.terms[0]) && std::all_of(c.set.begin(), c.set.end(), is_name);
}
}  // namespace

namespace {
void require_one(Context& c, const Condition& written) {
  const auto condition = c.resolve(written);
  if (!condition) return;
  std::vector<std::string> names;
  collect_variables(*condition, names);
  const bool open = mentions_open(*condition);
  if (open && condition->kind == Condition::Kind::in) names.clear();  // words of a set
  if (!names.empty()) return c.refuse("'" + names[0] + "' has no value here.");
  if (open) return add_condition_row(c, *condition);
  const auto holds = evaluate(*condition, [](const Expression& e) { return value_of(e, {}, {}); });
  if (!holds) {
    for (const Expression& e : condition->terms)
      if (!c.number(e)) return;
    return c.refuse("'" + print(written) + "' has no value.");
  }
  if (!*holds) c.refuse(failure(c, written));
}

// The uses of `?x[…]` in a condition, and the names in their indices.
struct Indexed {
  std::vector<Expression> uses;
  std::vector<std::string> variables;
};
Indexed indexed_values(Context& c, const Condition& condition) {
  Indexed out;
  for_each(condition, [&](const Expression& e) {
    if (e.kind != Expression::Kind::open || e.operands.empty()) return;
    out.uses.push_back(e);
    collect_variables(e.operands[0], out.variables);
  });
  std::erase_if(out.variables, [&](const std::string& n) { return c.lets.count(n) > 0; });
  return out;
}

// `require ?x[i] != ?x[j] where i != j`: for every i and j for which a line above uses `?x[…]`.
void require_family(Context& c, const Condition& condition, const Indexed& indexed) {
  Problem p;
  p.variables = indexed.variables;
  p.families.emplace_back();
  p.least = 1;
  p.limit = 20'000;
  for (const Expression& e : indexed.uses) {
    const auto family = c.families.find(e.text);
    if (family == c.families.end() && !c.decisions.deferred.empty())
      return c.defer();  // a line above waits for a value
    if (family == c.families.end())
      return c.refuse("'" + print(e) + "' is used by no line above; the row speaks of nothing.");
    const auto index = c.resolve(e.operands[0]);
    if (!index) return;
    p.families[0].push_back({*index, *family->second.rbegin() + 1});
  }
  auto where = c.conditions();
  if (!where) return;
  p.conditions = std::move(*where);
  for (const Condition& w : p.conditions) collect_variables(w, p.variables);
  const Enumeration e = enumerate(p, [&](const std::vector<std::int64_t>& values) {
    const Bindings b{p.variables, values};
    for (const Expression& use : indexed.uses) {
      const auto i = c.number(use.operands[0], b);
      if (!i || !c.families[use.text].count(*i)) return true;
    }
    require_one(c, substitute(condition, b.expressions()));
    return true;
  });
  if (e != Enumeration::done) c.refuse("the row holds for too many values of its variables.");
}
}  // namespace

// `?D[0] = G[0]`, or `front = front`: what `?D = front` is once `?D` has its place.
bool gives_place(Context& c, const Condition& condition) {
  if (condition.kind != Condition::Kind::compare || condition.terms.size() != 2) return false;
  const Expression &a = condition.terms[0], &b = condition.terms[1];
  if (a.kind == Expression::Kind::name && a == b && c.grid(a.text) >= 0) return true;
  const auto given = given_value(c.decisions.plan, c.current());
  return given && std::holds_alternative<std::string>(given->second);
}

void bind_require(Context& c, const RequireStatement& s) {
  if (mentions_memory(s.condition)) return bind_memory(c, s.condition);
  if (chooses_word(s.condition)) {
    const auto& set = s.condition.set;
    if (std::find(set.begin(), set.end(), s.condition.terms[0]) == set.end())
      c.refuse("'" + print(s.condition) + "' does not hold.");
    return;
  }
  if (gives_place(c, s.condition)) return;  // bound with it
  const Indexed indexed = indexed_values(c, s.condition);
  if (!indexed.variables.empty()) return require_family(c, s.condition, indexed);
  const auto where = c.conditions();
  if (!where) return;
  for (const Condition& w : *where) {  // on known values: the row counts if it holds
    const auto holds = evaluate(w, [](const Expression& e) { return value_of(e, {}, {}); });
    if (!holds.value_or(true)) return;
  }
  require_one(c, s.condition);
}

// --- forbid -----------------------------------------------------------------------------------------------------------

namespace {
void forbid_trans(Context& c, const TransStatement& s, ForbidRow& row) {
  if (s.at || s.sizes.form != Sizes::Form::equal) return c.unsupported("'forbid' with 'at' or 'sizes'");
  Units units;
  for (const Group& g : s.units.groups) {
    if (g.form == Group::Form::phase)
      return c.unsupported("'forbid trans " + print(g) + "': forbidding a phase's split");
    units.groups.push_back(g);
  }
  units.except = s.units.except;
  std::vector<int> axes;
  for (const Choice& choice : s.axes) {
    if (choice.words.size() > 1 || choice.words[0] == "*") return c.unsupported("'forbid' by a choice of axes");
    const auto named = c.axes_named(choice.words[0]);
    if (!named) return;
    axes.insert(axes.end(), named->begin(), named->end());
  }
  const auto cases = c.cases({&units});
  if (!cases) return;
  bool any = false;
  for (const Bindings& b : *cases) {
    const auto matches = c.select(units, b, !b.variables.empty());
    if (!matches) return;
    for (const Match& m : *matches)
      for (const Unit& u : m.units)
        for (const int op : u.operators) {
          any = true;
          const OperatorInfo& info = c.model.operators[static_cast<std::size_t>(op)];
          if (u.wildcard && info.parameter_free) continue;
          for (const int factor : choose(info.factors, s.factor, {}).factors)
            for (const int axis : axes) row.splits.push_back({op, axis, factor});
        }
  }
  if (row.splits.empty() && any)
    c.remark(Severity::warning, "the line forbids nothing: no operator of the selection has that factor.");
}

// Every unit of a selection, for every value of its variables; `visit` returns false to stop.
template <class F>
void for_units(Context& c, const Units& units, F&& visit) {
  const auto cases = c.cases({&units});
  if (!cases) return;
  for (const Bindings& b : *cases) {
    const auto matches = c.select(units, b, !b.variables.empty());
    if (!matches) return;
    for (const Match& m : *matches)
      for (const Unit& u : m.units)
        if (!visit(u, b)) return;
  }
}

void forbid_algorithm(Context& c, const AlgorithmStatement& s, ForbidRow& row) {
  for_units(c, s.units, [&](const Unit& u, const Bindings&) {
    for (const std::string& w : s.algorithm.words)
      for (const Algorithm a :
           {Algorithm::keep, Algorithm::recompute, Algorithm::offload, Algorithm::keep_gathered, Algorithm::grad_split})
        if (to_string(a) == w) row.algorithms.push_back({c.unit_id(u), a});
    return true;
  });
}

void forbid_assign(Context& c, const AssignStatement& s, ForbidRow& row) {
  for_units(c, s.units, [&](const Unit& u, const Bindings& b) {
    for (const Place& p : s.places) {
      const auto place = c.place(p, b);
      if (!place) return false;
      const int id = c.place_id(*place);
      for (const int op : u.operators) row.places.push_back({op, id});
    }
    return true;
  });
}
}  // namespace

void bind_forbid(Context& c, const ForbidStatement& s) {
  if (const auto* order = std::get_if<OrderStatement>(&s.primitive)) return forbid_order(c, *order);
  ForbidRow row;
  row.statement = c.statement;
  if (const auto* t = std::get_if<TransStatement>(&s.primitive)) forbid_trans(c, *t, row);
  if (const auto* a = std::get_if<AlgorithmStatement>(&s.primitive)) forbid_algorithm(c, *a, row);
  if (const auto* a = std::get_if<AssignStatement>(&s.primitive)) forbid_assign(c, *a, row);
  if (!row.splits.empty() || !row.places.empty() || !row.algorithms.empty())
    c.decisions.forbids.push_back(std::move(row));
}

// --- open values ------------------------------------------------------------------------------------------------------

namespace {
struct OpenNames {
  Decisions& d;
  int statement = 0;

  void mention(const std::string& name) {
    for (OpenVariable& v : d.variables) {
      if (v.name != name) continue;
      if (v.statements.back() != statement) v.statements.push_back(statement);
      return;
    }
    OpenVariable v;
    v.name = name;
    v.statements.push_back(statement);
    d.variables.push_back(std::move(v));
  }
  void mention_all(const Choice& c) {
    for (const std::string& w : c.words)
      if (w[0] == '?') mention(w.substr(1));
  }
  void mention_all(const std::vector<Place>& places) {
    for (const Place& p : places)
      if (p.form == Place::Form::open && p.subscript.empty()) mention(p.name);
  }
  void alternatives(const std::string& axis, const Sub& sub) {
    if (sub.alternatives.size() < 2) return;
    mention(axis);
    for (const Expression& e : sub.alternatives) {
      const Number n = value_of(e, {}, {});
      for (OpenVariable& v : d.variables)
        if (v.name == axis && n.ok()) v.values.push_back(n.value);
    }
  }
};

// Words of `?x in {out, in}`.
void take_words(Decisions& d, const Condition& c) {
  for (const Condition& p : c.parts)
    if (c.kind == Condition::Kind::both) take_words(d, p);
  if (c.kind != Condition::Kind::in || c.terms[0].kind != Expression::Kind::open) return;
  for (OpenVariable& v : d.variables)
    if (v.name == c.terms[0].text)
      for (const Expression& e : c.set)
        if (e.kind == Expression::Kind::name && std::find(v.words.begin(), v.words.end(), e.text) == v.words.end())
          v.words.push_back(e.text);
}
}  // namespace

void collect_variables(Context& c) {
  Decisions& d = c.decisions;
  OpenNames names{d, 0};
  for (int i = 0; i < static_cast<int>(d.plan.statements.size()); ++i) {
    const Statement& s = d.plan.statements[static_cast<std::size_t>(i)];
    names.statement = i;
    const Rewrite visit{[&](const Expression& e) -> std::optional<Expression> {
                          if (e.kind == Expression::Kind::open && e.operands.empty()) names.mention(e.text);
                          return std::nullopt;
                        },
                        [&](const std::string& n, NameUse use) {
                          if (use == NameUse::word && n[0] == '?') names.mention(n.substr(1));
                          return n;
                        }};
    rewrite(s, visit);
    if (const auto* a = std::get_if<AssignStatement>(&s.body)) names.mention_all(a->places);
    if (const auto* a = std::get_if<AxisStatement>(&s.body)) names.alternatives(a->name, a->size);
    if (const auto* v = std::get_if<DevicesStatement>(&s.body))
      for (const AxisSub& a : v->axes) names.alternatives(a.axis, a.sub);
    if (const auto* g = std::get_if<GridStatement>(&s.body))
      for (const AxisSub& a : g->axes) names.alternatives(a.axis, a.sub);
    for (const Condition& w : s.where) take_words(d, w);
    if (const auto* r = std::get_if<RequireStatement>(&s.body)) take_words(d, r->condition);
  }
}

}  // namespace planscope::plan
