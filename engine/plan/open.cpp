// What is open in a plan, and plans with values in place of it.
#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/bind.h"
#include "engine/plan/division.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"
#include "engine/plan/trans.h"
#include "engine/plan/within.h"

namespace planscope::plan {

namespace {
bool is_factor(const Expression& e, const std::string& name) {
  if (e.kind == Expression::Kind::open) return e.operands.empty() && e.text == name;
  return e.kind == Expression::Kind::multiply && (is_factor(e.operands[0], name) || is_factor(e.operands[1], name));
}

// Whether a condition leaves a value of a variable that is a factor of a product: one of `?p * ?d = 64` divides 64.
bool may_be(std::int64_t value, const std::string& name, const Condition& c) {
  if (c.kind == Condition::Kind::both)
    return std::all_of(c.parts.begin(), c.parts.end(), [&](const Condition& part) { return may_be(value, name, part); });
  if (c.kind != Condition::Kind::compare) return true;
  const auto unknown = [](const Expression& e) { return Number{0, EvaluationError{EvaluationError::Kind::unknown, e.text}}; };
  for (std::size_t k = 0; k < c.relations.size(); ++k) {
    if (c.relations[k] != Condition::Relation::equal) continue;
    for (const bool left : {false, true}) {
      const Expression &product = c.terms[left ? k : k + 1], &whole = c.terms[left ? k + 1 : k];
      if (!is_factor(product, name)) continue;
      const Number n = evaluate(whole, unknown);
      if (n.ok() && (value == 0 ? n.value != 0 : n.value % value != 0)) return false;
    }
  }
  return true;
}

OpenChoice of_variable(const Decisions& d, int i) {
  const OpenVariable& v = d.variables[static_cast<std::size_t>(i)];
  OpenChoice o;
  o.kind = OpenChoice::Kind::variable;
  o.statement = v.statements.front();
  o.variable = i;
  o.choices = v.words;
  for (const std::int64_t n : v.values) o.choices.push_back(std::to_string(n));
  if (o.choices.empty() && v.at_least && v.at_most && *v.at_most - *v.at_least < 256)
    for (std::int64_t n = *v.at_least; n <= *v.at_most; ++n) o.choices.push_back(std::to_string(n));
  if (v.words.empty())
    std::erase_if(o.choices, [&](const std::string& n) {
      return std::any_of(d.conditions.begin(), d.conditions.end(),
                         [&](const ConditionRow& row) { return !may_be(std::stoll(n), v.name, row.condition); });
    });
  return o;
}

// Without those that the axis alone rules out, as it does not divide their size; all, where it rules out all.
std::vector<std::string> that_divide(const Alternatives& a, const std::vector<FactorInfo>& factors, std::int64_t blocks) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < a.words.size(); ++i) {
    const int factor = a.factors[i];
    if (factor >= 0) {
      const FactorInfo& f = factors[static_cast<std::size_t>(factor)];
      if (undivided(f, find_part(f, a.words[i]), blocks)) continue;
    }
    out.push_back(a.words[i]);
  }
  return out.empty() ? a.words : out;
}

// The blocks into which an axis cuts whatever factor an operator takes; 1: that is not certain, or they need not be equal.
std::int64_t certain_blocks(const Decisions& d, const Split& s, int op, int axis) {
  if (!d.deferred.empty() || may_be_fixed(d, axis) || d.sizes.count(s.statement) > 0) return 1;
  const int place = d.operator_place[static_cast<std::size_t>(op)];
  const PlaceInfo everywhere;
  const PlaceInfo& at = place < 0 ? everywhere : d.places[static_cast<std::size_t>(place)];
  return at.open() ? 1 : std::max<std::int64_t>(1, axis_size(d, at, axis).value_or(1));
}

void add_splits(const Decisions& d, const ModelInfo& model, Phase phase, int rows, std::vector<OpenChoice>& out) {
  const std::vector<Split>& table = d.splits(phase);
  for (int row = 0; row < rows; ++row)
    for (int axis = 0; axis < static_cast<int>(d.axes.size()); ++axis) {
      const Split& s = table[d.cell(row, axis)];
      if (phase == Phase::forward ? !open_split(d, row, axis) : s.factor != kOpen) continue;
      const Alternatives& a = d.alternatives[static_cast<std::size_t>(s.alternatives)];
      if (a.variable >= 0) continue;  // the variable is the choice
      OpenChoice o;
      o.kind = OpenChoice::Kind::split;
      o.statement = s.statement;
      o.phase = phase;
      o.row = row;
      o.axis = axis;
      o.choices = a.words;
      if (phase == Phase::forward && row < static_cast<int>(model.operators.size()))
        if (const std::int64_t blocks = certain_blocks(d, s, row, axis); blocks > 1)
          o.choices = that_divide(a, model.operators[static_cast<std::size_t>(row)].factors, blocks);
      out.push_back(std::move(o));
    }
}
}  // namespace

std::string place_text(const Decisions& d, const PlaceInfo& p) {
  // Part of a grid is named `all pipe=[0:2]`: behind the grid's name stand its shorter axes.
  const std::string& name = d.grids[static_cast<std::size_t>(p.grid)].name;
  std::vector<std::string> fixed = split(name, ' ');
  std::erase_if(fixed, [](const std::string& word) { return word.find('=') == word.npos; });
  for (const auto& f : p.fixed)
    fixed.push_back(d.axes[static_cast<std::size_t>(f.axis)].name + "=" + std::to_string(f.value));
  return fixed.empty() ? name : join(fixed, ", ");
}

std::vector<OpenChoice> open_choices(const Decisions& d, const ModelInfo& model) {
  std::vector<OpenChoice> out;
  for (int i = 0; i < static_cast<int>(d.variables.size()); ++i) out.push_back(of_variable(d, i));
  add_splits(d, model, Phase::forward, d.operator_count, out);
  for (const Phase phase : {Phase::fetch, Phase::grad, Phase::update}) add_splits(d, model, phase, d.parameter_count, out);
  for (int op = 0; op < d.operator_count; ++op)
    for (const int p : places_of(d, op)) {
      const PlaceInfo& place = d.places[static_cast<std::size_t>(p)];
      if (place.alternatives.empty()) continue;
      OpenChoice o;
      o.kind = OpenChoice::Kind::place;
      o.statement = place.statement;
      o.row = op;
      o.place = p;
      for (const PlaceInfo& a : place.alternatives) o.choices.push_back(place_text(d, a));
      out.push_back(std::move(o));
    }
  const std::set<int> live(d.operator_storage.begin(), d.operator_storage.end());
  for (int a = 0; a < static_cast<int>(d.algorithms.size()); ++a) {
    const AlgorithmUnit& u = d.algorithms[static_cast<std::size_t>(a)];
    if (u.alternatives.size() < 2 || !live.count(a)) continue;
    OpenChoice o;
    o.kind = OpenChoice::Kind::algorithm;
    o.statement = u.statement;
    o.row = a;
    for (const Algorithm x : u.alternatives) o.choices.emplace_back(to_string(x));
    out.push_back(std::move(o));
  }
  if (d.open_order >= 0) {
    OpenChoice o;
    o.kind = OpenChoice::Kind::order;
    o.statement = d.open_order;
    out.push_back(std::move(o));
  }
  return out;
}

std::string open_summary(const Decisions& d, std::string_view verb) {
  if (d.complete) return {};
  std::vector<std::string> open;
  const auto line = [&](int statement) {
    return " (line " + std::to_string(d.plan.statements[static_cast<std::size_t>(statement)].line) + ")";
  };
  for (const OpenVariable& v : d.variables) open.push_back("?" + v.name + line(v.statements.front()));
  std::map<int, std::string> statements;
  for (const OpenChoice& o : open_choices(d, {})) {
    if (o.kind == OpenChoice::Kind::split || o.kind == OpenChoice::Kind::algorithm) statements[o.statement] = "trans";
    if (o.kind == OpenChoice::Kind::place) statements[o.statement] = "assign";
    if (o.kind == OpenChoice::Kind::order) statements[o.statement] = "order";
  }
  for (const auto& [statement, word] : statements) open.push_back(word + line(statement));
  if (open.empty())
    for (const int s : d.deferred)
      open.push_back("line " + std::to_string(d.plan.statements[static_cast<std::size_t>(s)].line));
  return std::string(verb) + " needs a complete plan; open: " + join(open, ", ") + ". 'planscope plan' fills them.";
}

namespace {
std::optional<std::int64_t> integer(const OpenValues& values, const std::string& name) {
  const auto it = values.find(name);
  const auto* n = it == values.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return n ? std::optional(*n) : std::nullopt;
}

void settle(const OpenValues& values, AxisSub& a) {
  if (a.sub.alternatives.size() < 2) return;
  const auto n = integer(values, a.axis);
  auto& all = a.sub.alternatives;
  if (n && std::find(all.begin(), all.end(), make_number(*n)) != all.end()) all = {make_number(*n)};
}

void settle(const OpenValues& values, Place& p) {
  const auto given = p.form == Place::Form::open && p.subscript.empty() ? values.find(p.name) : values.end();
  if (given == values.end()) return;
  if (const auto* grid = std::get_if<std::string>(&given->second)) {
    p.form = Place::Form::name;
    p.name = *grid;
    return;
  }
  const std::optional<std::int64_t> n = std::get<std::int64_t>(given->second);
  Place device;
  device.form = Place::Form::devices;
  device.devices.push_back(Index{Index::Kind::one, make_number(*n), std::nullopt, std::nullopt});
  p = std::move(device);
}

struct Settle {
  const OpenValues& values;
  template <class T>
  void operator()(T&) const {}
  void operator()(DevicesStatement& s) const {
    for (AxisSub& a : s.axes) settle(values, a);
  }
  void operator()(GridStatement& s) const {
    for (AxisSub& a : s.axes) settle(values, a);
    settle(values, s.place);
  }
  void operator()(AxisStatement& s) const {
    AxisSub a{s.name, std::move(s.size)};
    settle(values, a);
    s.size = std::move(a.sub);
  }
  void operator()(AssignStatement& s) const {
    for (Place& p : s.places) settle(values, p);
  }
  void operator()(ForbidStatement& s) const {
    if (auto* a = std::get_if<AssignStatement>(&s.primitive)) (*this)(*a);
  }
};
}  // namespace

Plan with_values(const Plan& plan, const OpenValues& values) {
  const Rewrite r{[&](const Expression& e) -> std::optional<Expression> {
                    if (e.kind != Expression::Kind::open || !e.operands.empty()) return std::nullopt;
                    const auto it = values.find(e.text);
                    if (it == values.end()) return std::nullopt;
                    if (const auto* word = std::get_if<std::string>(&it->second)) return make_name(*word);
                    return make_number(std::get<std::int64_t>(it->second));
                  },
                  [&](const std::string& name, NameUse use) {
                    if (use != NameUse::word || name[0] != '?') return name;
                    const auto it = values.find(name.substr(1));
                    const auto* word = it == values.end() ? nullptr : std::get_if<std::string>(&it->second);
                    return word ? *word : name;
                  }};
  Plan out;
  out.file = plan.file;
  for (const Statement& s : plan.statements) {
    Statement made = rewrite(s, r);
    std::visit(Settle{values}, made.body);
    if (auto* t = std::get_if<TemplateStatement>(&made.body)) {
      Plan body;
      body.statements = std::move(t->body);
      t->body = with_values(body, values).statements;
    }
    out.statements.push_back(std::move(made));
  }
  return out;
}

namespace {
// `name[2]`, of an expression whose only index is a number.
std::optional<std::string> indexed(const std::string& name, const std::optional<Expression>& index) {
  const bool plain = index && index->kind == Expression::Kind::number && index->text.empty();
  return plain ? std::optional(name + "[" + std::to_string(index->number) + "]") : std::nullopt;
}

// `?d`, `?d[2]` and `|mb|` as the name of an open value.
std::optional<std::string> open_name(const Expression& e) {
  if (e.kind == Expression::Kind::open && e.operands.empty()) return e.text;
  if (e.kind == Expression::Kind::open && e.operands.size() == 1) return indexed(e.text, e.operands[0]);
  const bool size = e.kind == Expression::Kind::bars && e.operands.size() == 1;
  return size && e.operands[0].kind == Expression::Kind::name ? std::optional(e.operands[0].text) : std::nullopt;
}

// `G[0]`, `front`, as the name of a grid of the plan.
std::optional<std::string> grid_name(const Plan& plan, const Expression& e) {
  std::optional<std::string> name;
  if (e.kind == Expression::Kind::name) name = e.text;
  if (e.kind == Expression::Kind::group && e.groups[0].path.names.size() == 1) {
    const Name& n = e.groups[0].path.names[0];
    if (n.brackets.size() == 1 && n.brackets[0].size() == 1 && n.brackets[0][0].kind == Index::Kind::one)
      name = indexed(n.glob, n.brackets[0][0].begin);
  }
  if (!name || *name == "all") return name;
  for (const Statement& s : plan.statements)
    if (const auto* g = std::get_if<GridStatement>(&s.body))
      if ((g->index ? indexed(g->name, g->index) : g->name) == name) return name;
  return std::nullopt;
}
}  // namespace

std::optional<std::pair<std::string, OpenValue>> given_value(const Plan& plan, const Statement& s) {
  const auto* row = std::get_if<RequireStatement>(&s.body);
  if (!row || !s.where.empty() || row->condition.terms.empty()) return std::nullopt;
  const Condition& c = row->condition;
  const auto name = open_name(c.terms[0]);
  const bool equal =
      c.kind == Condition::Kind::compare && c.relations.size() == 1 && c.relations[0] == Condition::Relation::equal;
  const bool member = c.kind == Condition::Kind::in && c.set.size() == 1;
  if (!name || !(equal || member)) return std::nullopt;
  const Expression& value = equal ? c.terms[1] : c.set[0];
  if (value.kind == Expression::Kind::number) return std::pair(*name, OpenValue(value.number));
  if (member && value.kind == Expression::Kind::name) return std::pair(*name, OpenValue(value.text));
  if (const auto grid = equal ? grid_name(plan, value) : std::nullopt) return std::pair(*name, OpenValue(*grid));
  return std::nullopt;
}

OpenValues given_values(const Plan& plan) {
  OpenValues out;
  for (const Statement& s : plan.statements)
    if (auto given = given_value(plan, s)) out.insert(std::move(*given));
  return out;
}

Plan without_automatic(const Plan& plan) {
  Plan out = plan;
  std::erase_if(out.statements, [](const Statement& s) { return s.automatic; });
  return out;
}

}  // namespace planscope::plan
