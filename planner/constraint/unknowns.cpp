#include "planner/constraint/unknowns.h"

#include <algorithm>
#include <set>
#include <variant>

namespace planscope::constraint {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
constexpr std::int64_t kLargestAxis = 1 << 20;
constexpr std::int64_t kLargestTried = 1 << 12;  // of what nothing bounds
constexpr std::size_t kMostCases = 1 << 12;      // of sizes that divide together

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t i = 1; i * i <= n; ++i) {
    if (n % i != 0) continue;
    low.push_back(i);
    if (i != n / i) high.push_back(n / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// `?t` alone, as the size of an axis.
const std::string* plain_open(const std::optional<plan::Expression>& e) {
  return e && e->kind == plan::Expression::Kind::open && e->operands.empty() ? &e->text : nullptr;
}

int line_of(const plan::Decisions& d, int statement) {
  return statement < 0 ? 0 : d.plan.statements[at(statement)].line;
}

// The numbers of `tensor=2|4`.
void take(const std::vector<plan::AxisSub>& axes, const std::string& name, std::vector<std::int64_t>& out) {
  for (const plan::AxisSub& a : axes)
    if (a.axis == name && a.sub.alternatives.size() > 1)
      for (const plan::Expression& e : a.sub.alternatives)
        if (const plan::Number n =
                plan::evaluate(e, [](const plan::Expression&) { return plan::Number{0, plan::EvaluationError{}}; });
            n.ok())
          out.push_back(n.value);
}
template <class T>
void take_alternatives(const T&, const std::string&, std::vector<std::int64_t>&) {}
void take_alternatives(const plan::DevicesStatement& s, const std::string& n, std::vector<std::int64_t>& out) {
  take(s.axes, n, out);
}
void take_alternatives(const plan::GridStatement& s, const std::string& n, std::vector<std::int64_t>& out) {
  take(s.axes, n, out);
}
void take_alternatives(const plan::AxisStatement& s, const std::string& n, std::vector<std::int64_t>& out) {
  take({{s.name, s.size}}, n, out);
}

bool only_in_rows(const plan::Decisions& d, const plan::OpenVariable& v) {
  return std::all_of(v.statements.begin(), v.statements.end(), [&](int s) {
    const plan::StatementBody& body = d.plan.statements[at(s)].body;
    return std::holds_alternative<plan::RequireStatement>(body) || std::holds_alternative<plan::ForbidStatement>(body);
  });
}

// Only rows mention it, while other lines wait for values: one of them may bring it.
bool may_come_later(const plan::Decisions& d, const plan::OpenVariable& v) {
  return !d.deferred.empty() && only_in_rows(d, v);
}

}  // namespace

Unknowns::Unknowns(const plan::Decisions& d, const plan::ModelInfo& model, const Judge& judge, TrackedSolver& solver)
    : decisions_(d), judge_(judge), solver_(solver) {
  const bool all_come = std::all_of(d.variables.begin(), d.variables.end(),
                                    [&](const plan::OpenVariable& v) { return may_come_later(d, v); });
  for (const plan::OpenVariable& v : d.variables)
    if (all_come || !may_come_later(d, v)) variables_.emplace(v.name, solver.integer("?" + v.name));
  for (const plan::OpenVariable& v : d.variables)
    for (const std::string& word : v.words) number(word);
  for (const plan::GridInfo& g : d.grids) number(g.name);
  for (const plan::ConditionRow& row : d.conditions)
    plan::for_each(row.condition, [&](const plan::Expression& e) {
      if (e.kind == plan::Expression::Kind::name) number(e.text);
    });
  for (const plan::OpenVariable& v : d.variables)
    if (variables_.contains(v.name)) add_domain(v);
  for (const plan::PlaceInfo& p : d.places)
    if (p.variable >= 0) add_places(d.variables[at(p.variable)]);
  for (const plan::GridInfo& g : d.grids) add_grid(g);
  for (const plan::AxisInfo& a : d.axes)
    if (const std::string* name = plain_open(a.open_size))
      solver.add({}, variables_.at(*name) >= 1 && variables_.at(*name) <= solver.context().int_val(kLargestAxis));
  for (const plan::OpenVariable& v : d.variables)
    if (!only_in_rows(d, v)) means_something_.insert(v.name);
  for (const plan::ConditionRow& row : d.conditions)
    if (const auto term = to_term(row.condition, variables_, words_, solver.context()))
      solver.add({line_of(d, row.statement)}, *term);
    else
      plan::for_each(row.condition, [&](const plan::Expression& e) {
        if (e.kind == plan::Expression::Kind::open) means_something_.insert(e.text);
      });
  for (const int s : d.deferred)
    if (const auto* sizes = std::get_if<plan::ModelStatement>(&d.plan.statements[at(s)].body))
      for (const plan::AxisSub& a : sizes->sizes)
        for (const plan::Expression& e : a.sub.alternatives)
          plan::for_each(e, [&](const plan::Expression& part) {
            if (part.kind == plan::Expression::Kind::open) sizing_.insert(part.text);
          });
  if (sizing_.empty()) add_divisibility(model, solver.context().bool_val(false));
}

void Unknowns::add_sizes(const plan::OpenValues& values, const plan::ModelInfo& model) {
  const bool alike = model.operators.size() == at(decisions_.operator_count);
  if (sizing_.empty() || !alike || !sized_.insert(sizing(values)).second) return;
  add_divisibility(model, other_sizes(values));
}

z3::expr Unknowns::other_sizes(const plan::OpenValues& values) const { return other_than(sizing(values)); }

plan::OpenValues Unknowns::sizing(const plan::OpenValues& values) const {
  plan::OpenValues out = values;
  std::erase_if(out, [&](const auto& value) { return !sizing_.contains(value.first); });
  return out;
}

plan::OpenValues Unknowns::values() const {
  plan::OpenValues out;
  for (const plan::OpenVariable& v : decisions_.variables) {
    if (!variables_.contains(v.name)) continue;
    const std::int64_t n = solver_.value(variables_.at(v.name));
    if (n >= 0)
      out[v.name] = n;
    else
      out[v.name] = spelled_[static_cast<std::size_t>(-n - 1)];
  }
  return out;
}

z3::expr Unknowns::other_than(const plan::OpenValues& values) const {
  z3::expr_vector any(solver_.context());
  for (const auto& [name, value] : values)
    if (const auto other = other_than(name, value)) any.push_back(*other);
  return z3::mk_or(any);
}

std::optional<z3::expr> Unknowns::other_than(const std::string& name, const plan::OpenValue& value) const {
  if (!means_something_.contains(name) || !variables_.contains(name)) return std::nullopt;
  const auto* word = std::get_if<std::string>(&value);
  const std::int64_t number = word ? words_.at(*word) : std::get<std::int64_t>(value);
  return variables_.at(name) != solver_.context().int_val(number);
}

void Unknowns::number(const std::string& word) {
  if (words_.try_emplace(word, -static_cast<std::int64_t>(spelled_.size()) - 1).second) spelled_.push_back(word);
}

void Unknowns::add_domain(const plan::OpenVariable& v) {
  const z3::expr& x = variables_.at(v.name);
  if (is_place(v)) return;
  if (!v.words.empty()) {
    std::vector<std::int64_t> numbers;
    for (const std::string& word : v.words) numbers.push_back(words_.at(word));
    add_set({}, x, numbers);
    return;
  }
  std::vector<std::int64_t> alternatives;  // `axis mb=4|8`
  for (int s : v.statements)
    std::visit([&](const auto& body) { take_alternatives(body, v.name, alternatives); },
               decisions_.plan.statements[at(s)].body);
  if (!alternatives.empty())
    add_set({}, x, alternatives);
  else
    add_range(v);
}

// What nothing but rows bounds: so far it is tried. (A part of a cut is bounded by what is cut, the axis of a grid by devices.)
void Unknowns::add_range(const plan::OpenVariable& v) {
  const auto sizes = [&](const auto& axis) {
    const std::string* name = plain_open(axis.open_size);
    return name && *name == v.name;
  };
  const auto has = [&](const plan::GridInfo& g) { return std::any_of(g.axes.begin(), g.axes.end(), sizes); };
  if (std::any_of(decisions_.grids.begin(), decisions_.grids.end(), has) ||
      std::any_of(decisions_.axes.begin(), decisions_.axes.end(), sizes))
    return;
  for (const plan::ConditionRow& row : decisions_.conditions) {
    if (!std::holds_alternative<plan::LetStatement>(decisions_.plan.statements[at(row.statement)].body)) continue;
    bool named = false;
    plan::for_each(row.condition, [&](const plan::Expression& e) {
      named = named || (e.kind == plan::Expression::Kind::open && e.text == v.name);
    });
    if (named) return;
  }
  const z3::expr& x = variables_.at(v.name);
  const auto words = static_cast<std::int64_t>(spelled_.size());  // -1, -2, …
  solver_.add({kUntried}, x >= solver_.context().int_val(-words) && x <= solver_.context().int_val(kLargestTried));
  ranged_ = true;
}

// `assign X to ?d`: a device, or one of the plan's grids. There are more places than these.
void Unknowns::add_places(const plan::OpenVariable& v) {
  const std::int64_t count = decisions_.device_count > 0 ? decisions_.device_count : judge_.device_count;
  const z3::expr& x = variables_.at(v.name);
  z3::expr any = x >= 0 && x < solver_.context().int_val(std::max<std::int64_t>(count, 1));
  for (const plan::GridInfo& g : decisions_.grids)
    if (g.statement >= 0 || &g == &decisions_.grids[0]) any = any || x == solver_.context().int_val(words_.at(g.name));
  solver_.add({kUntried}, any);
  solver_.add({}, x > solver_.context().int_val(-static_cast<std::int64_t>(spelled_.size()) - 1));
}

bool Unknowns::is_place(const plan::OpenVariable& v) const {
  return std::any_of(decisions_.places.begin(), decisions_.places.end(), [&](const plan::PlaceInfo& p) {
    return p.variable >= 0 && decisions_.variables[at(p.variable)].name == v.name;
  });
}

void Unknowns::add_set(const std::vector<int>& lines, const z3::expr& x, const std::vector<std::int64_t>& values,
                       const std::optional<z3::expr>& otherwise) {
  z3::expr_vector any(solver_.context());
  if (otherwise) any.push_back(*otherwise);
  for (std::int64_t n : values) any.push_back(x == solver_.context().int_val(n));
  solver_.add(lines, z3::mk_or(any));
}

// 0: open.
std::int64_t Unknowns::grid_count(const plan::GridInfo& grid) const {
  return grid.devices.empty() ? decisions_.device_count : static_cast<std::int64_t>(grid.devices.size());
}

// The sizes of a grid's axes are factors of its number of devices.
void Unknowns::add_grid(const plan::GridInfo& grid) {
  const std::int64_t count = grid_count(grid);
  for (const plan::GridAxis& a : grid.axes) {
    const std::string* name = plain_open(a.open_size);
    if (!name) continue;
    const z3::expr& x = variables_.at(*name);
    if (count > 0)
      add_set({}, x, divisors(count));
    else
      solver_.add({}, x >= 1 && x <= solver_.context().int_val(std::max<std::int64_t>(1, judge_.device_count)));
  }
}

// As far as it can be said before values are known: the size of a free axis divides every factor that it splits into
// equal blocks, under the line that splits it. `otherwise`: where the model has other sizes.
void Unknowns::add_divisibility(const plan::ModelInfo& model, const z3::expr& otherwise) {
  for (std::size_t a = 0; a < decisions_.axes.size(); ++a) {
    const std::string* name = plain_open(decisions_.axes[a].open_size);
    if (!name) continue;
    std::set<std::pair<int, std::int64_t>> said;
    for (int op = 0; op < decisions_.operator_count; ++op) {
      const plan::Split& s = decisions_.split(op, static_cast<int>(a));
      if (s.statement < 0 || s.factor < 0 || decisions_.sizes.contains(s.statement) ||
          plan::may_be_split_anew(decisions_, s.statement, static_cast<int>(a)))
        continue;
      const std::int64_t size = model.operators[at(op)].factors[at(s.factor)].size;
      if (said.insert({s.statement, size}).second)
        add_set({line_of(decisions_, s.statement)}, variables_.at(*name), divisors(size), otherwise);
    }
  }
  for (const Product& p : products(decisions_, model)) add_product(p, otherwise);
}

// The open value that is the size of an axis of no grid, or of the first one; null: none alone.
const std::string* Unknowns::open_name(int axis) const {
  const plan::AxisInfo& info = decisions_.axes[at(axis)];
  const std::vector<plan::GridAxis>& axes = decisions_.grids[0].axes;
  const auto there = std::find_if(axes.begin(), axes.end(), [&](const plan::GridAxis& g) { return g.axis == axis; });
  const std::string* name = info.free             ? plain_open(info.open_size)
                            : there == axes.end() ? nullptr
                                                  : plain_open(there->open_size);
  return name && variables_.contains(*name) ? name : nullptr;
}

// All but the last of its axes by value: which values that leaves of the last.
void Unknowns::add_product(const Product& p, const z3::expr& otherwise) {
  struct Factor {
    const z3::expr* x;
    std::vector<std::int64_t> values;
  };
  std::vector<Factor> factors;
  std::size_t cases = 1;
  for (const int axis : p.axes) {
    const std::string* name = open_name(axis);
    const std::int64_t whole = decisions_.axes[at(axis)].free ? p.size : grid_count(decisions_.grids[0]);
    if (!name || whole == 0) continue;  // what is left has to divide as well
    factors.push_back({&variables_.at(*name), divisors(whole)});
    cases *= factors.back().values.size();
  }
  if (factors.empty() || cases > kMostCases) return;
  const Factor last = std::move(factors.back());
  factors.pop_back();
  const auto say = [&](const auto& self, std::size_t i, std::int64_t product, const z3::expr& others) -> void {
    if (i < factors.size()) {
      for (const std::int64_t v : factors[i].values)
        self(self, i + 1, product * v, others || *factors[i].x != solver_.context().int_val(v));
      return;
    }
    z3::expr any = others;
    bool all = true;
    for (const std::int64_t v : last.values) {
      const bool divides = p.size % product == 0 && p.size / product % v == 0;
      all = all && divides;
      if (divides) any = any || *last.x == solver_.context().int_val(v);
    }
    if (!all) solver_.add(p.lines, any);
  };
  say(say, 0, p.constant, otherwise);
}

}  // namespace planscope::constraint
