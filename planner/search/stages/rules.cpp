#include "planner/search/stages/rules.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>

#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::stages {
namespace {

using plan::Condition;
using plan::Expression;

bool counts(const constraint::Rows& rows, int row) { return std::binary_search(rows.begin(), rows.end(), row); }

// `|tensor|`: the name; else nothing.
const std::string* axis_size_of(const Expression& e) {
  if (e.kind != Expression::Kind::bars || e.operands.size() != 1) return nullptr;
  const Expression& inner = e.operands[0];
  if (inner.kind != Expression::Kind::name) return nullptr;
  for (const char* name : {"pipe", "data", "tensor", "mb"})
    if (inner.text == name) return &inner.text;
  return nullptr;
}

plan::LeafValue sizes_of(const Configuration& c) {
  return [&c](const Expression& e) -> plan::Number {
    const std::string* name = axis_size_of(e);
    if (!name) return {0, plan::EvaluationError{}};
    return {*name == "pipe" ? c.pipe : *name == "data" ? c.data : *name == "tensor" ? c.tensor : c.micro_batches, {}};
  };
}

// Whether a condition speaks of sizes of axes and of nothing else.
bool speaks_of_sizes(const Condition& c) {
  int names = 0, sizes = 0;
  bool known = true;
  plan::for_each(c, [&](const Expression& e) {
    using K = Expression::Kind;
    known = known && e.kind != K::open && e.kind != K::call && e.kind != K::group && e.kind != K::setting;
    names += e.kind == K::name ? 1 : 0;
    sizes += axis_size_of(e) ? 1 : 0;
  });
  return known && names == sizes;
}

bool speaks_of_memory(const Condition& c) {
  bool out = false;
  plan::for_each(c,
                 [&](const Expression& e) { out = out || (e.kind == Expression::Kind::call && e.text == "memory"); });
  return out;
}

// `memory(all) <= 40GiB`, either way round.
std::optional<std::int64_t> memory_of_all(const Condition& c) {
  if (c.kind != Condition::Kind::compare || c.relations.size() != 1) return std::nullopt;
  using R = Condition::Relation;
  const auto is_all = [](const Expression& e) {
    return e.kind == Expression::Kind::call && e.text == "memory" && e.operands.size() == 1 &&
           e.operands[0].kind == Expression::Kind::name && e.operands[0].text == "all";
  };
  const R r = c.relations[0];
  const bool left = is_all(c.terms[0]) && (r == R::at_most || r == R::less);
  const bool right = is_all(c.terms[1]) && (r == R::at_least || r == R::greater);
  if (left == right) return std::nullopt;
  const plan::Number n =
      plan::evaluate(c.terms[left ? 1 : 0], [](const Expression&) { return plan::Number{0, plan::EvaluationError{}}; });
  if (!n.ok()) return std::nullopt;
  return n.value - (r == R::less || r == R::greater ? 1 : 0);
}

// `forbid trans X recompute` or `offload` that means the same for every value of what is open.
bool forbids_storage(const plan::Statement& s) {
  const auto* forbid = std::get_if<plan::ForbidStatement>(&s.body);
  const auto* algorithm = forbid ? std::get_if<plan::AlgorithmStatement>(&forbid->primitive) : nullptr;
  if (!algorithm || !s.where.empty()) return false;
  const auto& words = algorithm->algorithm.words;
  return std::any_of(words.begin(), words.end(), [](const std::string& w) {
    return w == to_string(plan::Algorithm::recompute) || w == to_string(plan::Algorithm::offload);
  });
}

// Whether code says the same in all plans: nothing in it is open, a size, or one of these names.
bool says_always(const std::string& code, const std::set<std::string>& names) {
  std::string word;
  char before = ' ';  // the word
  for (const char c : code + " ") {
    if (c == '?' || c == '|') return false;
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (!word.empty() && before != '.' && names.contains(word)) return false;
    word.clear();
    before = c;
  }
  return true;
}

// Whether a module is one of the blocks that are in pieces, or inside one.
bool in_block(const ModelShape& m, int layer, const std::string& module) {
  const std::string& unit = m.units[static_cast<std::size_t>(layer)];
  return std::any_of(m.blocks.begin(), m.blocks.end(), [&](const std::string& block) {
    const std::string path = unit + "." + block;
    return module.starts_with(path) && (module.size() == path.size() || module[path.size()] == '.');
  });
}

}  // namespace

Rules::Rules(const std::vector<plan::Plan>& rows)
    : joined_(constraint::join_lines({}, rows)), all_(constraint::rows_of(joined_)) {
  statements_ = constraint::order_rows_of(joined_);
  for (const plan::Statement& s : joined_.bound.statements)
    if (constraint::can_drop(joined_, s.line)) {
      statements_.push_back(s.line);
      all_.push_back(s.line);
    }
  std::sort(statements_.begin(), statements_.end());
  std::sort(all_.begin(), all_.end());
  std::set<std::string> differ = {"S", "R", "O"};  // what lets of plans, and of these rows, stand for (configuration.h)
  for (const plan::Statement& s : joined_.bound.statements) {
    const bool always = s.where.empty() && says_always(plan::print_code(s), differ);
    if (const auto* let = std::get_if<plan::LetStatement>(&s.body); let && !always) differ.insert(let->name);
    const auto* forbid = std::get_if<plan::ForbidStatement>(&s.body);
    if (always && forbid && std::holds_alternative<plan::TransStatement>(forbid->primitive)) always_.push_back(s.line);
  }
  std::sort(always_.begin(), always_.end());
  for (const plan::Statement& s : joined_.bound.statements) {
    const auto* require = std::get_if<plan::RequireStatement>(&s.body);
    if (!require) continue;
    if (!s.where.empty()) {
      memory_of_some_ = memory_of_some_ || speaks_of_memory(require->condition);
      continue;
    }
    if (const auto bytes = memory_of_all(require->condition))
      memory_.push_back({s.line, *bytes});
    else if (speaks_of_sizes(require->condition))
      sizes_.push_back({s.line, require->condition});
    else
      memory_of_some_ = memory_of_some_ || speaks_of_memory(require->condition);
  }
}

namespace {

// Whatever a row may speak of, with axes of this size.
std::string head_of(const ModelShape& m, int size) {
  const std::string n = std::to_string(size), stages = std::to_string(std::min(size, std::max(1, m.unit_count())));
  std::string out = "devices " + std::to_string(size * size * std::stoi(stages)) + " as pipe=" + stages + " data=" + n +
                    " tensor=" + n + "\naxis mb=" + n + "\nmodel " + m.batch + "=" + std::to_string(size * size) + "\n";
  if (!m.layers.empty()) out += "let L = " + m.selection() + "\nlet S = cut L into |pipe|\n";
  return out;
}

}  // namespace

std::optional<Diagnostic> Rules::told(const Diagnostic& d) const {
  const int row = row_of(d.line);
  if (row == 0) return std::nullopt;
  Diagnostic out = d;
  out.file = line(row).file;
  out.line = line(row).line;
  return out;
}

std::vector<Diagnostic> Rules::wrong(const plan::ModelInfo& model, const ModelShape& m) {
  // Of all rows but `left_out`, what is said of them by themselves with axes of one size, and of another.
  const auto bound = [&](int size, const std::set<int>& left_out) -> std::vector<Diagnostic> {
    const Result<plan::Plan> script = plan::parse_plan(head_of(m, size), "");
    if (!script.ok()) return {};
    Result<plan::Decisions> d = plan::bind(joined(*script, left_out), model);
    std::vector<Diagnostic> out;
    for (const Diagnostic& x : d.diagnostics)
      if (x.severity == Severity::error && row_of(x.line) > 0) out.push_back(x);
    if (!d.ok()) return out;
    for (const plan::OpenVariable& v : d->variables) {
      const auto row_at = [&](int statement) {
        return row_of(d->plan.statements[static_cast<std::size_t>(statement)].line);
      };
      if (!std::all_of(v.statements.begin(), v.statements.end(), [&](int at) {
            return std::binary_search(all_.begin(), all_.end(), row_at(at)) &&
                   !std::binary_search(statements_.begin(), statements_.end(), row_at(at));
          }))
        continue;
      out.push_back(
          error("no line has ?" + v.name + " to find",
                "rows can restrict what the plan has: of a plan from nothing |pipe|, |data|, |tensor|, |mb|, and "
                "what other rows leave open",
                ""));
      out.back().line = d->plan.statements[static_cast<std::size_t>(v.statements.front())].line;
    }
    leave_open_ = leave_open_ || !d->complete;
    return out;
  };
  std::vector<Diagnostic> out;
  std::set<int> suspects;
  for (const Diagnostic& d : bound(2, {})) suspects.insert(row_of(d.line));
  const auto add = [&](const Diagnostic& d) {
    const std::optional<Diagnostic> t = told(d);
    if (t && std::find(out.begin(), out.end(), *t) == out.end()) out.push_back(*t);
  };
  for (const plan::Statement& s : joined_.bound.statements) {
    if (std::holds_alternative<plan::ModelStatement>(s.body)) {
      Diagnostic sizes = error("the sizes of a plan from nothing are the model's", "its batch is --global-batch", "");
      sizes.line = s.line + kOwn;
      add(sizes);
    }
    const auto* order = std::get_if<plan::OrderStatement>(&s.body);
    if (order && order->open) {
      Diagnostic open = error("plans from nothing have an order: searched, or a template's",
                              "'order ?' is a line of a plan", "leave it out, or give a plan that holds the line");
      open.line = s.line + kOwn;
      add(open);
    }
    if (!suspects.contains(s.line)) continue;
    std::set<int> others;
    for (const plan::Statement& o : joined_.bound.statements)
      if (o.line != s.line && std::binary_search(all_.begin(), all_.end(), o.line)) others.insert(o.line);
    const std::vector<Diagnostic> small = bound(2, others), large = bound(4, others);
    for (const Diagnostic& d : small)
      if (std::find(large.begin(), large.end(), d) != large.end()) add(d);
  }
  return out;
}

// Rows that cannot be bound without the plan are held against it.
std::vector<Diagnostic> Rules::read(const plan::ModelInfo& model, const ModelShape& m) {
  if (std::vector<Diagnostic> errors = wrong(model, m); !errors.empty()) return errors;
  const std::string head = "devices 1\n" + (m.layers.empty() ? "" : "let L = " + m.selection() + "\n");
  const Result<plan::Plan> script = plan::parse_plan(head, "");
  if (!script.ok()) return {};
  for (const plan::Statement& s : joined_.bound.statements) {
    if (!forbids_storage(s)) continue;
    std::set<int> others(all_.begin(), all_.end());
    others.erase(s.line);
    const Result<plan::Decisions> d = plan::bind(joined(*script, others), model);
    if (!d.ok()) continue;
    OnceRow row{s.line, std::vector<bool>(m.units.size()), std::vector<bool>(m.units.size()), false};
    for (const plan::ForbidRow& forbid : d->forbids)
      for (const plan::ForbiddenAlgorithm& f : forbid.algorithms)
        for (const int op : d->units[static_cast<std::size_t>(f.unit)].operators) {
          const std::string& module = model.operators[static_cast<std::size_t>(op)].module;
          const int layer = m.layer_of(module);
          row.offload = row.offload || f.algorithm == plan::Algorithm::offload;
          if (f.algorithm != plan::Algorithm::recompute || layer < 0) continue;
          row.whole[static_cast<std::size_t>(layer)] = true;
          if (in_block(m, layer, module)) row.pieces[static_cast<std::size_t>(layer)] = true;
        }
    once_.push_back(std::move(row));
  }
  return {};
}

constraint::Rows Rules::statements(const constraint::Rows& counted) const {
  constraint::Rows out;
  std::set_intersection(statements_.begin(), statements_.end(), counted.begin(), counted.end(),
                        std::back_inserter(out));
  return out;
}

std::string Rules::text(const plan::Plan& joined) const {
  plan::Plan out;
  for (plan::Statement s : joined.statements) {
    const int row = row_of(s.line);
    const bool restricts = !s.automatic && std::binary_search(all_.begin(), all_.end(), row) &&
                           !std::binary_search(statements_.begin(), statements_.end(), row);
    if (row == 0 || restricts || std::holds_alternative<plan::EmptyStatement>(s.body)) continue;
    s.automatic = true;
    s.line = 0;
    out.statements.push_back(std::move(s));
  }
  return plan::print(out);
}

constraint::Rows Rules::once_under(const constraint::Rows& counted) const {
  constraint::Rows out;
  for (const OnceRow& row : once_)
    if (counts(counted, row.row)) out.push_back(row.row);
  return out;
}

std::vector<bool> Rules::only_once(const Configuration& c, const constraint::Rows& counted) const {
  std::vector<bool> out;
  for (const OnceRow& row : once_) {
    if (!counts(counted, row.row)) continue;
    out.resize(row.whole.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] =
          out[i] || (c.offload ? row.offload : (c.layer_in_pieces(static_cast<int>(i)) ? row.pieces : row.whole)[i]);
  }
  return out;
}

std::vector<int> Rules::broken_by(const Configuration& c, const constraint::Rows& counted) const {
  if (sizes_.empty()) return {};
  const std::vector<int>& all = broken_.at({c.pipe, c.data, c.tensor, c.micro_batches}, [&] {
    std::vector<int> out;
    for (const SizeRow& row : sizes_)
      if (!plan::evaluate(row.condition, sizes_of(c)).value_or(false)) out.push_back(row.row);
    return out;
  });
  std::vector<int> out;
  for (const int row : all)
    if (counts(counted, row)) out.push_back(row);
  return out;
}

std::optional<Rules::Memory> Rules::memory_under(const constraint::Rows& counted) const {
  std::optional<Memory> out;
  for (const Memory& m : memory_)
    if (counts(counted, m.row) && (!out || m.bytes < out->bytes)) out = m;
  return out;
}

std::int64_t Rules::least_memory() const {
  std::int64_t out = memory_of_some_ ? 0 : std::numeric_limits<std::int64_t>::max();
  for (const Memory& m : memory_) out = std::min(out, std::max<std::int64_t>(0, m.bytes));
  return out;
}

std::optional<std::int64_t> Rules::memory_of(int row) const {
  for (const Memory& m : memory_)
    if (m.row == row) return m.bytes;
  return std::nullopt;
}

plan::Plan Rules::joined(const plan::Plan& script, const std::set<int>& left_out) const {
  plan::Plan out = script;
  for (plan::Statement s : joined_.bound.statements) {
    const bool size = std::any_of(sizes_.begin(), sizes_.end(), [&](const SizeRow& row) { return row.row == s.line; });
    if (size || left_out.contains(s.line)) continue;
    s.line += kOwn;
    out.statements.push_back(std::move(s));
  }
  return out;
}

}  // namespace planscope::stages
