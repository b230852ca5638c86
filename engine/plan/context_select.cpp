// Selections and variables of a statement.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/context.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"

namespace planscope::plan {

namespace {
constexpr std::size_t max_cases = 20'000;

const LetValue* let_of(const std::map<std::string, LetValue>& lets, const Path& p) {
  if (p.names.empty()) return nullptr;
  const auto it = lets.find(p.names[0].glob);
  return it == lets.end() ? nullptr : &it->second;
}
}  // namespace

std::map<std::string, Expression> Bindings::expressions() const {
  std::map<std::string, Expression> out;
  for (std::size_t i = 0; i < variables.size(); ++i) out[variables[i]] = make_number(values[i]);
  return out;
}

std::optional<IndexValue> Context::index_value(const Index& i, const Bindings& b) {
  IndexValue out;
  if (i.kind == Index::Kind::all) return out;
  out.range = i.kind == Index::Kind::range;
  for (const auto* bound : {&i.begin, &i.end})
    if (out.range && *bound && (*bound)->kind == Expression::Kind::negate &&
        (*bound)->operands[0].kind == Expression::Kind::number) {
      const bool first = bound == &i.begin;
      refuse("'" + print(**bound) +
             "' is before the first one: indices count from 0. From the end: 'let X = …' and X[" +
             (first ? "|X|" : ":|X|") + print(**bound) + (first ? ":]." : "]."));
      return std::nullopt;
    }
  const auto set = [&](const std::optional<Expression>& e, std::optional<std::int64_t>& to) {
    if (e) to = number(*e, b);
    return !e || to.has_value();
  };
  const std::optional<Expression>& last = out.range ? i.end : i.begin;
  const bool literal = last && last->kind == Expression::Kind::number;
  if (literal) out.written_to = out.range ? last->number - 1 : last->number;
  if (!out.range) return set(i.begin, out.one) ? std::optional(out) : std::nullopt;
  if (!set(i.begin, out.begin) || !set(i.end, out.end) || !set(i.step, out.step)) return std::nullopt;
  if (out.begin && *out.begin < 0) out.begin = 0;
  if (out.step && *out.step < 1) {
    refuse("a step is at least 1.");
    return std::nullopt;
  }
  return out;
}

std::optional<PathValue> Context::path_value(const Path& p, std::size_t skip, const Bindings& b) {
  PathValue out;
  out.kind = p.kind;
  out.text = print(p);
  for (std::size_t i = skip; i < p.names.size(); ++i) {
    PathValue::Step step;
    step.glob = p.names[i].glob;
    for (const auto& bracket : p.names[i].brackets) {
      step.brackets.emplace_back();
      for (const Index& index : bracket) {
        const auto v = index_value(index, b);
        if (!v) return std::nullopt;
        step.brackets.back().push_back(*v);
      }
    }
    out.steps.push_back(std::move(step));
  }
  if (p.call && !(out.call = number(*p.call, b))) return std::nullopt;
  if (p.ordinal && !(out.ordinal = number(*p.ordinal, b))) return std::nullopt;
  return out;
}

std::optional<std::vector<Match>> Context::select_path(const Path& p, const Bindings& b) {
  const LetValue* let = let_of(lets, p);
  const bool suggest = current().use == 0 || !use_problem.count(current().use);
  if (!let) {
    const auto value = path_value(p, 0, b);
    return value ? std::optional(match_path(tree, model, *value, nullptr, suggest)) : std::nullopt;
  }
  if (let->kind != LetValue::Kind::units) {
    refuse("'" + p.names[0].glob + "' is not a selection of operators.");
    return std::nullopt;
  }
  if (let->list.open_count) {
    defer();
    return std::nullopt;
  }
  std::vector<Unit> bases = let->list.units;
  const auto count = static_cast<std::int64_t>(bases.size());
  const std::string size = std::to_string(count);
  std::string beyond;
  if (p.names[0].brackets.size() > 1) {
    refuse("'" + print(p) + "': a selection has one index.");
    return std::nullopt;
  }
  for (const auto& bracket : p.names[0].brackets) {
    std::vector<IndexValue> wanted;
    for (const Index& index : bracket) {
      const auto v = index_value(index, b);
      if (!v) return std::nullopt;
      wanted.push_back(*v);
      if (v->written_to && *v->written_to >= count) beyond = only_so_many(print(p), p.names[0].glob, count);
    }
    std::vector<Unit> kept;
    for (std::size_t i = 0; i < bases.size(); ++i)
      if (std::any_of(wanted.begin(), wanted.end(),
                      [&](const auto& w) { return w.selects(static_cast<std::int64_t>(i)); }))
        kept.push_back(std::move(bases[i]));
    bases = std::move(kept);
  }
  if (bases.empty()) {
    Match m;
    m.text = print(p);
    m.problem =
        "'" + m.text + "' is out of range: " + p.names[0].glob + " has " + size + (size == "1" ? " unit." : " units.");
    return std::vector<Match>{m};
  }
  const auto value = path_value(p, 1, b);
  if (!value) return std::nullopt;
  std::vector<Match> out = match_path(tree, model, *value, &bases, suggest);
  for (Match& m : out)
    if (!beyond.empty()) m.beyond = beyond;
  return out;
}

std::optional<Group> Context::call_group(const Group& g) {
  const auto it = lets.find(g.name);
  const Units* body = nullptr;
  if (it != lets.end() && it->second.kind == LetValue::Kind::function)
    body = std::get_if<Units>(&it->second.function.value);
  if (!body || body->groups.size() != 1 || !body->except.empty()) {
    refuse("no function '" + g.name + "' that names operators or tasks.");
    return std::nullopt;
  }
  const LetStatement& f = it->second.function;
  if (f.parameters.size() != g.arguments.size()) {
    refuse("'" + f.name + "' takes " + std::to_string(f.parameters.size()) +
           (f.parameters.size() == 1 ? " argument, " : " arguments, ") + std::to_string(g.arguments.size()) +
           " given.");
    return std::nullopt;
  }
  std::map<std::string, Expression> arguments;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    auto a = resolve(g.arguments[i]);
    if (!a) return std::nullopt;
    arguments[f.parameters[i]] = std::move(*a);
  }
  Group out = substitute(body->groups[0], arguments);
  out.index.insert(out.index.end(), g.index.begin(), g.index.end());
  return out;
}

std::optional<std::vector<Match>> Context::select_group(const Group& g, const Bindings& b) {
  if (g.form == Group::Form::call) {
    const auto body = call_group(g);
    return body ? select_group(*body, b) : std::nullopt;
  }
  if (g.form == Group::Form::phase) {
    refuse("'" + print(g) + "' names tasks; operators are wanted here.");
    return std::nullopt;
  }
  return select_path(g.path, b);
}

std::optional<std::vector<Match>> Context::select(const Units& units, const Bindings& b, bool quiet) {
  std::vector<Match> out;
  for (const Group& g : units.groups) {
    auto matches = select_group(g, b);
    if (!matches) return std::nullopt;
    for (Match& m : *matches) out.push_back(std::move(m));
  }
  std::set<int> removed;
  for (const Group& g : units.except) {
    auto matches = select_group(g, b);
    if (!matches) return std::nullopt;
    for (const Match& m : *matches) {
      if (!m.problem.empty() && current().use == 0 && !quiet) refuse(m.problem);
      for (const Unit& u : m.units) removed.insert(u.operators.begin(), u.operators.end());
    }
  }
  for (Match& m : out) {
    if (m.problem.empty()) {
      const bool names_only = std::holds_alternative<LetStatement>(current().body);  // its arguments
      if (current().use > 0 && !names_only) use_matched[current().use] = true;
      case_matched = case_matched || quiet;
      if (current().use == 0 && !quiet && !m.beyond.empty()) remark(Severity::warning, m.beyond);
    } else if (current().use == 0 && !quiet) {
      refuse(m.problem);
    } else {
      suppressed = m.problem;
      if (quiet && case_problem.empty()) case_problem = m.problem;
      use_problem.try_emplace(current().use, m.problem);
    }
    if (removed.empty()) continue;
    for (Unit& u : m.units) {
      const std::size_t before = u.operators.size();
      std::erase_if(u.operators, [&](int op) { return removed.count(op) > 0; });
      if (u.operators.size() != before) u.module = -1;
    }
    std::erase_if(m.units, [](const Unit& u) { return u.operators.empty(); });
  }
  std::erase_if(out, [](const Match& m) { return !m.problem.empty(); });
  return out;
}

std::optional<UnitList> Context::unit_list(const Units& units, const Bindings& b) {
  auto matches = select(units, b);
  if (!matches) return std::nullopt;
  UnitList out;
  for (Match& m : *matches)
    for (Unit& u : m.units) out.units.push_back(std::move(u));
  sort_units(out.units);
  drop_repeated(out.units);
  return out;
}

std::optional<int> Context::index_axis(const Group& g, const TaskIndex& t, std::size_t& next) {
  if (t.axis == kStepAxis) {
    refuse("'" + print(g) + "': only order rows speak of steps.");
    return std::nullopt;
  }
  if (!t.axis.empty()) {
    const auto named = axes_named(t.axis);
    if (!named) return std::nullopt;
    if (named->size() == 1 && decisions.axes[static_cast<std::size_t>(named->front())].free) return named->front();
    refuse("'" + t.axis + "' is not a free axis; tasks have indices of free axes alone.");
    return std::nullopt;
  }
  std::vector<int> free;
  for (std::size_t a = 0; a < decisions.axes.size(); ++a)
    if (decisions.axes[a].free) free.push_back(static_cast<int>(a));
  if (next < free.size()) return free[next++];
  refuse("'" + print(g) + "' has an index, but the plan has " +
         (free.empty() ? "no free axis; add 'axis mb=…'." : "only " + std::to_string(free.size()) + " free axes."));
  return std::nullopt;
}

std::vector<int> Context::parameters_of(const std::vector<Match>& matches) const {
  std::vector<bool> selected(model.operators.size(), false);
  for (const Match& m : matches)
    for (const Unit& u : m.units)
      for (const int op : u.operators) selected[static_cast<std::size_t>(op)] = true;
  std::vector<int> out;
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    const auto& readers = model.parameters[p].readers;
    if (std::any_of(readers.begin(), readers.end(), [&](int op) { return selected[static_cast<std::size_t>(op)]; }))
      out.push_back(static_cast<int>(p));
  }
  return out;
}

// --- variables --------------------------------------------------------------------------------------------------------

bool Context::collect(const Units& units, Problem& p) {
  for (const Group& g : units.groups)
    if (!collect(g, p)) return false;
  for (const Group& g : units.except)
    if (!collect(g, p)) return false;
  return true;
}

bool Context::collect(const Group& g, Problem& p) {
  if (g.form == Group::Form::phase) return collect(g.units, p);
  if (g.form == Group::Form::call) {
    const auto body = call_group(g);
    return body && collect(*body, p);
  }
  std::size_t next = 0;
  for (const TaskIndex& t : g.index) {
    const auto axis = index_axis(g, t, next);
    if (!axis) return false;
    if (t.index.kind != Index::Kind::one) continue;
    auto resolved = resolve(*t.index.begin);
    if (!resolved) return false;
    std::vector<std::string> names;
    plan::collect_variables(*resolved, names);
    if (names.empty() || mentions_open(*resolved)) continue;
    for (const std::string& name : names) plan::collect_variables(make_name(name), p.variables);
    p.families[0].push_back({std::move(*resolved), decisions.axes[static_cast<std::size_t>(*axis)].size});
  }
  const LetValue* let = let_of(lets, g.path);
  if (let && let->list.open_count) {  // which values its indices have is open
    defer();
    return false;
  }
  for (std::size_t n = 0; n < g.path.names.size(); ++n)
    for (const auto& bracket : g.path.names[n].brackets)
      for (const Index& i : bracket)
        for (const auto* e : {&i.begin, &i.end, &i.step}) {
          if (!*e) continue;
          auto resolved = resolve(**e);
          if (!resolved) return false;
          std::vector<std::string> names;
          plan::collect_variables(*resolved, names);
          if (names.empty() || mentions_open(*resolved)) continue;
          for (const std::string& name : names) plan::collect_variables(make_name(name), p.variables);
          std::int64_t size = 0;
          if (n == 0 && let && let->kind == LetValue::Kind::units) {
            size = static_cast<std::int64_t>(let->list.units.size());
          } else {
            for (const ModuleTree::Node& node : tree.nodes) size = std::max(size, node.members);
          }
          p.families[0].push_back({std::move(*resolved), size + (i.kind == Index::Kind::range ? 1 : 0)});
        }
  return true;
}

std::optional<std::vector<Bindings>> Context::cases(const std::vector<const Units*>& units,
                                                    const std::vector<Expression>& extra) {
  Problem p;
  p.families.emplace_back();
  for (const Units* u : units)
    if (!collect(*u, p)) return std::nullopt;
  for (const Expression& e : extra) {
    const auto resolved = resolve(e);
    if (!resolved) return std::nullopt;
    plan::collect_variables(*resolved, p.variables);
  }
  const auto out = combinations(std::move(p));
  if (!out) return std::nullopt;
  for (const Bindings& b : *out)
    if (!b.variables.empty()) hold_demands(b);
  return out;
}

std::optional<std::vector<Bindings>> Context::combinations(Problem p) {
  p.least = 1;
  p.limit = max_cases;
  auto where = conditions();
  if (!where) return std::nullopt;
  p.conditions = std::move(*where);
  for (const Condition& c : p.conditions) plan::collect_variables(c, p.variables);
  std::vector<Bindings> out;
  const Enumeration e = enumerate(p, [&](const std::vector<std::int64_t>& values) {
    out.push_back({p.variables, values});
    return true;
  });
  if (e == Enumeration::done) return out;
  const std::string names = "'" + join(p.variables, "', '") + "'";
  refuse(e == Enumeration::unbounded
             ? names + (p.variables.size() == 1 ? " has" : " have") + " no bounds; add 'where 0 <= …'."
             : "the line holds for too many values of " + names + " (more than " + std::to_string(max_cases) + ").");
  return std::nullopt;
}

}  // namespace planscope::plan
