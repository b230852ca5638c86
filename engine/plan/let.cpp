// let: numbers, selections, lists of axes, functions, cuts.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/context.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"

namespace planscope::plan {

namespace {
// The name, if the group is nothing but one.
std::optional<std::string> bare_name(const Group& g) {
  const Path& p = g.path;
  const bool bare = g.form == Group::Form::path && g.index.empty() && p.names.size() == 1 && !p.call &&
                    p.kind.empty() && !p.ordinal && p.names[0].brackets.empty() &&
                    p.names[0].glob.find_first_of("*{") == std::string::npos;
  return bare ? std::optional(p.names[0].glob) : std::nullopt;
}

// `kv, rep` if every name is an axis (or stands for axes).
std::optional<LetValue> axes_list(Context& c, const Units& units) {
  LetValue out;
  out.kind = LetValue::Kind::axes;
  if (!units.except.empty()) return std::nullopt;
  for (const Group& g : units.groups) {
    const auto name = bare_name(g);
    if (!name) return std::nullopt;
    const auto let = c.lets.find(*name);
    if (let != c.lets.end() && let->second.kind == LetValue::Kind::axes) {
      out.axes.insert(out.axes.end(), let->second.axes.begin(), let->second.axes.end());
    } else if (let == c.lets.end() && c.axis(*name) >= 0) {
      out.axes.push_back(*name);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<LetValue> selection(Context& c, const Units& units) {
  if (auto axes = axes_list(c, units)) return axes;
  auto cases = c.cases({&units});
  if (!cases) return std::nullopt;
  if (cases->size() != 1 || !(*cases)[0].variables.empty()) {
    c.refuse("a selection has no variables; write '[*]' for all.");
    return std::nullopt;
  }
  const std::size_t before = c.decisions.deferred.size();
  auto list = c.unit_list(units);
  LetValue out;
  out.kind = LetValue::Kind::units;
  if (!list && c.decisions.deferred.size() > before) {
    out.list.open_count = make_number(0);
    return out;
  }
  if (!list) return std::nullopt;
  if (list->units.empty() && c.current().use > 0) {  // an argument of a template that matches nothing
    c.use_problem.erase(c.current().use);            // so that it is said with what was near
    for (const Group& g : units.groups)
      if (const auto matches = c.select_group(g, {}))
        for (const Match& m : *matches) c.refuse(m.problem);
    c.use_matched[c.current().use] = true;  // that says it
    return std::nullopt;
  }
  if (list->units.empty()) return std::nullopt;  // reported
  out.list = std::move(*list);
  return out;
}

std::optional<LetValue> value_of_expression(Context& c, const Expression& e) {
  if (e.kind == Expression::Kind::name) {
    const auto known = c.lets.find(e.text);
    if (known != c.lets.end()) return known->second;
    Group g;
    g.path.names.push_back({e.text, {}});
    if (c.axis(e.text) >= 0 || c.tree.named.count(e.text)) return selection(c, Units{{g}, {}});
  }
  const auto resolved = c.resolve(e);
  if (!resolved) return std::nullopt;
  std::vector<std::string> names;
  collect_variables(*resolved, names);
  if (!names.empty()) {
    c.refuse("'" + names[0] + "' is neither a let, an axis nor a module.");
    return std::nullopt;
  }
  LetValue out;
  out.number = folded(*resolved);
  if (const Number n = value_of(*resolved, {}, {}); n.error && n.error->kind != EvaluationError::Kind::unknown &&
                                                    n.error->kind != EvaluationError::Kind::unsupported) {
    c.number(*resolved);  // says why it has no value, whether it is used or not
    return std::nullopt;
  }
  return out;
}

// `into 3`: so many parts; `into 2,1,3` and `into ?size[i] where …`: their sizes, even of one.
struct Parts {
  std::vector<Expression> into;
  bool sizes = false;
};

// Parts of a cut: the sizes, or nothing if they are open.
std::optional<std::vector<std::int64_t>> part_sizes(Context& c, const Parts& cut, std::int64_t units) {
  std::vector<std::int64_t> sizes;
  if (!cut.sizes) {
    const auto n = c.number(cut.into[0]);
    if (!n) return std::nullopt;
    if (*n < 1 || *n > units) {
      c.refuse(std::to_string(units) + (units == 1 ? " unit" : " units") + " cannot be cut into " + std::to_string(*n) +
               " parts.");
      return std::nullopt;
    }
    for (std::int64_t i = 0; i < *n; ++i) sizes.push_back(units / *n + (i < units % *n ? 1 : 0));
    return sizes;
  }
  std::int64_t total = 0;
  std::vector<std::string> texts;
  for (const Expression& e : cut.into) {
    const auto n = c.number(e);
    if (!n) return std::nullopt;
    if (*n < 1 || *n > units) {
      c.refuse("a part of " + std::to_string(*n) + " units: there are " + std::to_string(units) + ".");
      return std::nullopt;
    }
    total += *n;
    sizes.push_back(*n);
    texts.push_back(std::to_string(*n));
  }
  if (total == units) return sizes;
  c.refuse(join(texts, "+") + " is " + std::to_string(total) + " units, the selection has " + std::to_string(units) +
           ".");
  return std::nullopt;
}

// What open sizes of parts have to be: each at least one unit, together all of them.
void demand_parts(Context& c, const Parts& cut, std::int64_t units) {
  const auto demand = [&](Expression left, Condition::Relation relation, std::int64_t right) {
    Condition row;
    row.terms = {std::move(left), make_number(right)};
    row.relations = {relation};
    c.decisions.conditions.push_back({c.statement, std::move(row)});
  };
  std::optional<Expression> total;
  for (const Expression& e : cut.into) {
    const auto size = c.resolve(e);
    if (!size) return;
    if (mentions_open(*size)) demand(*size, Condition::Relation::at_least, 1);
    total = total ? make_binary(Expression::Kind::add, std::move(*total), *size) : *size;
  }
  demand(*total, cut.sizes ? Condition::Relation::equal : Condition::Relation::at_most, units);
}

// `into ?size[i] where 0 <= i, i < n`: one part for each value of the variable.
std::optional<Parts> parts_of(Context& c, const Cut& cut) {
  Parts out{{}, cut.into.size() > 1};
  for (const Expression& e : cut.into) {
    std::vector<Expression> indices;
    for_each(e, [&](const Expression& x) {
      if (x.kind == Expression::Kind::open && !x.operands.empty()) indices.push_back(x.operands[0]);
    });
    if (indices.empty()) {
      out.into.push_back(e);
      continue;
    }
    const auto cases = c.cases({}, indices);
    if (!cases) return std::nullopt;
    out.sizes = true;
    for (const Bindings& b : *cases) {
      out.into.push_back(substitute(e, b.expressions()));
      if (!c.resolve(out.into.back())) return std::nullopt;
      for_each(out.into.back(), [&](const Expression& x) {
        if (x.kind == Expression::Kind::open && !x.operands.empty())
          if (const auto i = c.number(x.operands[0])) c.families[x.text].insert(*i);
      });
    }
  }
  return out;
}

std::optional<LetValue> cut_value(Context& c, const std::string& name, const Cut& written) {
  const auto cut = parts_of(c, written);
  if (!cut) return std::nullopt;
  if (cut->into.empty()) {
    c.refuse("the conditions leave no part.");
    return std::nullopt;
  }
  LetValue out;
  out.kind = LetValue::Kind::units;
  const std::size_t before = c.decisions.deferred.size();
  const auto list = c.unit_list(written.units);
  if (!list && c.decisions.deferred.size() > before) out.list.open_count = make_number(0);
  if (!list) return c.decisions.deferred.size() > before ? std::optional(out) : std::nullopt;
  if (list->units.empty()) {
    if (c.current().use > 0) c.refuse("the selection that is cut matches nothing.");
    return std::nullopt;
  }
  const auto sizes = part_sizes(c, *cut, static_cast<std::int64_t>(list->units.size()));
  if (!sizes) {
    if (c.decisions.deferred.size() == before) return std::nullopt;
    demand_parts(c, *cut, static_cast<std::int64_t>(list->units.size()));
    const auto count = c.resolve(cut->into[0]);
    out.list.open_count = !cut->sizes && count ? *count : make_number(static_cast<std::int64_t>(cut->into.size()));
    return out;
  }
  CutInfo info;
  info.name = name;
  info.statement = c.statement;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    Unit part;
    part.name = name + "[" + std::to_string(i) + "]";
    for (std::int64_t k = 0; k < (*sizes)[i]; ++k, ++next) {
      const std::vector<int>& ops = list->units[next].operators;
      part.operators.insert(part.operators.end(), ops.begin(), ops.end());
    }
    std::sort(part.operators.begin(), part.operators.end());
    part.operators.erase(std::unique(part.operators.begin(), part.operators.end()), part.operators.end());
    info.units.push_back(c.unit_id(part));
    out.list.units.push_back(std::move(part));
  }
  out.list.pool = info.units;
  c.decisions.cuts.push_back(std::move(info));
  return out;
}

std::optional<LetValue> function_value(Context& c, const LetStatement& s) {
  LetValue out;
  out.kind = LetValue::Kind::function;
  out.function = s;
  if (std::holds_alternative<Cut>(s.value)) {
    c.refuse("a function cannot cut.");
    return std::nullopt;
  }
  if (const auto* e = std::get_if<Expression>(&s.value)) {
    if (e->kind == Expression::Kind::name && c.lets.count(e->text) &&
        c.lets[e->text].kind == LetValue::Kind::units) {  // a bare selection
      Group g;
      g.path.names.push_back({e->text, {}});
      out.function.value = Units{{g}, {}};
      return out;
    }
    auto body = c.resolve(*e, s.parameters);
    if (!body) return std::nullopt;
    out.function.value = std::move(*body);
  }
  return out;
}
// Whether a condition stands behind a let that has nothing to hold it.
bool has_idle_condition(const Context& c, const LetStatement& s) {
  for (std::size_t k = 0; k < c.current().where.size(); ++k)
    if (!c.demands(k) && !std::holds_alternative<Cut>(s.value)) return true;
  return false;
}

// The line of the plan that gave this name its value before.
void warn_if_known(Context& c, const std::string& name) {
  if (!c.lets.count(name) || c.current().use > 0) return;
  for (int i = c.statement; i-- > 0;) {
    const Statement& s = c.decisions.plan.statements[static_cast<std::size_t>(i)];
    const auto* let = std::get_if<LetStatement>(&s.body);
    if (!let || let->name != name) continue;
    return c.remark(Severity::warning, "'" + name + "' has a value since line " + std::to_string(s.line) +
                                           "; the lines below this one read the new one.");
  }
}
}  // namespace

void bind_let(Context& c, const LetStatement& s) {
  warn_if_known(c, s.name);
  std::optional<LetValue> value;
  if (has_idle_condition(c, s)) {
    c.refuse("a 'let' without variables takes no 'where'; a condition that has to hold is 'require …'.");
  } else if (s.function) {
    value = function_value(c, s);
  } else if (const auto* e = std::get_if<Expression>(&s.value)) {
    value = value_of_expression(c, *e);
  } else if (const auto* u = std::get_if<Units>(&s.value)) {
    value = selection(c, *u);
  } else {
    value = cut_value(c, s.name, std::get<Cut>(s.value));
  }
  if (c.tree.named.count(s.name) && c.current().use == 0)
    c.remark(Severity::warning, "'" + s.name + "' hides the module of that name.");
  if (!value) {  // do not report every use of it
    c.lets.erase(s.name);
    value.emplace();
    value->kind = LetValue::Kind::units;
    value->list.open_count = make_number(0);
  }
  c.lets[s.name] = std::move(*value);
}

}  // namespace planscope::plan
