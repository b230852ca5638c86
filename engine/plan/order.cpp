#include "engine/plan/order.h"

#include <algorithm>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"

namespace planscope::plan {

namespace {
using Values = std::map<std::string, Expression>;

template <class T>
bool contains(const std::vector<T>& list, const T& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// One member of a chain, as written, with functions called and expressions resolved.
struct Member {
  Phase phase = Phase::forward, of = Phase::forward;
  Units units;                     // what stands in the parentheses
  UnitList* list = nullptr;        // `S[expr]` and nothing more: the list and
  std::optional<Expression> unit;  // its index
  std::vector<TaskFamily::AxisIndex> index;
  std::optional<Expression> step;
};

class OrderBinder {
 public:
  OrderBinder(Context& c, const OrderStatement& s) : c_(c), s_(s) {}

  void run() {
    for (const Group& g : s_.chain) {
      auto m = member(g);
      if (!m) return;
      members_.push_back(std::move(*m));
    }
    auto where = c_.conditions();
    if (!where) return;
    conditions_ = std::move(*where);
    if (!settle_steps() || !classify()) return;
    expand();
  }

 private:
  std::optional<Member> member(const Group& g) {
    if (g.form == Group::Form::call) {
      const auto body = c_.call_group(g);
      return body ? member(*body) : std::nullopt;
    }
    if (g.form == Group::Form::path) {
      c_.refuse("'" + print(g) + "' names operators, not tasks; write f(" + print(g) + ") or b(" + print(g) + ").");
      return std::nullopt;
    }
    Member m;
    m.phase = g.phase;
    if (g.phase == Phase::fetch || g.phase == Phase::load || g.phase == Phase::store) return around(g);
    if (of_parameters(g.phase) &&
        std::any_of(g.index.begin(), g.index.end(), [](const TaskIndex& t) { return t.axis != kStepAxis; })) {
      c_.refuse("'" + print(g) + "': " + std::string(to_string(g.phase)) +
                " tasks run once a step; they have no index.");
      return std::nullopt;
    }
    m.units = g.units;
    for (const Group& inner : g.units.groups)
      if (inner.form == Group::Form::phase || !inner.index.empty()) {
        c_.refuse("'" + print(g) + "': operators are wanted inside " + std::string(to_string(g.phase)) + "(…).");
        return std::nullopt;
      }
    if (!simple_list(m) || !indices(g, m)) return std::nullopt;
    return m;
  }

  // `fetch(f(X))[m]`, `load(b(X))[m]`, `store(f(X))[m]`: what stands around the work of X. Without f or b it is the usual
  // one: parameters are fetched for f, what was offloaded is stored after f and loaded for b. `load(update(X))` and
  // `store(update(X))` move the state of the optimizer.
  std::optional<Member> around(const Group& g) {
    const auto& inner = g.units.groups;
    const bool nested =
        inner.size() == 1 && inner[0].form == Group::Form::phase && inner[0].index.empty() && g.units.except.empty();
    Group work = nested ? inner[0] : g;
    work.index = g.index;
    const Phase usual = g.phase == Phase::load ? Phase::backward : Phase::forward;
    if (!nested) work.phase = usual;
    const bool fits = work.phase == usual || (g.phase == Phase::fetch && work.phase == Phase::backward) ||
                      (g.phase != Phase::fetch && work.phase == Phase::update);
    if (!fits) {
      c_.refuse("'" + print(g) + "' does not exist: there are " +
                (g.phase == Phase::fetch  ? "fetch(f(X)) and fetch(b(X))."
                 : g.phase == Phase::load ? "load(b(X)) and load(update(X))."
                                          : "store(f(X)) and store(update(X))."));
      return std::nullopt;
    }
    auto m = member(work);
    if (!m) return std::nullopt;
    m->of = m->phase;
    m->phase = g.phase;
    return m;
  }

  // Recognizes `S[expr]`, the only selection whose unit may depend on the index of a free axis.
  bool simple_list(Member& m) {
    if (m.units.groups.size() != 1 || !m.units.except.empty()) return true;
    const Group& g = m.units.groups[0];
    const Path& p = g.path;
    if (g.form != Group::Form::path || p.names.size() != 1 || p.call || !p.kind.empty() || p.ordinal) return true;
    const auto let = c_.lets.find(p.names[0].glob);
    const auto& brackets = p.names[0].brackets;
    if (let == c_.lets.end() || let->second.kind != LetValue::Kind::units || brackets.size() != 1) return true;
    if (let->second.list.open_count) {
      c_.defer();
      return false;
    }
    if (brackets[0].size() != 1 || brackets[0][0].kind != Index::Kind::one) return true;
    m.unit = c_.resolve(*brackets[0][0].begin);
    m.list = &let->second.list;
    return m.unit.has_value();
  }

  bool indices(const Group& g, Member& m) {
    std::size_t next = 0;
    for (const TaskIndex& t : g.index) {
      if (t.axis == kStepAxis) {
        if (!step(g, t.index, m)) return false;
        continue;
      }
      const auto axis = c_.index_axis(g, t, next);
      if (!axis) return false;
      if (t.index.kind == Index::Kind::all) continue;
      if (t.index.kind == Index::Kind::range) {
        if (!range(g, t.index, *axis, m)) return false;
        continue;
      }
      auto e = c_.resolve(*t.index.begin);
      if (!e) return false;
      m.index.push_back({*axis, folded(*e)});
    }
    return true;
  }

  // Steps have no end, so a row speaks of all of them: every task says by how many it is away from the row's variable.
  bool step(const Group& g, const Index& i, Member& m) {
    if (i.kind != Index::Kind::one || m.step) {
      c_.refuse("'" + print(g) + "': a task belongs to one step, as in [step=t].");
      return false;
    }
    m.step = c_.resolve(*i.begin);
    if (!m.step) return false;
    if (mentions_open(*m.step)) c_.defer();
    return !mentions_open(*m.step);
  }

  // The variable that counts steps, in every task's `step` with the factor 1 and nowhere else; it becomes 0.
  bool settle_steps() {
    const auto with = static_cast<std::size_t>(
        std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.step.has_value(); }));
    if (with == 0) return true;
    std::vector<std::string> elsewhere, counting;
    for (const Condition& c : conditions_) collect_variables(c, elsewhere);
    for (const Member& m : members_) {
      if (m.unit) collect_variables(*m.unit, elsewhere);
      for (const auto& i : m.index) {
        collect_variables(i.index, elsewhere);
        if (i.end) collect_variables(*i.end, elsewhere);
      }
      for_each(m.units, [&](const Expression& e) { collect_variables(e, elsewhere); });
      if (m.step) collect_variables(*m.step, counting);
    }
    counting.erase(std::remove_if(counting.begin(), counting.end(),
                                  [&](const std::string& name) { return contains(elsewhere, name); }),
                   counting.end());
    const bool each = with == members_.size() && counting.size() == 1 &&
                      std::all_of(members_.begin(), members_.end(),
                                  [&](const Member& m) { return counts_by_one(*m.step, counting[0]); });
    if (!each) {
      c_.refuse("a row over steps holds for every step t: each of its tasks says which, as [step=t], [step=t+1], …");
      return false;
    }
    for (Member& m : members_) m.step = folded(substitute(*m.step, {{counting[0], make_number(0)}}));
    return true;
  }

  // Whether an expression is `name` plus what does not depend on it.
  static bool counts_by_one(const Expression& e, const std::string& name) {
    std::vector<std::string> used;
    collect_variables(e, used);
    if (!contains(used, name)) return false;
    if (e.kind == Expression::Kind::name) return true;
    if (e.kind != Expression::Kind::add && e.kind != Expression::Kind::subtract) return false;
    std::vector<std::string> right;
    collect_variables(e.operands[1], right);
    if (!contains(right, name)) return counts_by_one(e.operands[0], name);
    std::vector<std::string> left;
    collect_variables(e.operands[0], left);
    return e.kind == Expression::Kind::add && !contains(left, name) && counts_by_one(e.operands[1], name);
  }

  bool range(const Group& g, const Index& i, int axis, Member& m) {
    const AxisInfo& info = c_.decisions.axes[static_cast<std::size_t>(axis)];
    if (i.step) {
      c_.refuse("'" + print(g) + "': a range of tasks has no step.");
      return false;
    }
    auto begin = c_.resolve(i.begin ? *i.begin : make_number(0));
    auto end = i.end ? c_.resolve(*i.end) : std::optional(info.open_size ? *info.open_size : make_number(info.size));
    if (!begin || !end) return false;
    if (mentions_open(*end)) {
      c_.defer();
      return false;
    }
    m.index.push_back({axis, folded(*begin), folded(*end)});
    return true;
  }

  // Which variables are expanded here: those that count units, and those defined by them.
  bool classify() {
    std::vector<std::string> in_units, in_index, alone;
    for (const Member& m : members_) {
      if (m.unit) {
        collect_variables(*m.unit, in_units);
        if (m.unit->kind == Expression::Kind::name) collect_variables(*m.unit, alone);
      } else {
        for_each(m.units, [&](const Expression& e) {
          if (e.kind != Expression::Kind::name || c_.lets.count(e.text)) return;
          collect_variables(e, in_units);
          collect_variables(e, alone);
        });
      }
      for (const auto& i : m.index) {
        collect_variables(i.index, in_index);
        if (i.end) collect_variables(*i.end, in_index);
      }
      if (m.step) collect_variables(*m.step, in_index);
    }
    for (const std::string& name : in_units)
      if (contains(alone, name) || !contains(in_index, name)) expanded_.push_back(name);
    std::vector<std::string> all = in_units;
    for (const std::string& name : in_index) collect_variables(make_name(name), all);
    for (const Condition& c : conditions_) collect_variables(c, all);
    add_defined();
    for (const std::string& name : all)
      if (!contains(expanded_, name)) kept_.push_back(name);
    for (const std::string& name : kept_) {
      if (contains(in_index, name) || contains(in_units, name)) continue;
      c_.refuse("'" + name + "' is in no index of the row.");
      return false;
    }
    return true;
  }

  // `n = expr` over expanded variables alone makes n one of them.
  void add_defined() {
    for (bool again = true; again;) {
      again = false;
      for (const Condition& c : conditions_) {
        if (c.kind != Condition::Kind::compare || c.relations.size() != 1 ||
            c.relations[0] != Condition::Relation::equal)
          continue;
        for (const std::size_t side : {0u, 1u}) {
          const Expression& name = c.terms[side];
          if (name.kind != Expression::Kind::name || contains(expanded_, name.text)) continue;
          std::vector<std::string> used;
          collect_variables(c.terms[1 - side], used);
          if (!std::all_of(used.begin(), used.end(), [&](const auto& u) { return contains(expanded_, u); })) continue;
          expanded_.push_back(name.text);
          again = true;
        }
      }
    }
  }

  bool only_expanded(const std::vector<std::string>& used) const {
    return std::all_of(used.begin(), used.end(), [&](const std::string& u) { return contains(expanded_, u); });
  }

  void expand() {
    c_.suppressed.clear();
    Problem p;
    p.variables = expanded_;
    std::sort(p.variables.begin(), p.variables.end());
    p.least = std::min<std::size_t>(2, members_.size());
    p.limit = 100'000;
    for (const Condition& c : conditions_) {
      std::vector<std::string> used;
      collect_variables(c, used);
      if (only_expanded(used))
        p.conditions.push_back(c);
      else
        remaining_.push_back(c);
    }
    for (const Member& m : members_) {
      p.families.emplace_back();
      if (!m.unit) continue;
      std::vector<std::string> used;
      collect_variables(*m.unit, used);
      if (only_expanded(used)) p.families.back().push_back({*m.unit, static_cast<std::int64_t>(m.list->units.size())});
    }
    if (!p.variables.empty() && !bounded(p)) return;
    const Enumeration e =
        enumerate(p, [&](const std::vector<std::int64_t>& values) { return row({p.variables, values}); });
    if (e == Enumeration::done && rows_ == 0) {
      if (c_.suppressed.empty())
        c_.remark(Severity::warning, "the row orders nothing: no two of its tasks exist.");
      else
        c_.refuse(c_.suppressed);
    }
    if (e == Enumeration::unbounded || e == Enumeration::too_many)
      c_.refuse(e == Enumeration::too_many ? "the row stands for too many rows (more than 100000)."
                                           : no_bounds(p.variables[0]));
  }

  std::string no_bounds(const std::string& name) const {
    std::string bound = "…";
    for (const AxisInfo& a : c_.decisions.axes)
      if (!a.free && bound == "…") bound = "|" + a.name + "|";
    return "'" + name + "' is only part of an index and has no bounds; add 'where 0 <= " + name + ", " + name + " < " +
           bound + "'.";
  }

  // Every variable stands alone as a unit of some list, or in conditions. A selection by other means bounds it too.
  bool bounded(Problem& p) {
    for (const std::string& name : p.variables) {
      Problem one = p;
      bool anywhere = false;
      for (const Condition& c : conditions_) {
        std::vector<std::string> used;
        collect_variables(c, used);
        anywhere = anywhere || contains(used, name);
      }
      for (const auto& family : p.families)
        for (const Bounded& b : family) {
          std::vector<std::string> used;
          collect_variables(b.index, used);
          anywhere = anywhere || contains(used, name);
        }
      for (const Member& m : members_)
        if (!m.unit)
          for_each(m.units, [&](const Expression& e) {
            anywhere = anywhere || (e.kind == Expression::Kind::name && e.text == name);
          });
      if (anywhere) continue;
      c_.refuse(no_bounds(name));
      return false;
    }
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (!members_[i].unit) bound_by_modules(members_[i], p.families[i]);
    return true;
  }

  void bound_by_modules(const Member& m, std::vector<Bounded>& family) {
    std::int64_t most = 1;
    for (const ModuleTree::Node& node : c_.tree.nodes) most = std::max(most, node.members);
    for (const auto& [name, let] : c_.lets) most = std::max(most, static_cast<std::int64_t>(let.list.units.size()));
    for_each(m.units, [&](const Expression& e) {
      if (e.kind == Expression::Kind::name && contains(expanded_, e.text)) family.push_back({e, most});
    });
  }

  // One row for one value of the expanded variables; false stops.
  bool row(const Bindings& b) {
    Values values;
    for (std::size_t i = 0; i < b.variables.size(); ++i) values[b.variables[i]] = make_number(b.values[i]);
    OrderRow out;
    out.statement = c_.statement;
    out.variables = kept_;
    for (const Condition& c : remaining_) out.conditions.push_back(folded(substitute(c, values)));
    for (Member& m : members_) {
      TaskFamily family;
      family.phase = m.phase;
      family.of = m.of;
      for (const auto& i : m.index) {
        family.index.push_back({i.axis, folded(substitute(i.index, values)), std::nullopt});
        if (i.end) family.index.back().end = folded(substitute(*i.end, values));
      }
      if (m.step) family.step = folded(substitute(*m.step, values));
      if (m.unit) {
        if (!place_in_list(m, folded(substitute(*m.unit, values)), family)) continue;
      } else {
        auto matches = c_.select(m.units, b, !b.variables.empty());
        if (!matches) return false;
        for (const Match& match : *matches)
          for (const Unit& u : match.units) family.units.push_back(c_.unit_id(u));
        if (family.units.empty()) continue;
      }
      if (!check_exists(family)) return false;
      out.chain.push_back(std::move(family));
    }
    if (out.chain.size() >= 2) {
      c_.decisions.order.push_back(std::move(out));
      ++rows_;
    }
    return true;
  }

  // A number picks the unit; an expression over kept variables stays. False: no such unit.
  bool place_in_list(Member& m, Expression unit, TaskFamily& family) {
    const std::vector<int> ids = c_.list_ids(*m.list);
    std::vector<std::string> used;
    collect_variables(unit, used);
    if (!used.empty()) {
      family.units = ids;
      family.unit = std::move(unit);
      return true;
    }
    const Number n = value_of(unit, {}, {});
    if (!n.ok() || n.value < 0 || n.value >= static_cast<std::int64_t>(ids.size())) return false;
    family.units = {ids[static_cast<std::size_t>(n.value)]};
    return true;
  }

  // w, r, load(update) and store(update) exist where a `trans` has made them, grad and update where there are parameters.
  bool check_exists(const TaskFamily& family) {
    const Decisions& d = c_.decisions;
    const bool state = family.of == Phase::update;
    const bool replay = family.phase == Phase::replay;
    if (!state && !replay && !of_parameters(family.phase) && family.phase != Phase::weight) return true;
    const auto chosen = [&](int a, Algorithm wanted) {
      return a >= 0 && contains(d.algorithms[static_cast<std::size_t>(a)].alternatives, wanted);
    };
    for (const int u : family.units) {
      Match m;
      m.units.emplace_back();
      m.units[0].operators = d.units[static_cast<std::size_t>(u)].operators;
      if (state || of_parameters(family.phase)) {
        for (const int p : c_.parameters_of({m}))
          if (!state || chosen(d.update_storage[static_cast<std::size_t>(p)], Algorithm::offload)) return true;
        continue;
      }
      for (const int op : m.units[0].operators) {
        const auto o = static_cast<std::size_t>(op);
        if (replay ? chosen(d.operator_storage[o], Algorithm::recompute) : d.operator_grad_split[o] >= 0) return true;
      }
    }
    const std::string name = d.units[static_cast<std::size_t>(family.units[0])].name;
    const std::string all = name.substr(0, name.find('['));
    const std::string word(to_string(family.phase));
    if (of_parameters(family.phase)) {
      c_.refuse(word + "(" + name + ") does not exist: " + name + " reads no parameter.");
      return false;
    }
    c_.refuse((state ? word + "(update(" + name + "))" : word + "(" + name + ")") + " does not exist: add 'trans " +
              (state ? "update(" + all + ") offload" : all + (replay ? " recompute" : " grad_split")) + "'.");
    return false;
  }

  Context& c_;
  const OrderStatement& s_;
  std::vector<Member> members_;
  std::vector<Condition> conditions_, remaining_;
  std::vector<std::string> expanded_, kept_;
  int rows_ = 0;
};
}  // namespace

void bind_order(Context& c, const OrderStatement& s) {
  if (s.open) {
    c.decisions.open_order = c.statement;
    return;
  }
  OrderBinder(c, s).run();
}

void forbid_order(Context& c, const OrderStatement& s) {
  if (s.open || s.chain.size() != 2) return c.refuse("'forbid order' names two tasks, A < B.");
  bind_order(c, OrderStatement{false, {s.chain[1], s.chain[0]}});
}

// --- enumeration ------------------------------------------------------------------------------------------------------

namespace {
// The task of a family, or those of its ranges; none if it does not exist.
std::vector<Task> tasks_at(const Decisions& d, const OrderRow& row, const TaskFamily& family,
                           const std::vector<std::int64_t>& values) {
  Task t;
  t.phase = family.phase;
  t.of = family.of;
  t.units = family.units;
  if (family.step) {
    const Number n = value_of(*family.step, row.variables, values);
    if (!n.ok()) return {};
    t.step = n.value;
  }
  if (family.unit) {
    const Number n = value_of(*family.unit, row.variables, values);
    if (!n.ok() || n.value < 0 || n.value >= static_cast<std::int64_t>(family.units.size())) return {};
    t.units = {family.units[static_cast<std::size_t>(n.value)]};
  }
  std::vector<Task> out{std::move(t)};
  for (const auto& i : family.index) {
    const std::int64_t size = d.axes[static_cast<std::size_t>(i.axis)].size;
    const Number n = value_of(i.index, row.variables, values);
    const Number end = i.end ? value_of(*i.end, row.variables, values) : Number{};
    if (!n.ok() || !end.ok() || (!i.end && (n.value < 0 || n.value >= size))) return {};
    const std::int64_t first = std::max<std::int64_t>(n.value, 0);
    const std::int64_t last = i.end ? std::min(end.value, size) : n.value + 1;
    std::vector<Task> next;
    for (const Task& task : out)
      for (std::int64_t k = first; k < last; ++k) {
        next.push_back(task);
        next.back().index.push_back({i.axis, k});
      }
    out = std::move(next);
  }
  return out;
}

// An index lies on its axis; a range meets it.
void add_bounds(const TaskFamily::AxisIndex& i, std::int64_t size, std::vector<Bounded>& family) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  if (!i.end) return family.push_back({i.index, size});
  family.push_back({make_binary(Expression::Kind::subtract, *i.end, make_number(1)), far});
  family.push_back({make_binary(Expression::Kind::subtract, make_number(size - 1), i.index), far});
}
}  // namespace

Result<std::vector<OrderPair>> enumerate_order(const Decisions& d, std::size_t limit) {
  Result<std::vector<OrderPair>> result;
  std::vector<OrderPair> pairs;
  for (const OrderRow& row : d.order) {
    Problem p;
    p.variables = row.variables;
    p.conditions = row.conditions;
    p.least = 2;
    p.limit = limit;
    for (const TaskFamily& f : row.chain) {
      p.families.emplace_back();
      for (const auto& i : f.index) add_bounds(i, d.axes[static_cast<std::size_t>(i.axis)].size, p.families.back());
      if (f.unit) p.families.back().push_back({*f.unit, static_cast<std::int64_t>(f.units.size())});
    }
    const Enumeration e = enumerate(p, [&](const std::vector<std::int64_t>& values) {
      look_at_stop();
      std::vector<Task> before;
      for (const TaskFamily& f : row.chain) {
        std::vector<Task> tasks = tasks_at(d, row, f, values);
        if (tasks.empty()) continue;
        for (const Task& a : before)
          for (const Task& b : tasks) pairs.push_back({row.statement, a, b});
        before = std::move(tasks);
      }
      return pairs.size() <= limit;
    });
    if (e == Enumeration::done) continue;
    const Statement& s = d.plan.statements[static_cast<std::size_t>(row.statement)];
    Diagnostic bad =
        error(e == Enumeration::unbounded
                  ? "'" + row.variables[0] + "' has no bounds; add 'where 0 <= " + row.variables[0] + ", …'."
                  : "the row orders more than " + std::to_string(limit) + " pairs of tasks.");
    bad.file = d.plan.file;
    bad.line = s.line;
    bad.subject = s.from.empty() ? print_code(s) : s.from;
    if (std::find(result.diagnostics.begin(), result.diagnostics.end(), bad) == result.diagnostics.end())
      result.diagnostics.push_back(std::move(bad));
    if (pairs.size() > limit) break;
  }
  result.value = std::move(pairs);
  return result;
}

}  // namespace planscope::plan
