#include "engine/plan/bind.h"

#include <algorithm>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/assign.h"
#include "engine/plan/context.h"
#include "engine/plan/order.h"
#include "engine/plan/printer.h"
#include "engine/plan/relax.h"
#include "engine/plan/template.h"
#include "engine/plan/trans.h"

namespace planscope::plan {

namespace {
Decisions prepared(Plan plan, const ModelInfo& model) {
  Decisions d;
  d.plan = std::move(plan);
  d.operator_count = static_cast<int>(model.operators.size());
  d.parameter_count = static_cast<int>(model.parameters.size());
  for (const InputDimension& i : model.inputs) d.input_sizes[i.name] = i.size;
  GridInfo all;
  all.name = "all";
  all.devices = {0};
  d.grids.push_back(std::move(all));
  d.operator_place.assign(model.operators.size(), -1);
  d.operator_indexed.assign(model.operators.size(), -1);
  d.operator_storage.assign(model.operators.size(), -1);
  d.operator_gathered.assign(model.operators.size(), -1);
  d.operator_grad_split.assign(model.operators.size(), -1);
  d.update_storage.assign(model.parameters.size(), -1);
  d.operator_lag.assign(model.operators.size(), {});
  return d;
}

// Axes are few and may be declared anywhere before they are used, so the tables grow with them.
void widen(std::vector<Split>& table, std::size_t rows, std::size_t before, std::size_t after) {
  std::vector<Split> wide(rows * after);
  for (std::size_t r = 0; r < rows && before > 0; ++r)
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(r * before), before,
                wide.begin() + static_cast<std::ptrdiff_t>(r * after));
  table = std::move(wide);
}

void widen(Decisions& d, std::size_t before) {
  const std::size_t after = d.axes.size();
  if (before == after) return;
  widen(d.operator_splits, static_cast<std::size_t>(d.operator_count), before, after);
  for (auto* table : {&d.fetch_splits, &d.grad_splits, &d.update_splits})
    widen(*table, static_cast<std::size_t>(d.parameter_count), before, after);
}

// One of several words, or its position among them.
void bind_word(Context& c, const InputDimension& input, const Expression& e) {
  if (e.kind == Expression::Kind::name) {
    const auto found = std::find(input.words.begin(), input.words.end(), e.text);
    if (found != input.words.end()) {
      c.decisions.input_sizes[input.name] = found - input.words.begin();
      return;
    }
    const std::string near = nearest(e.text, input.words);
    c.refuse("no scalar output '" + e.text + "'; the model has " + join(input.words, ", ") + "." +
             (near.empty() ? "" : " Did you mean '" + near + "'?"));
    return;
  }
  const auto n = c.number(e);
  if (!n) return;
  if (*n >= 0 && *n < static_cast<std::int64_t>(input.words.size()))
    c.decisions.input_sizes[input.name] = *n;
  else
    c.refuse("no scalar output " + std::to_string(*n) + "; the model has " + join(input.words, ", ") + ", counted from 0.");
}

void bind_model(Context& c, const ModelStatement& s) {
  for (const AxisSub& a : s.sizes) {
    if (!c.decisions.input_sizes.count(a.axis)) {
      std::string names;
      for (const auto& [name, size] : c.decisions.input_sizes) names += (names.empty() ? "" : ", ") + name;
      c.refuse("no input dimension '" + a.axis + "'; the model has " + (names.empty() ? "none" : names) + ".");
      continue;
    }
    const Expression& e = a.sub.alternatives[0];
    const auto input = std::find_if(c.model.inputs.begin(), c.model.inputs.end(),
                                    [&](const InputDimension& i) { return i.name == a.axis; });
    if (input != c.model.inputs.end() && !input->words.empty())
      bind_word(c, *input, e);
    else if (const auto n = c.size_within(e, a.axis, max_size))
      c.decisions.input_sizes[a.axis] = *n;
  }
}

bool takes_where(const StatementBody& body) {
  return !std::holds_alternative<ModelStatement>(body) && !std::holds_alternative<EmptyStatement>(body);
}

// Statements that do nothing where no value of their variables names anything. (Rows say so themselves.)
bool acts(const StatementBody& body) {
  return std::holds_alternative<TransStatement>(body) || std::holds_alternative<AlgorithmStatement>(body) ||
         std::holds_alternative<AssignStatement>(body) || std::holds_alternative<RelaxStatement>(body);
}

struct Binder {
  Context& c;

  void operator()(const EmptyStatement&) const {}
  void operator()(const UnparsedStatement&) const {}
  void operator()(const TemplateStatement&) const {}
  void operator()(const UseStatement&) const {}
  void operator()(const DevicesStatement& s) const {
    declaring([&] { bind_devices(c, s); });
  }
  void operator()(const GridStatement& s) const {
    declaring([&] { bind_grid(c, s); });
  }
  void operator()(const AxisStatement& s) const {
    declaring([&] { bind_axis(c, s); });
  }
  void operator()(const ModelStatement& s) const { bind_model(c, s); }
  void operator()(const LetStatement& s) const { bind_let(c, s); }
  void operator()(const TransStatement& s) const { bind_trans(c, s); }
  void operator()(const AlgorithmStatement& s) const { bind_algorithm(c, s); }
  void operator()(const AssignStatement& s) const { bind_assign(c, s); }
  void operator()(const OrderStatement& s) const { bind_order(c, s); }
  void operator()(const RequireStatement& s) const { bind_require(c, s); }
  void operator()(const ForbidStatement& s) const { bind_forbid(c, s); }
  void operator()(const RelaxStatement& s) const { bind_relax(c, s); }

  // Statements that declare axes: `where` can only speak of open values.
  template <class F>
  void declaring(F&& bind) const {
    const auto where = c.conditions();
    if (where) {
      const bool known = std::all_of(where->begin(), where->end(), [](const Condition& w) {
        return evaluate(w, [](const Expression& e) { return value_of(e, {}, {}); }).has_value();
      });
      if (!known) return c.refuse("'where' speaks of a name that has no value here.");
      for (const Condition& w : *where)
        if (!*evaluate(w, [](const Expression& e) { return value_of(e, {}, {}); }))
          c.refuse("'" + print(w) + "' does not hold.");
    }
    const std::size_t before = c.decisions.axes.size();
    bind();
    widen(c.decisions, before);
  }
};

// Finite domains and bounds of open values, from the rows that name one alone.
void take_bounds(OpenVariable& v, const Condition& c) {
  const auto is_it = [&](const Expression& e) { return e.kind == Expression::Kind::open && e.text == v.name; };
  if (c.kind == Condition::Kind::both)
    for (const Condition& p : c.parts) take_bounds(v, p);
  if (c.kind == Condition::Kind::in && is_it(c.terms[0])) {
    std::vector<std::int64_t> values;
    for (const Expression& e : c.set) {
      const Number n = value_of(e, {}, {});
      if (!n.ok()) return;
      values.push_back(n.value);
    }
    if (v.values.empty()) v.values = values;
    std::erase_if(v.values, [&](std::int64_t x) { return std::find(values.begin(), values.end(), x) == values.end(); });
  }
  if (c.kind != Condition::Kind::compare) return;
  using R = Condition::Relation;
  for (std::size_t i = 0; i < c.relations.size(); ++i) {
    R r = c.relations[i];
    const bool left = is_it(c.terms[i]), right = is_it(c.terms[i + 1]);
    if (left == right) continue;
    const Number n = value_of(c.terms[left ? i + 1 : i], {}, {});
    if (!n.ok() || n.value == INT64_MAX || n.value == INT64_MIN) continue;
    if (right)
      r = r == R::less       ? R::greater
          : r == R::at_most  ? R::at_least
          : r == R::greater  ? R::less
          : r == R::at_least ? R::at_most
                             : r;
    const auto lower = [&](std::int64_t x) { v.at_least = std::max(v.at_least.value_or(x), x); };
    const auto upper = [&](std::int64_t x) { v.at_most = std::min(v.at_most.value_or(x), x); };
    if (r == R::equal || r == R::at_least) lower(n.value);
    if (r == R::equal || r == R::at_most) upper(n.value);
    if (r == R::greater) lower(n.value + 1);
    if (r == R::less) upper(n.value - 1);
  }
}

void finish_variables(Decisions& d) {
  for (std::size_t k = 0; k < d.variables.size(); ++k) {
    OpenVariable& v = d.variables[k];
    const std::vector<std::string> possible = possible_words(d, k);
    const auto impossible = [&](const std::string& w) {
      return std::find(possible.begin(), possible.end(), w) == possible.end();
    };
    if (v.words.empty() && v.values.empty())
      v.words = possible;
    else if (!possible.empty() && !std::all_of(v.words.begin(), v.words.end(), impossible))
      std::erase_if(v.words, impossible);
    for (const ConditionRow& row : d.conditions) take_bounds(v, row.condition);
    std::sort(v.values.begin(), v.values.end());
    v.values.erase(std::unique(v.values.begin(), v.values.end()), v.values.end());
  }
}

bool is_complete(const Decisions& d) {
  if (!d.variables.empty() || !d.deferred.empty() || d.open_order >= 0 || d.device_count == 0) return false;
  for (int op = 0; op < d.operator_count; ++op)
    for (int axis = 0; axis < static_cast<int>(d.axes.size()); ++axis)
      if (open_split(d, op, axis)) return false;
  for (const auto* table : {&d.fetch_splits, &d.grad_splits, &d.update_splits})
    for (const Split& s : *table)
      if (s.factor == kOpen) return false;
  for (int op = 0; op < d.operator_count; ++op)
    for (const int p : places_of(d, op))
      if (d.places[static_cast<std::size_t>(p)].open()) return false;
  for (const int a : d.operator_storage)
    if (a >= 0 && d.algorithms[static_cast<std::size_t>(a)].alternatives.size() > 1) return false;
  return true;
}
}  // namespace

std::string_view to_string(Algorithm a) {
  static constexpr std::string_view words[] = {"keep", "recompute", "offload", "keep_gathered", "grad_split"};
  return words[static_cast<std::size_t>(a)];
}

Result<Decisions> bind(const Plan& plan, const ModelInfo& model, const OpenValues& open_values) {
  Result<Plan> expanded = expand_statements(plan);
  Result<Decisions> result;
  result.diagnostics = std::move(expanded.diagnostics);
  Decisions d = prepared(with_values(*expanded.value, open_values), model);
  Context c(model, open_values, d, result.diagnostics);
  c.written = &*expanded.value;
  c.opened = open_names(*expanded.value);
  collect_variables(c);
  for (c.statement = 0; c.statement < static_cast<int>(d.plan.statements.size()); ++c.statement) {
    look_at_stop();
    const Statement& s = c.current();
    if (!s.where.empty() && !takes_where(s.body)) c.refuse("this statement takes no 'where'.");
    const bool row = std::holds_alternative<RequireStatement>(s.body);
    if (!row) c.hold_demands();
    c.case_matched = false;
    c.case_problem.clear();
    std::visit(Binder{c}, s.body);
    if (s.use == 0 && !c.case_matched && !c.case_problem.empty() && acts(s.body)) c.refuse(c.case_problem);
    if (!row && c.demands_left()) c.refuse("'where' speaks of an open value at an index that has no value here.");
  }
  settle_axis_choices(c);
  report_idle_values(c);
  check_decisions(c);
  finish_variables(d);
  report_impossible_words(c);
  d.complete = is_complete(d);
  std::stable_sort(result.diagnostics.begin(), result.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
  c.finish_messages();
  result.value = std::move(d);
  return result;
}

Result<InputSizes> model_sizes(const Plan& plan, const std::vector<InputDimension>& inputs, const OpenValues& values) {
  ModelInfo model;
  model.inputs = inputs;
  Result<Plan> expanded = expand_statements(plan);
  Result<InputSizes> result;
  Decisions d = prepared(with_values(*expanded.value, values), model);
  std::vector<Diagnostic> unused;  // bind will say what is wrong with the other statements
  Context c(model, values, d, unused);
  c.written = &*expanded.value;
  c.opened = open_names(*expanded.value);
  for (c.statement = 0; c.statement < static_cast<int>(d.plan.statements.size()); ++c.statement) {
    look_at_stop();
    const StatementBody& body = c.current().body;
    const std::size_t before = unused.size();
    if (const auto* let = std::get_if<LetStatement>(&body)) {
      if (!let->function && std::holds_alternative<Expression>(let->value)) bind_let(c, *let);
    } else if (const auto* devices = std::get_if<DevicesStatement>(&body)) {
      bind_devices(c, *devices);
    } else if (const auto* axis = std::get_if<AxisStatement>(&body)) {
      bind_axis(c, *axis);
    } else if (const auto* s = std::get_if<ModelStatement>(&body)) {
      bind_model(c, *s);
      result.diagnostics.insert(result.diagnostics.end(), unused.begin() + static_cast<std::ptrdiff_t>(before),
                                unused.end());
    }
  }
  result.value = std::move(d.input_sizes);
  return result;
}

}  // namespace planscope::plan
