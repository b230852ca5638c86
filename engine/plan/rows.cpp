// require, forbid, and the open values of a plan.
#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/assign.h"
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

}  // namespace

void add_condition_row(Context& c, const Condition& condition) {
  ConditionRow row{c.statement, folded(condition)};
  auto& rows = c.decisions.conditions;
  if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(std::move(row));
}

namespace {
// The bounds that a row's own words give its variables: indices for which a line above uses `?x[…]`, units of `S[i]`,
// coordinates of `memory(pipe=i)`. False: refused or deferred.
class RowBounds {
 public:
  RowBounds(Context& c, const Condition& condition) : c_(c), condition_(condition) { p_.families.emplace_back(); }

  std::optional<Problem> take(const ConditionNames& names) {
    for (const auto* list : {&names.free, &names.in_indices})
      p_.variables.insert(p_.variables.end(), list->begin(), list->end());
    std::sort(p_.variables.begin(), p_.variables.end());
    p_.variables.erase(std::unique(p_.variables.begin(), p_.variables.end()), p_.variables.end());
    for_each(condition_, [&](const Expression& e) { ok_ = ok_ && look_at(e); });
    return ok_ ? std::optional(std::move(p_)) : std::nullopt;
  }

  // Whether a line above uses every `?x[…]` at these indices.
  bool used(const Bindings& b) {
    return std::all_of(uses_.begin(), uses_.end(), [&](const Expression& use) {
      const auto i = c_.number(use.operands[0], b);
      return i && c_.families[use.text].contains(*i);
    });
  }

 private:
  bool mentions_variable(const Expression& e) const {
    std::vector<std::string> names;
    collect_variables(e, names);
    return std::any_of(names.begin(), names.end(), [&](const std::string& n) {
      return std::binary_search(p_.variables.begin(), p_.variables.end(), n);
    });
  }

  bool look_at(const Expression& e) {
    if (e.kind == Expression::Kind::open && !e.operands.empty() && mentions_variable(e.operands[0]))
      return open_value(e);
    if (e.kind == Expression::Kind::group) return c_.collect(e.groups[0], p_);
    if (const Expression* call = memory_call(e))
      for (const Expression& a : call->operands)
        if (a.kind == Expression::Kind::setting && mentions_variable(a.operands[0])) coordinate(a);
    return true;
  }

  bool open_value(const Expression& e) {
    const auto family = c_.families.find(e.text);
    if (family == c_.families.end() && !c_.decisions.deferred.empty()) {  // a line above waits for a value
      c_.defer();
      return false;
    }
    if (family == c_.families.end()) {
      c_.refuse("'" + print(e) + "' is used by no line above; the row speaks of nothing.");
      return false;
    }
    const auto index = c_.resolve(e.operands[0]);
    if (!index) return false;
    uses_.push_back(e);
    p_.families[0].push_back({*index, *family->second.rbegin() + 1});
    return true;
  }

  void coordinate(const Expression& setting) {
    std::int64_t size = 0;
    for (const GridInfo& g : c_.decisions.grids)
      for (const GridAxis& a : g.axes)
        if (c_.decisions.axes[static_cast<std::size_t>(a.axis)].name == setting.text) size = std::max(size, a.size);
    if (size > 0) p_.families[0].push_back({setting.operands[0], size});
  }

  Context& c_;
  const Condition& condition_;
  Problem p_;
  std::vector<Expression> uses_;
  bool ok_ = true;
};

// What `where` demands of open values, in one case: what is still open; nothing: it does not hold, the row does not count.
std::optional<std::vector<Condition>> open_guards(Context& c, const Bindings& b) {
  std::vector<Condition> out;
  for (std::size_t k = 0; k < c.current().where.size(); ++k) {
    if (!c.demands(k)) continue;
    const auto guard = c.resolve(substitute(c.current().where[k], b.expressions()));
    if (!guard) return std::nullopt;
    if (mentions_open(*guard))
      out.push_back(*guard);
    else if (!c.truth(*guard).value_or(true))
      return std::nullopt;
  }
  return out;
}
}  // namespace

// A row holds for every value of its variables for which what it names exists.
void bind_require(Context& c, const RequireStatement& s) {
  const Condition& written = std::get<RequireStatement>(c.as_written().body).condition;
  const ConditionNames names = c.variables_of(written);
  RowBounds bounds(c, s.condition);
  auto problem = bounds.take(names);
  if (!problem) return;
  const std::set<std::string> elsewhere = [&] {
    std::set<std::string> out;
    for (const Condition& w : c.as_written().where) out.merge(c.variables_of(w).free);
    return out;
  }();
  if (problem->families[0].empty())
    for (const std::string& n : problem->variables)
      if (!elsewhere.contains(n)) {
        if (mentions_memory(s.condition) || c.resolve(s.condition))  // else what is wrong with it has been told
          c.refuse("'" + n + "' has no value here.");
        return;
      }
  const auto cases = c.combinations(std::move(*problem));
  if (!cases) return;
  for (const Bindings& b : *cases) {
    if (!bounds.used(b)) continue;
    const auto guards = open_guards(c, b);
    if (!guards) continue;
    if (!mentions_memory(s.condition))
      c.demand(s.condition, written, b, *guards);
    else if (guards->empty())
      bind_memory(c, substitute(s.condition, b.expressions()));
    else
      c.defer();
  }
}

// --- forbid -----------------------------------------------------------------------------------------------------------

namespace {
std::optional<std::vector<int>> forbidden_axes(Context& c, const TransStatement& s) {
  std::vector<int> axes;
  for (const Choice& choice : s.axes) {
    if (choice.words.size() > 1 || choice.words[0] == "*") {
      c.unsupported("'forbid' by a choice of axes");
      return std::nullopt;
    }
    const auto named = c.axes_named(choice.words[0]);
    if (!named) return std::nullopt;
    axes.insert(axes.end(), named->begin(), named->end());
  }
  return axes;
}

// Operators, or parameters that they read; of operators that `*` names, not those that no parameter reaches.
std::vector<std::pair<int, const std::vector<FactorInfo>*>> rows_of(Context& c, Phase phase,
                                                                    const std::vector<Match>& matches) {
  std::vector<std::pair<int, const std::vector<FactorInfo>*>> out;
  if (phase != Phase::forward) {
    for (const int p : c.parameters_of(matches))
      out.emplace_back(p, &c.model.parameters[static_cast<std::size_t>(p)].factors);
    return out;
  }
  for (const Match& m : matches)
    for (const Unit& u : m.units)
      for (const int op : u.operators) {
        const OperatorInfo& info = c.model.operators[static_cast<std::size_t>(op)];
        if (!u.wildcard || !info.parameter_free) out.emplace_back(op, &c.factors(op));
      }
  return out;
}

void forbid_trans(Context& c, const TransStatement& s, ForbidRow& row) {
  if (s.at || s.sizes.form != Sizes::Form::equal) return c.unsupported("'forbid' with 'at' or 'sizes'");
  const auto phases = units_by_phase(c, s.units);
  if (!phases) return;
  const auto axes = forbidden_axes(c, s);
  if (!axes) return;
  const bool operators = phases->contains(Phase::forward);
  if (phases->size() > (operators ? 1 : 0) && !split_parameters(c, *axes)) return;
  const auto cases = c.cases({&s.units});
  if (!cases) return;
  bool any = false;
  FactorChoices choices(s.factor, {});
  for (const Bindings& b : *cases)
    for (const auto& [phase, units] : *phases) {
      const auto matches = c.select(units, b, !b.variables.empty());
      if (!matches) return;
      for (const auto& [index, factors] : rows_of(c, phase, *matches)) {
        any = true;
        for (const int factor : choices.of(*factors).factors)
          for (const int axis : *axes) row.splits.push_back({index, axis, factor, phase});
      }
    }
  if (row.splits.empty() && any)
    c.remark(Severity::warning, "the line forbids nothing: no " + std::string(operators ? "operator" : "parameter") +
                                    " of the selection has that " + (operators ? "factor." : "dimension."));
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
  if (speaks_of_updates(s))
    return for_states(c, s, [&](Algorithm algorithm, const Group&, const std::vector<Match>& matches) {
      for (const int p : c.parameters_of(matches)) row.states.push_back({p, algorithm});
    });
  for_units(c, s.units, [&](const Unit& u, const Bindings&) {
    for (const std::string& w : s.algorithm.words)
      if (const auto a = algorithm_of(w)) row.algorithms.push_back({c.unit_id(u), *a});
    return true;
  });
}

void forbid_assign(Context& c, const AssignStatement& s, ForbidRow& row) {
  for (const Group& g : s.units.groups)
    for_units(c, Units{{g}, s.units.except}, [&](const Unit& u, const Bindings& b) {
      const auto indices = named_indices(c, g, b);
      if (!indices) return false;
      for (const Place& p : s.places) {
        const auto place = c.place(p, b);
        if (!place) return false;
        for (const PlaceInfo& one : place->alternatives.empty() ? std::vector{*place} : place->alternatives) {
          const int id = c.place_id(one);
          for (const int op : u.operators) row.places.push_back({op, id, *indices});
        }
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
  if (!row.splits.empty() || !row.places.empty() || !row.algorithms.empty() || !row.states.empty())
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

// Words of `?x in {out, in}` and `?x = out`.
void take_words(Decisions& d, const Condition& c, const std::set<std::string>& lets) {
  for (const Condition& p : c.parts)
    if (c.kind == Condition::Kind::both) take_words(d, p, lets);
  const bool equal = c.kind == Condition::Kind::compare && c.relations.size() == 1 && c.relations[0] == Relation::equal;
  if (c.kind != Condition::Kind::in && !equal) return;
  const auto take = [&](const Expression& open, const Expression& word) {
    if (open.kind != Expression::Kind::open || !open.operands.empty()) return;
    if (word.kind != Expression::Kind::name || lets.contains(word.text)) return;
    for (OpenVariable& v : d.variables)
      if (v.name == open.text && std::find(v.words.begin(), v.words.end(), word.text) == v.words.end())
        v.words.push_back(word.text);
  };
  for (const Expression& e : c.set) take(c.terms[0], e);
  if (equal) take(c.terms[0], c.terms[1]), take(c.terms[1], c.terms[0]);
}
}  // namespace

void collect_variables(Context& c) {
  Decisions& d = c.decisions;
  OpenNames names{d, 0};
  std::set<std::string> lets;
  for (const Statement& s : d.plan.statements)
    if (const auto* let = std::get_if<LetStatement>(&s.body)) lets.insert(let->name);
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
    for (const Condition& w : s.where) take_words(d, w, lets);
    if (const auto* r = std::get_if<RequireStatement>(&s.body)) take_words(d, r->condition, lets);
  }
}

}  // namespace planscope::plan
