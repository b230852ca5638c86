#include "planner/constraint/search.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/printer.h"
#include "planner/constraint/arithmetic.h"

namespace planscope::constraint {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
constexpr std::int64_t kLargestAxis = 1 << 20;

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

std::vector<int> lines_of(const std::vector<Diagnostic>& diagnostics) {
  std::set<int> lines;
  for (const Diagnostic& d : diagnostics)
    if (d.severity == Severity::error && d.line > 0) {
      lines.insert(d.line);
      break;  // one reason is enough
    }
  return {lines.begin(), lines.end()};
}

// How far a plan is from keeping its rows, then how fast it is.
struct Score {
  bool possible = false;
  std::int64_t excess = 0;  // bytes above memory rows
  double step_us = 0;
  bool operator<(const Score& o) const {
    if (possible != o.possible) return possible;
    if (excess != o.excess) return excess < o.excess;
    return step_us < o.step_us;
  }
  bool good() const { return possible && excess == 0; }
};

struct Looked {
  Score score;
  std::vector<int> lines;  // not good: why
  plan::Plan plan;
  Evaluation evaluation;
};

// One assignment of `?x`, bound.
struct Assignment {
  plan::OpenValues values;
  const plan::ModelInfo* model = nullptr;
  plan::Decisions decisions;
  std::vector<Choice> choices;
  std::vector<int> picks;  // where descent begins
  Score score;             // there
};

// Open values as Z3 integers; words are numbered.
class Unknowns {
 public:
  Unknowns(const plan::Decisions& d, const Judge& judge, TrackedSolver& solver) : decisions_(d), solver_(solver) {
    for (const plan::OpenVariable& v : d.variables) variables_.emplace(v.name, solver.integer("?" + v.name));
    for (const plan::OpenVariable& v : d.variables)
      for (const std::string& word : v.words) number(word);
    for (const plan::GridInfo& g : d.grids) number(g.name);
    for (const plan::ConditionRow& row : d.conditions)
      plan::for_each(row.condition, [&](const plan::Expression& e) {
        if (e.kind == plan::Expression::Kind::name) number(e.text);
      });
    for (const plan::OpenVariable& v : d.variables) add_domain(v);
    for (const plan::PlaceInfo& p : d.places)
      if (p.variable >= 0) add_places(d.variables[at(p.variable)], judge);
    for (const plan::GridInfo& g : d.grids) add_grid(g, judge);
    for (const plan::AxisInfo& a : d.axes)
      if (const std::string* name = plain_open(a.open_size))
        solver.add({}, variables_.at(*name) >= 1 && variables_.at(*name) <= solver.context().int_val(kLargestAxis));
    for (const plan::ConditionRow& row : d.conditions)
      if (const auto term = to_term(row.condition, variables_, words_, solver.context()))
        solver.add({line_of(d, row.statement)}, *term);
  }

  plan::OpenValues values() const {
    plan::OpenValues out;
    for (const plan::OpenVariable& v : decisions_.variables) {
      const std::int64_t n = solver_.value(variables_.at(v.name));
      if (n >= 0)
        out[v.name] = n;
      else
        out[v.name] = spelled_[static_cast<std::size_t>(-n - 1)];
    }
    return out;
  }

  z3::expr other_than_now() const {
    z3::expr any = solver_.context().bool_val(false);
    for (const auto& [name, variable] : variables_)
      any = any || variable != solver_.context().int_val(solver_.value(variable));
    return any;
  }

 private:
  void add_domain(const plan::OpenVariable& v) {
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
    if (!alternatives.empty()) add_set({}, x, alternatives);
  }

  // `assign X to ?d`: a device, or one of the plan's grids. There are more places than these.
  void add_places(const plan::OpenVariable& v, const Judge& judge) {
    const std::int64_t count = decisions_.device_count > 0 ? decisions_.device_count : judge.device_count;
    const z3::expr& x = variables_.at(v.name);
    z3::expr any = x >= 0 && x < solver_.context().int_val(std::max<std::int64_t>(count, 1));
    for (const plan::GridInfo& g : decisions_.grids)
      if (g.statement >= 0 || &g == &decisions_.grids[0])
        any = any || x == solver_.context().int_val(words_.at(g.name));
    solver_.add({kUntried}, any);
    solver_.add({}, x > solver_.context().int_val(-static_cast<std::int64_t>(spelled_.size()) - 1));
  }

  bool is_place(const plan::OpenVariable& v) const {
    return std::any_of(decisions_.places.begin(), decisions_.places.end(), [&](const plan::PlaceInfo& p) {
      return p.variable >= 0 && decisions_.variables[at(p.variable)].name == v.name;
    });
  }

  void number(const std::string& word) {
    if (words_.try_emplace(word, -static_cast<std::int64_t>(spelled_.size()) - 1).second) spelled_.push_back(word);
  }

  static void take(const std::vector<plan::AxisSub>& axes, const std::string& name, std::vector<std::int64_t>& out) {
    for (const plan::AxisSub& a : axes)
      if (a.axis == name && a.sub.alternatives.size() > 1)
        for (const plan::Expression& e : a.sub.alternatives)
          if (const plan::Number n =
                  plan::evaluate(e, [](const plan::Expression&) { return plan::Number{0, plan::EvaluationError{}}; });
              n.ok())
            out.push_back(n.value);
  }
  template <class T>
  static void take_alternatives(const T&, const std::string&, std::vector<std::int64_t>&) {}
  static void take_alternatives(const plan::DevicesStatement& s, const std::string& n, std::vector<std::int64_t>& out) {
    take(s.axes, n, out);
  }
  static void take_alternatives(const plan::GridStatement& s, const std::string& n, std::vector<std::int64_t>& out) {
    take(s.axes, n, out);
  }
  static void take_alternatives(const plan::AxisStatement& s, const std::string& n, std::vector<std::int64_t>& out) {
    take({{s.name, s.size}}, n, out);
  }

  void add_set(const std::vector<int>& lines, const z3::expr& x, const std::vector<std::int64_t>& values) {
    z3::expr any = solver_.context().bool_val(false);
    for (std::int64_t n : values) any = any || x == solver_.context().int_val(n);
    solver_.add(lines, any);
  }

  // The sizes of a grid's axes are factors of its number of devices.
  void add_grid(const plan::GridInfo& grid, const Judge& judge) {
    const std::int64_t count =
        grid.devices.empty() ? decisions_.device_count : static_cast<std::int64_t>(grid.devices.size());
    for (const plan::GridAxis& a : grid.axes) {
      const std::string* name = plain_open(a.open_size);
      if (!name) continue;
      const z3::expr& x = variables_.at(*name);
      if (count > 0)
        add_set({}, x, divisors(count));
      else
        solver_.add({}, x >= 1 && x <= solver_.context().int_val(std::max<std::int64_t>(1, judge.device_count)));
    }
  }

  const plan::Decisions& decisions_;
  TrackedSolver& solver_;
  Variables variables_;
  Words words_;
  std::vector<std::string> spelled_;  // by number: that of spelled_[i] is -1 - i
};

class Searcher {
 public:
  Searcher(const Joined& j, const Judge& judge, Models& models, Evaluations& evaluations, const Deadline& deadline,
           const Limits& limits, bool any)
      : joined_(j),
        judge_(judge),
        models_(models),
        evaluations_(evaluations),
        deadline_(deadline),
        limits_(limits),
        any_(any),
        solver_(deadline) {}

  SearchResult run() {
    if (!bind_open()) return std::move(result_);
    Unknowns unknowns(open_, judge_, solver_);
    add_divisibility(unknowns_axes());
    while (!done()) {
      const Answer answer = solver_.check();
      if (answer == Answer::no) {
        if (!result_.best && waiting_.empty()) result_.core = solver_.core();
        assignments_exhausted_ = true;
        break;
      }
      if (answer == Answer::unknown) {
        end();
        break;
      }
      if (result_.assignments == limits_.assignments) {
        result_.reason = "more than " + std::to_string(limits_.assignments) + " assignments of the open values";
        break;
      }
      ++result_.assignments;
      look_at(unknowns);
    }
    if (!done()) descend();
    result_.exhausted = assignments_exhausted_ && waiting_.empty();
    if (result_.exhausted) result_.reason.clear();
    result_.partial = places_ || orders_;
    if (std::find(result_.core.begin(), result_.core.end(), kUntried) != result_.core.end()) leave_open();
    return std::move(result_);
  }

 private:
  bool done() const { return any_ && result_.best; }

  // Nothing was found, but not everything was tried.
  void leave_open() {
    result_.exhausted = false;
    std::vector<std::string> rest;
    if (places_) rest.emplace_back("places that are neither a device nor a grid of the plan");
    if (orders_) rest.emplace_back("orders other than list scheduling and the templates 1f1b and gpipe");
    if (folded_) rest.emplace_back("different choices for equal layers");
    if (!rest.empty())
      result_.reason = "none of the plans that were tried keeps all rows; not tried: " + join(rest, ", ");
    if (!result_.refusals.empty())
      result_.reason +=
          (rest.empty() ? "" : "; ") + std::string("cannot be carried out: ") + to_string(result_.refusals[0]);
  }

  void end() {
    result_.ended = true;
    result_.reason = deadline_.stopped() ? "stopped" : deadline_.expired() ? "the time limit" : "the solver gave up";
  }

  bool bind_open() {
    const Result<plan::InputSizes> sizes = plan::model_sizes(joined_.plan, judge_.inputs);
    const Result<plan::ModelInfo>& model = models_.at(sizes.value.value_or(plan::InputSizes{}));
    if (!model.value) {
      result_.errors = model.diagnostics;
      return false;
    }
    Result<plan::Decisions> bound = plan::bind(joined_.plan, *model);
    if (bound.has_errors() || !bound.value) {
      result_.errors = located(joined_, bound.diagnostics);
      return false;
    }
    open_ = std::move(*bound);
    places_ = std::any_of(open_.places.begin(), open_.places.end(), [](const auto& p) { return p.variable >= 0; });
    open_model_ = &*model;
    return true;
  }

  // ---- divisibility, as far as it can be said before values are known

  std::map<int, std::string> unknowns_axes() const {
    std::map<int, std::string> out;
    for (std::size_t a = 0; a < open_.axes.size(); ++a)
      if (const std::string* name = plain_open(open_.axes[a].open_size)) out[static_cast<int>(a)] = *name;
    return out;
  }

  // The size of a free axis divides every factor that it splits into equal blocks, under the line that splits it.
  void add_divisibility(const std::map<int, std::string>& axes) {
    for (const auto& [axis, name] : axes) {
      std::set<std::pair<int, std::int64_t>> said;
      for (int op = 0; op < open_.operator_count; ++op) {
        const plan::Split& s = open_.split(op, axis);
        if (s.statement < 0 || s.factor < 0 || open_.sizes.contains(s.statement)) continue;
        const std::int64_t size = open_model_->operators[at(op)].factors[at(s.factor)].size;
        if (!said.insert({s.statement, size}).second) continue;
        z3::expr any = solver_.context().bool_val(false);
        for (std::int64_t n : divisors(size)) any = any || solver_.integer("?" + name) == solver_.context().int_val(n);
        solver_.add({line_of(open_, s.statement)}, any);
      }
    }
  }

  // ---- one assignment

  void learn(const Unknowns& unknowns, const std::vector<int>& lines) { solver_.add(lines, unknowns.other_than_now()); }

  void look_at(const Unknowns& unknowns) {
    Assignment a;
    a.values = unknowns.values();
    const Result<plan::InputSizes> sizes = plan::model_sizes(joined_.plan, judge_.inputs, a.values);
    const Result<plan::ModelInfo>& model = models_.at(sizes.value.value_or(plan::InputSizes{}));
    if (!model.value) return refuse(unknowns, model.diagnostics);
    Result<plan::Decisions> bound = plan::bind(joined_.plan, *model, a.values);
    if (bound.has_errors() || !bound.value) return refuse(unknowns, bound.diagnostics);
    a.decisions = std::move(*bound);
    a.model = &*model;
    for (const plan::MemoryRow& row : a.decisions.memory)
      if (too_small(a.decisions, row)) return learn(unknowns, {line_of(a.decisions, row.statement)});
    a.choices = fold_choices(a.decisions, *a.model);
    std::int64_t combinations = 1;
    for (const Choice& c : a.choices)
      combinations = std::min<std::int64_t>(combinations * static_cast<std::int64_t>(c.words.size()), 1 << 30);
    if (combinations <= limits_.exhaustive)
      explore(unknowns, a);
    else
      postpone(unknowns, std::move(a));
  }

  void refuse(const Unknowns& unknowns, const std::vector<Diagnostic>& diagnostics) {
    std::vector<int> lines = lines_of(diagnostics);
    if (lines.empty()) {
      note_refusal(diagnostics);
      lines = {kUntried};
    }
    learn(unknowns, lines);
  }
  void note_refusal(const std::vector<Diagnostic>& diagnostics) {
    if (result_.refusals.empty()) result_.refusals = located(joined_, diagnostics);
  }

  // All devices together cannot hold what lives between steps.
  bool too_small(const plan::Decisions& d, const plan::MemoryRow& row) const {
    if (!row.limit_bytes || judge_.state_bytes <= 0 || d.device_count <= 0) return false;
    if (static_cast<std::int64_t>(plan::devices_of(d, d.places[at(row.place)]).size()) != d.device_count) return false;
    return judge_.state_bytes / d.device_count > *row.limit_bytes;
  }

  Looked look(const Assignment& a, const std::vector<int>& picks) {
    Looked out;
    out.plan = completed(joined_.plan, a.decisions, *a.model, a.values, a.choices, picks);
    const Result<Evaluation>& e = evaluations_.of(out.plan);
    if (!e.value || e.has_errors()) {
      out.lines = with_order_rows(a.decisions, lines_of(e.diagnostics));
      if (out.lines.empty()) {
        note_refusal(e.diagnostics);
        out.lines = {kUntried};
      }
      return out;
    }
    out.evaluation = *e;
    out.score = {true, 0, e->step_us};
    for (const plan::MemoryRow& row : a.decisions.memory) {
      const std::int64_t excess = excess_bytes(a.decisions, row, e->peaks);
      if (excess > 0 && out.lines.empty()) out.lines = {line_of(a.decisions, row.statement)};
      out.score.excess += excess;
    }
    return out;
  }

  // Order rows contradict each other together: a message stands at one of them.
  static std::vector<int> with_order_rows(const plan::Decisions& d, const std::vector<int>& lines) {
    std::set<int> rows, out(lines.begin(), lines.end());
    for (const plan::OrderRow& row : d.order) rows.insert(line_of(d, row.statement));
    if (std::any_of(lines.begin(), lines.end(), [&](int line) { return rows.contains(line); }))
      out.insert(rows.begin(), rows.end());
    return {out.begin(), out.end()};
  }

  void take(const Assignment& a, Looked looked) {
    if (result_.best && result_.best->evaluation.step_us <= looked.evaluation.step_us) return;
    result_.best = Found{std::move(looked.plan), a.values, std::move(looked.evaluation)};
  }

  // Every combination of choices, as Z3 models; what is left over is why there is none.
  void explore(const Unknowns& unknowns, const Assignment& a) {
    TrackedSolver inner(deadline_);
    std::vector<std::vector<z3::expr>> chosen;
    for (std::size_t i = 0; i < a.choices.size(); ++i) {
      chosen.emplace_back();
      z3::expr any = inner.context().bool_val(false);
      for (std::size_t w = 0; w < a.choices[i].words.size(); ++w) {
        chosen.back().push_back(inner.boolean("choice " + std::to_string(i) + " " + std::to_string(w)));
        any = any || chosen.back().back();
        for (std::size_t v = 0; v < w; ++v) inner.add({}, !(chosen.back()[v] && chosen.back()[w]));
        for (int line : a.choices[i].forbidden_by[w]) inner.add({line}, !chosen.back()[w]);
      }
      const bool order = a.choices[i].kind == plan::OpenChoice::Kind::order;
      orders_ = orders_ || order;
      inner.add(order ? std::vector<int>{kUntried} : std::vector<int>{}, any);
    }
    const bool folded =
        std::any_of(a.choices.begin(), a.choices.end(), [](const Choice& c) { return c.rows.size() > 1; });
    bool found = false;
    while (true) {
      const Answer answer = inner.check();
      if (answer == Answer::unknown) return;  // the outer check will end as well
      if (answer == Answer::no) break;
      std::vector<int> picks;
      z3::expr same = inner.context().bool_val(true);
      for (const auto& words : chosen)
        for (std::size_t w = 0; w < words.size(); ++w)
          if (inner.holds(words[w])) {
            picks.push_back(static_cast<int>(w));
            same = same && words[w];
          }
      Looked looked = look(a, picks);
      if (!looked.score.good()) {
        if (const auto order = bare_order(a, picks); order && !looked.score.possible && says_order(a, looked.lines))
          same = without_choice(inner, chosen, picks, *order);
        if (folded) {
          looked.lines.push_back(kUntried);
          folded_ = true;
        }
        inner.add(looked.lines, !same);
        continue;
      }
      inner.add({}, !same);
      take(a, std::move(looked));
      found = true;
      if (any_) return;
    }
    learn(unknowns, found ? std::vector<int>{} : inner.core());
  }

  // The choice of an order that adds no rows: what its rows are refused for, they are refused for with whatever order.
  static std::optional<std::size_t> bare_order(const Assignment& a, const std::vector<int>& picks) {
    for (std::size_t i = 0; i < a.choices.size(); ++i)
      if (a.choices[i].kind == plan::OpenChoice::Kind::order && a.choices[i].words[at(picks[i])] == kNoRows) return i;
    return std::nullopt;
  }
  static bool says_order(const Assignment& a, const std::vector<int>& lines) {
    return std::any_of(a.decisions.order.begin(), a.decisions.order.end(), [&](const plan::OrderRow& row) {
      return std::find(lines.begin(), lines.end(), line_of(a.decisions, row.statement)) != lines.end();
    });
  }
  static z3::expr without_choice(TrackedSolver& solver, const std::vector<std::vector<z3::expr>>& chosen,
                                 const std::vector<int>& picks, std::size_t left_out) {
    z3::expr out = solver.context().bool_val(true);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (i != left_out) out = out && chosen[i][at(picks[i])];
    return out;
  }

  // ---- too many combinations: descent

  void postpone(const Unknowns& unknowns, Assignment a) {
    for (const Choice& c : a.choices) {
      const auto allowed =
          std::find_if(c.forbidden_by.begin(), c.forbidden_by.end(), [](const auto& lines) { return lines.empty(); });
      if (allowed == c.forbidden_by.end()) {  // the rows leave nothing
        std::set<int> lines;
        for (const auto& l : c.forbidden_by) lines.insert(l.front());
        return learn(unknowns, {lines.begin(), lines.end()});
      }
      a.picks.push_back(static_cast<int>(allowed - c.forbidden_by.begin()));
    }
    Looked looked = look(a, a.picks);
    a.score = looked.score;
    if (looked.score.good()) take(a, std::move(looked));
    waiting_.push_back(std::move(a));
    learn(unknowns, {});
  }

  void descend() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Assignment& a, const Assignment& b) { return a.score < b.score; });
    for (Assignment& a : waiting_) {
      bool better = true;
      while (better && !deadline_.expired()) {
        better = false;
        for (std::size_t i = 0; i < a.choices.size() && !deadline_.expired(); ++i) better |= improve(a, i);
        if (done()) return;
      }
      if (deadline_.expired()) {
        end();
        return;
      }
    }
    if (!waiting_.empty() && result_.reason.empty())
      result_.reason = "too many combinations of choices to try them all";
  }

  bool improve(Assignment& a, std::size_t i) {
    bool better = false;
    for (std::size_t w = 0; w < a.choices[i].words.size() && !deadline_.expired(); ++w) {
      if (!a.choices[i].forbidden_by[w].empty() || static_cast<int>(w) == a.picks[i]) continue;
      std::vector<int> picks = a.picks;
      picks[i] = static_cast<int>(w);
      Looked looked = look(a, picks);
      if (!(looked.score < a.score)) continue;
      a.picks = std::move(picks);
      a.score = looked.score;
      better = true;
      if (looked.score.good()) take(a, std::move(looked));
    }
    return better;
  }

  const Joined& joined_;
  const Judge& judge_;
  Models& models_;
  Evaluations& evaluations_;
  const Deadline& deadline_;
  const Limits& limits_;
  const bool any_;
  TrackedSolver solver_;
  plan::Decisions open_;
  const plan::ModelInfo* open_model_ = nullptr;
  std::vector<Assignment> waiting_;
  bool assignments_exhausted_ = false;
  bool places_ = false, orders_ = false, folded_ = false;  // what there is more of than was tried
  SearchResult result_;
};

}  // namespace

std::int64_t excess_bytes(const plan::Decisions& d, const plan::MemoryRow& row, const std::vector<Peak>& peaks) {
  if (!row.limit_bytes) return 0;
  const std::vector<int> where = plan::devices_of(d, d.places[at(row.place)]);
  const std::set<int> devices(where.begin(), where.end());
  std::int64_t peak = 0;
  for (const Peak& p : peaks)
    if (std::any_of(p.devices.begin(), p.devices.end(), [&](int device) { return devices.contains(device); }))
      peak = std::max(peak, p.bytes);
  return std::max<std::int64_t>(0, peak - *row.limit_bytes + (row.strict ? 1 : 0));
}

const Result<Evaluation>& Evaluations::of(const plan::Plan& plan) {
  std::string key;
  for (const plan::Statement& s : plan.statements) {
    const bool row = std::holds_alternative<plan::RequireStatement>(s.body);
    if ((row && !s.automatic) || std::holds_alternative<plan::EmptyStatement>(s.body)) continue;
    key += plan::print_code(s) + "\n";
  }
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(std::move(key), judge_.evaluate(plan)).first->second;
}

const Result<plan::ModelInfo>& Models::at(const plan::InputSizes& sizes) {
  const auto found = known_.find(sizes);
  if (found != known_.end()) return found->second;
  return known_.emplace(sizes, judge_.model(sizes)).first->second;
}

SearchResult search(const Joined& joined, const Judge& judge, Models& models, Evaluations& evaluations,
                    const Deadline& deadline, const Limits& limits, bool any) {
  return Searcher(joined, judge, models, evaluations, deadline, limits, any).run();
}

}  // namespace planscope::constraint
