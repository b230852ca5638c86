#include "engine/plan/context.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/printer.h"
#include "engine/plan/rewrite.h"

namespace planscope::plan {

namespace {
constexpr std::size_t max_terms = 5'000;
constexpr std::size_t kLongestSubject = 200;

std::size_t terms(const Expression& e) {
  std::size_t n = 1;
  for (const Expression& o : e.operands) n += terms(o);
  return n;
}
}  // namespace

Context::Context(const ModelInfo& m, const OpenValues& v, Decisions& d, std::vector<Diagnostic>& diagnostics)
    : model(m),
      open_values(v),
      decisions(d),
      index(m.index ? m.index : std::make_shared<const ModelIndex>(model_index(m))),
      tree(index->tree),
      rows(d.plan.statements.size()),
      diagnostics_(diagnostics) {}

// --- diagnostics ------------------------------------------------------------------------------------------------------

void Context::report(Severity severity, int at_statement, std::string what, std::vector<int> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  const Statement& s = (written ? *written : decisions.plan).statements[static_cast<std::size_t>(at_statement)];
  const std::string& subject = subject_of(s, at_statement);
  if (!said_.insert({static_cast<int>(severity), s.line, subject, what, lines}).second) return;
  if (lines.empty() && ++counts_[static_cast<std::size_t>(severity)] > kMostMessages) return;
  Diagnostic d;
  d.severity = severity;
  d.file = decisions.plan.file;
  d.line = s.line;
  d.subject = subject;
  d.what = std::move(what);
  d.lines = std::move(lines);
  diagnostics_.push_back(std::move(d));
}

// Statements are long where they list thousands of tasks; most messages in a row are about the same one.
const std::string& Context::subject_of(const Statement& s, int at_statement) {
  if (at_statement == subject_statement_) return subject_;
  subject_statement_ = at_statement;
  return subject_ = s.from.empty() ? shortened(print_code(s), kLongestSubject) : s.from;
}

void Context::finish_messages() {
  for (std::size_t s = 0; s < counts_.size(); ++s) {
    if (counts_[s] <= kMostMessages) continue;
    diagnostics_.push_back(more_messages(static_cast<Severity>(s), counts_[s] - kMostMessages));
    diagnostics_.back().file = decisions.plan.file;
  }
}

void Context::refuse(std::string what) { report(Severity::error, statement, std::move(what)); }
void Context::remark(Severity severity, std::string what) { report(severity, statement, std::move(what)); }
void Context::unsupported(const std::string& what) { refuse(what + " is not supported yet."); }

void Context::defer() {
  if (decisions.deferred.empty() || decisions.deferred.back() != statement) decisions.deferred.push_back(statement);
}

// --- numbers ----------------------------------------------------------------------------------------------------------

std::optional<Expression> Context::resolve(const Expression& e, const std::vector<std::string>& hidden) {
  using K = Expression::Kind;
  switch (e.kind) {
    case K::number:
      return e;
    case K::name: {
      const auto it = lets.find(e.text);
      if (it == lets.end() || std::find(hidden.begin(), hidden.end(), e.text) != hidden.end()) return e;
      if (it->second.kind == LetValue::Kind::number) return it->second.number;
      refuse(
          "'" + e.text + "' is not a number" +
          (it->second.kind == LetValue::Kind::function ? "; it takes arguments." : "; |" + e.text + "| is its size."));
      return std::nullopt;
    }
    case K::open:
      return e.operands.empty() ? std::optional(e) : resolve_indexed(e);
    case K::bars:
      return resolve_bars(e);
    case K::call:
      return call(e, hidden);
    case K::group:
    case K::setting:
      refuse("'" + print(e) + "' is not a number.");
      return std::nullopt;
    default:
      break;
  }
  Expression out = e;
  for (Expression& o : out.operands) {
    auto r = resolve(o, hidden);
    if (!r) return std::nullopt;
    o = std::move(*r);
  }
  if (terms(out) <= max_terms) return out;
  refuse("the expression is too large.");
  return std::nullopt;
}

// `?x[2]`: its value if it is given, else an open value of that name. `?x[i]` of a variable stays.
std::optional<Expression> Context::resolve_indexed(const Expression& e) {
  std::vector<std::string> names;
  for (const Expression& i : e.operands) collect_variables(i, names);
  std::erase_if(names, [&](const std::string& n) { return lets.count(n) > 0; });
  if (!names.empty()) return e;
  const auto name = indexed_name(e);
  if (!name) return std::nullopt;
  if (const OpenValue* value = open_value(*name)) {
    if (const auto* n = std::get_if<std::int64_t>(value)) return make_number(*n);
    return make_name(std::get<std::string>(*value));
  }
  open_variable(*name);
  Expression open;
  open.kind = Expression::Kind::open;
  open.text = *name;
  return open;
}

std::optional<std::string> Context::indexed_name(const Expression& open, const Bindings& b) {
  if (open.operands.size() != 1) {
    refuse("'" + print(open) + "': an open value has one index.");
    return std::nullopt;
  }
  const auto i = number(open.operands[0], b);
  return i ? std::optional(open.text + "[" + std::to_string(*i) + "]") : std::nullopt;
}

const OpenValue* Context::open_value(const std::string& name) const {
  const auto it = open_values.find(name);
  return it == open_values.end() ? nullptr : &it->second;
}

int Context::open_variable(const std::string& name) {
  auto& all = decisions.variables;
  auto known = std::find_if(all.begin(), all.end(), [&](const OpenVariable& v) { return v.name == name; });
  if (known == all.end()) known = all.insert(all.end(), OpenVariable{name, {}, {}, {}, {}, {}});
  if (known->statements.empty() || known->statements.back() != statement) known->statements.push_back(statement);
  return static_cast<int>(known - all.begin());
}

// `G[1]`, the name of a grid.
std::optional<Expression> Context::grid_word(const Expression& e) {
  if (e.kind != Expression::Kind::group || e.groups[0].form != Group::Form::path) return std::nullopt;
  const Path& p = e.groups[0].path;
  if (p.names.size() != 1 || p.names[0].brackets.size() != 1 || p.names[0].brackets[0].size() != 1) return std::nullopt;
  const Index& index = p.names[0].brackets[0][0];
  if (index.kind != Index::Kind::one) return std::nullopt;
  const std::string prefix = p.names[0].glob + "[";
  const bool known = std::any_of(decisions.grids.begin(), decisions.grids.end(),
                                 [&](const GridInfo& g) { return g.name.starts_with(prefix); });
  const auto i = known ? number(*index.begin) : std::nullopt;
  return i ? std::optional(make_name(prefix + std::to_string(*i) + "]")) : std::nullopt;
}

std::optional<Condition> Context::resolve(const Condition& c) {
  Condition out = c;
  for (auto* list : {&out.terms, &out.set})
    for (Expression& e : *list) {
      if (auto grid = grid_word(e)) {
        e = std::move(*grid);
        continue;
      }
      auto r = resolve(e);
      if (!r) return std::nullopt;
      e = std::move(*r);
    }
  for (Condition& p : out.parts) {
    auto r = resolve(p);
    if (!r) return std::nullopt;
    p = std::move(*r);
  }
  return out;
}

std::optional<Expression> Context::call(const Expression& e, const std::vector<std::string>& hidden) {
  const auto it = lets.find(e.text);
  if (e.text == "memory") {
    refuse("memory(…) stands in rows of the form 'require memory(PLACE) <= SIZE'.");
    return std::nullopt;
  }
  if (it == lets.end() || it->second.kind != LetValue::Kind::function) {
    std::vector<std::string> names = {"memory"};
    for (const auto& [name, let] : lets)
      if (let.kind == LetValue::Kind::function) names.push_back(name);
    const std::string near = nearest(e.text, names);
    refuse("no function '" + e.text + "'." + (near.empty() ? "" : " Did you mean '" + near + "'?"));
    return std::nullopt;
  }
  const LetStatement& f = it->second.function;
  const auto* body = std::get_if<Expression>(&f.value);
  if (!body || f.parameters.size() != e.operands.size()) {
    refuse(body ? "'" + f.name + "' takes " + std::to_string(f.parameters.size()) +
                      (f.parameters.size() == 1 ? " argument, " : " arguments, ") + std::to_string(e.operands.size()) +
                      " given."
                : "'" + f.name + "(…)' names tasks, it is not a number.");
    return std::nullopt;
  }
  std::map<std::string, Expression> arguments;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    auto a = resolve(e.operands[i], hidden);
    if (!a) return std::nullopt;
    arguments[f.parameters[i]] = std::move(*a);
  }
  Expression out = substitute(*body, arguments);
  if (terms(out) <= max_terms) return out;
  refuse("the expression is too large.");
  return std::nullopt;
}

std::optional<Expression> Context::axis_expression(int a) {
  const AxisInfo& info = decisions.axes[static_cast<std::size_t>(a)];
  if (info.free) return info.open_size ? *info.open_size : make_number(info.size);
  std::optional<Expression> size;
  std::string first;
  for (const GridInfo& g : decisions.grids)
    for (const GridAxis& ga : g.axes) {
      if (ga.axis != a || (g.statement < 0 && &g != &decisions.grids[0])) continue;  // part of another one
      const Expression here = ga.open_size ? *ga.open_size : make_number(ga.size);
      if (size && !(*size == here)) {
        refuse("axis '" + info.name + "' has several sizes (" + first + ": " + print(*size) + ", " + g.name + ": " +
               print(here) + "); |" + info.name + "| needs one.");
        return std::nullopt;
      }
      if (!size) first = g.name;
      size = here;
    }
  return size;
}

std::optional<std::vector<int>> Context::device_set(const Expression& atom) {
  std::string name = atom.text;
  if (atom.kind == Expression::Kind::number) return std::vector<int>{static_cast<int>(atom.number)};  // a value of `?d`
  if (atom.kind == Expression::Kind::open) {
    const auto indexed = atom.operands.empty() ? std::optional(atom.text) : indexed_name(atom);
    const OpenValue* value = indexed ? open_value(*indexed) : nullptr;
    if (!value) {
      if (indexed) open_variable(*indexed), defer();
      return std::nullopt;
    }
    if (const auto* device = std::get_if<std::int64_t>(value)) return std::vector<int>{static_cast<int>(*device)};
    name = std::get<std::string>(*value);
  }
  if (atom.kind == Expression::Kind::group) {
    const Group& g = atom.groups[0];
    if (g.form != Group::Form::path || g.path.names.size() != 1 || g.path.names[0].brackets.size() != 1) return {};
    if (g.path.names[0].brackets[0].size() != 1 || !g.path.names[0].brackets[0][0].begin) return {};
    bool known = false;
    for (const GridInfo& grid : decisions.grids) known = known || grid.name.starts_with(g.path.names[0].glob + "[");
    if (!known) return std::nullopt;
    const auto i = number(*g.path.names[0].brackets[0][0].begin);
    if (!i) return std::nullopt;
    name = g.path.names[0].glob + "[" + std::to_string(*i) + "]";
  }
  const int g = grid(name);
  if (g < 0) return std::nullopt;
  return decisions.grids[static_cast<std::size_t>(g)].devices;
}

std::optional<Expression> Context::count_of(const Expression& atom) {
  if (atom.kind == Expression::Kind::open || atom.kind == Expression::Kind::number) {
    const auto devices = device_set(atom);
    return devices ? std::optional(make_number(static_cast<std::int64_t>(devices->size()))) : std::nullopt;
  }
  if (atom.kind == Expression::Kind::call) {
    Group g;
    g.form = Group::Form::call;
    g.name = atom.text;
    g.arguments = atom.operands;
    const auto list = unit_list(Units{{g}, {}});
    return list ? std::optional(make_number(static_cast<std::int64_t>(list->units.size()))) : std::nullopt;
  }
  if (atom.kind != Expression::Kind::name && atom.kind != Expression::Kind::group) {
    refuse("'" + print(atom) + "' is not a set.");
    return std::nullopt;
  }
  if (atom.kind == Expression::Kind::name) {
    const auto it = lets.find(atom.text);
    if (it != lets.end() && it->second.kind == LetValue::Kind::units) {
      const UnitList& list = it->second.list;
      return list.open_count ? *list.open_count : make_number(static_cast<std::int64_t>(list.units.size()));
    }
    if (it != lets.end() && it->second.kind == LetValue::Kind::axes) {
      Expression product = make_number(1);
      for (const std::string& name : it->second.axes) {
        auto size = axis_expression(axis(name));
        if (!size) return std::nullopt;
        product = folded(make_binary(Expression::Kind::multiply, std::move(product), std::move(*size)));
      }
      return product;
    }
    if (it != lets.end()) {
      refuse("'" + atom.text + "' is a number, not a set.");
      return std::nullopt;
    }
    if (const int a = axis(atom.text); a >= 0) return axis_expression(a);
    if (atom.text == "all" && decisions.device_count == 0) {
      defer();
      return std::nullopt;
    }
  }
  if (const auto devices = device_set(atom)) return make_number(static_cast<std::int64_t>(devices->size()));
  if (atom.kind == Expression::Kind::name && !tree.named.count(atom.text)) {
    std::vector<std::string> names;
    for (const AxisInfo& a : decisions.axes) names.push_back(a.name);
    for (const auto& [name, value] : lets) names.push_back(name);
    const std::string near = nearest(atom.text, names);
    refuse("'|" + atom.text + "|': no axis, grid or selection of that name." +
           (near.empty() ? "" : " Did you mean '|" + near + "|'?"));
    return std::nullopt;
  }
  Group g;
  if (atom.kind == Expression::Kind::group)
    g = atom.groups[0];
  else
    g.path.names.push_back({atom.text, {}});
  const auto list = unit_list(Units{{g}, {}});
  if (!list) return std::nullopt;
  return make_number(static_cast<std::int64_t>(list->units.size()));
}

std::optional<Expression> Context::resolve_bars(const Expression& e) {
  if (e.operands.size() == 1) return count_of(e.operands[0]);
  std::optional<std::set<int>> common;
  for (const Expression& atom : e.operands) {
    const auto devices = device_set(atom);
    if (!devices && atom.kind == Expression::Kind::open) return std::nullopt;  // deferred
    if (!devices) {
      refuse("'" + print(atom) + "' in '" + print(e) + "' is not a set of devices.");
      return std::nullopt;
    }
    const std::set<int> here(devices->begin(), devices->end());
    if (!common) {
      common = here;
      continue;
    }
    std::erase_if(*common, [&](int d) { return !here.count(d); });
  }
  return make_number(static_cast<std::int64_t>(common->size()));
}

std::optional<std::int64_t> Context::number(const Expression& e, const Bindings& b) {
  const auto resolved = resolve(mentions_open(e) ? substitute(e, b.expressions()) : e);
  if (!resolved) return std::nullopt;
  const Number n = value_of(*resolved, b.variables, b.values);
  if (n.ok()) return n.value;
  if (mentions_open(*resolved)) {
    defer();
    return std::nullopt;
  }
  switch (n.error->kind) {
    case EvaluationError::Kind::unknown:
      refuse("'" + n.error->text + "' has no value here.");
      break;
    case EvaluationError::Kind::zero_divisor:
      refuse("'" + print(e) + "' divides by zero.");
      break;
    case EvaluationError::Kind::overflow:
      refuse("'" + print(e) + "' does not fit in 64 bits.");
      break;
    case EvaluationError::Kind::unsupported:
      refuse("'" + print(e) + "' is not a number.");
      break;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Context::size_within(const Expression& e, const std::string& what, std::int64_t most) {
  const auto n = number(e);
  if (!n || (*n >= 1 && *n <= most)) return n;
  refuse(what + "=" + std::to_string(*n) + " is out of range (1 to " + std::to_string(most) + ").");
  return std::nullopt;
}

// --- names ------------------------------------------------------------------------------------------------------------

int Context::grid(std::string_view name) const {
  for (std::size_t i = 0; i < decisions.grids.size(); ++i)
    if (decisions.grids[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string Context::grid_list() const {
  std::vector<std::string> grids;
  for (const GridInfo& g : decisions.grids) {
    if (g.statement < 0 && grids.size() > 0) continue;  // implicit
    std::vector<std::string> names;
    for (const GridAxis& a : g.axes) names.push_back(decisions.axes[static_cast<std::size_t>(a.axis)].name);
    grids.push_back("grid " + g.name + (names.empty() ? " (no axes)" : " (" + join(names, ", ") + ")"));
  }
  return join(grids, ", ");
}

std::optional<std::vector<int>> Context::axes_named(const std::string& name) {
  const auto it = lets.find(name);
  std::vector<int> out;
  if (it != lets.end() && it->second.kind == LetValue::Kind::axes) {
    for (const std::string& a : it->second.axes) out.push_back(axis(a));
    return out;
  }
  if (const int a = axis(name); a >= 0) return std::vector<int>{a};
  std::vector<std::string> names;
  for (const AxisInfo& a : decisions.axes) names.push_back(a.name);
  const std::string near = nearest(name, names);
  refuse("no axis '" + name + "' in " + grid_list() + "." + (near.empty() ? "" : " Did you mean '" + near + "'?"));
  return std::nullopt;
}

// --- ids --------------------------------------------------------------------------------------------------------------

int Context::place_id(PlaceInfo p) {
  for (std::size_t i = decisions.places.size(); i-- > 0;)
    if (decisions.places[i] == p) return static_cast<int>(i);
  decisions.places.push_back(std::move(p));
  return static_cast<int>(decisions.places.size()) - 1;
}

int Context::unit_id(const Unit& u) {
  std::vector<int>& same = units_by_name_[u.name];
  for (const int id : same)
    if (decisions.units[static_cast<std::size_t>(id)].operators == u.operators) return id;
  const int id = static_cast<int>(decisions.units.size());
  decisions.units.push_back({u.name, u.operators});
  same.push_back(id);
  return id;
}

std::vector<int> Context::list_ids(UnitList& list) {
  if (list.pool.empty())
    for (const Unit& u : list.units) list.pool.push_back(unit_id(u));
  return list.pool;
}

}  // namespace planscope::plan
