#include "planner/constraint/search.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "planner/constraint/descent.h"

namespace planscope::constraint {
namespace {

// Everything is excluded, each thing by any one of some lines: a few lines that exclude all.
class Reasons {
 public:
  void add(std::vector<Broken> any_of) {
    const auto known = [&](const Broken& lines) {
      return std::all_of(lines.begin(), lines.end(), [&](int line) { return lines_.contains(line); });
    };
    if (any_of.empty() || std::any_of(any_of.begin(), any_of.end(), known)) return;
    // What was not tried is no reason where there is another one.
    const auto untried = [](const Broken& lines) {
      return std::find(lines.begin(), lines.end(), kUntried) != lines.end();
    };
    const Broken& least = *std::min_element(any_of.begin(), any_of.end(), [&](const Broken& a, const Broken& b) {
      return std::pair(untried(a), a.size()) < std::pair(untried(b), b.size());
    });
    lines_.insert(least.begin(), least.end());
  }
  Rows lines() const { return {lines_.begin(), lines_.end()}; }

 private:
  std::set<int> lines_;
};

// Open values that are known together: those of the plan; and under their values those that these bring (`?D[i]`, for each
// part of a cut whose sizes were open).
struct Level {
  plan::OpenValues outer;
  plan::Decisions open;
  TrackedSolver solver;
  std::optional<Unknowns> unknowns;
};

}  // namespace

class RowSearch::Impl {
 public:
  Impl(const Joined& j, const Judge& judge, Models& models, Evaluations& evaluations, const Limits& limits)
      : joined_(j),
        judge_(judge),
        limits_(limits),
        assignments_(j, judge, models, evaluations),
        all_(assignments_.rows()),
        sizes_(sized(models)) {
    bind_open(models);
  }

  SearchResult run(const Rows& rows, const Goal& goal, const Deadline& deadline) {
    start(rows, goal, deadline);
    bool exhausted = false;
    try {
      exhausted = look_for(rows, goal);
    } catch (const Stopped&) {
      end();
    }
    result_.exhausted = exhausted && descent_->empty();
    if (result_.exhausted) result_.reason.clear();
    result_.partial = untried_ || orders_ || folded_;
    result_.refusals = assignments_.refusals();
    if (std::find(result_.core.begin(), result_.core.end(), kUntried) != result_.core.end()) leave_open();
    result_.best = best_->written(joined_.plan);
    return std::move(result_);
  }

  SeenAhead ahead(const Rows& rows, bool begin, const Deadline& deadline) {
    start(rows, {.any = true}, deadline);
    const Assignment* near = take_known();
    if (best_->enough()) return {true, {}};
    ahead_ = true;
    begins_ = begin;
    if (const auto first = first_.find(rows); first != first_.end()) look_at(root_, first->second);
    if (near && !begun_) look_at(root_, near->values);
    std::optional<Rows> core;
    if (!begun_) core = walk(root_);
    ahead_ = false;
    if (core && (core->empty() || core->front() <= kUntried)) core.reset();  // it rests on what was not evaluated
    if (core) core = fewer(*core);
    return {begun_, std::move(core)};
  }

  const std::vector<Diagnostic>& errors() const { return errors_; }
  const Assignments& assignments() const { return assignments_; }
  const std::set<Broken>& contradictions() const { return contradictions_; }

 private:
  static constexpr std::size_t kFew = 16;     // lines of a core
  static constexpr double kMostStored = 0.5;  // of a limit: above that others are looked at first
  static constexpr int kTight = 4;            // … of as many assignments

  // Whether every combination was looked at or excluded, but for those that the descent has put off.
  bool look_for(const Rows& rows, const Goal& goal) {
    const Assignment* near = take_known();
    if (const auto first = first_.find(rows); first != first_.end() && !best_->enough()) look_at(root_, first->second);
    if (near && !*best_) look_at(root_, near->values);
    const std::optional<Rows> core = walk(root_);
    if (core) {
      result_.none = !*best_ && descent_->empty();
      if (result_.none) result_.core = fewer(*core);
    }
    if (!best_->enough()) descend();
    if (*best_ && !goal.any && goal.memory_line == 0) descent_->unfold();
    return core.has_value();
  }

  void start(const Rows& rows, const Goal& goal, const Deadline& deadline) {
    rows_ = &rows;
    deadline_ = &deadline;
    assignments_.count_for(deadline);
    result_ = {};
    const bool whole = !goal.any && goal.memory_line == 0 && rows.size() == assignments_.rows().size();
    best_.emplace(assignments_, rows, goal, whole ? limits_.progress : Best::Progress());
    descent_.emplace(assignments_, *best_, rows, deadline);
    orders_ = folded_ = stopped_ = untried_ = begun_ = false;
    looked_at_ = 0;
    put_off_.clear();
    tight_ = 0;
    other_.reset();
    guard_ = --last_guard_;
    put_off_guard_ = --last_guard_;
  }

  bool active(int line) const { return holds(*rows_, line); }
  bool counts(int line) const {
    return line < 0 ? line == guard_ || line == put_off_guard_ : active(line) || !holds(all_, line);
  }

  // Plans of earlier searches that keep these rows too; the values of the shortest that keeps those of memory.
  const Assignment* take_known() {
    const Assignment* near = nullptr;
    double step_us = 0;
    assignments_.for_each_evaluated(*rows_, [&](Assignment& a, const std::vector<int>& picks, const Looked& l) {
      if (known_to_exclude(a)) return;
      const std::vector<Broken> broken = assignments_.that_count(l.broken, *rows_);
      if (broken.empty()) best_->take(a, picks, l);
      if (std::any_of(broken.begin(), broken.end(), [&](const Broken& lines) { return of_memory(lines); })) return;
      if (near && step_us <= l.evaluation->step_us) return;
      near = &a;
      step_us = l.evaluation->step_us;
    });
    return near;
  }

  // Nothing was found, but not everything was tried.
  void leave_open() {
    result_.exhausted = false;
    std::vector<std::string> rest;
    if (places_) rest.emplace_back("places that are neither a device nor a grid of the plan");
    if (ranged_) rest.emplace_back("values below 0 or very large, of what nothing bounds");
    if (orders_)
      rest.emplace_back(
          "orders other than list scheduling and known schedules of what is cut (1f1b, also with a micro-batch more "
          "under "
          "way, gpipe; table7 where calls repeat; zb_h1 and zb_h2 where gradients are split)");
    if (folded_) rest.emplace_back("different choices for equal layers");
    if (!rest.empty())
      result_.reason = "none of the plans that were tried keeps all rows; not tried: " + join(rest, ", ");
    if (!result_.refusals.empty())
      result_.reason +=
          (rest.empty() ? "" : "; ") + std::string("cannot be carried out: ") + to_string(result_.refusals[0]);
  }

  void descend() {
    if (!descent_->run())
      end();
    else if (!descent_->empty() && !best_->enough() && result_.reason.empty())
      result_.reason = "too many combinations of choices to try them all";
  }

  void end() {
    stopped_ = result_.ended = true;
    result_.reason = deadline_->stopped()      ? "stopped"
                     : deadline_->over()       ? "the time limit"
                     : deadline_->worked_out() ? "the limit of work"
                                               : "the solver gave up";
  }

  // The sizes of inputs that the plan sets. The model is given them beside making a solver.
  plan::InputSizes sized(Models& models) const {
    plan::InputSizes out = plan::model_sizes(joined_.bound, judge_.inputs).value.value_or(plan::InputSizes{});
    models.begin(out);
    return out;
  }

  void bind_open(Models& models) {
    const Models::Model& model = models.at(sizes_);
    if (!model.value) {
      errors_ = model.diagnostics;
      return;
    }
    Result<plan::Decisions> bound = bound_without_broken(**model);
    if (bound.has_errors() || !bound.value) {
      errors_ = located(joined_, bound.diagnostics);
      return;
    }
    root_.open = std::move(*bound);
    begin(root_, **model);
    assignments_.settle(root_.open);
    for (int line : assignments_.hopeless()) root_.solver.add({line}, root_.solver.context().bool_val(false));
    if (fixed_later(root_.open)) say_choices(**model);  // what is a choice now is the same choice for all values
  }

  void begin(Level& l, const plan::ModelInfo& model) {
    const auto& all = l.open.places;
    places_ = places_ || std::any_of(all.begin(), all.end(), [](const auto& p) { return p.variable >= 0; });
    l.unknowns.emplace(l.open, model, judge_, l.solver);
    ranged_ = ranged_ || l.unknowns->some_untried();
  }

  // Rows that are broken whatever the values are stay out; which lines they contradict is learned.
  Result<plan::Decisions> bound_without_broken(const plan::ModelInfo& model) {
    plan::Plan rest = joined_.bound;
    for (;;) {
      Result<plan::Decisions> bound = plan::bind(rest, model);
      std::set<int> broken;
      for (const Diagnostic& d : bound.diagnostics) {
        if (d.severity != Severity::error) continue;
        const auto row = std::find_if(d.lines.begin(), d.lines.end(), [&](int line) { return holds(all_, line); });
        if (row == d.lines.end()) return bound;
        broken.insert(*row);
        root_.solver.add(d.lines, root_.solver.context().bool_val(false));
        contradictions_.insert(d.lines);
      }
      if (broken.empty()) return bound;
      std::erase_if(rest.statements, [&](const plan::Statement& s) { return broken.contains(s.line); });
    }
  }

  // Of each choice some word is allowed, whatever the values are; said where rows may exclude all.
  void say_choices(const plan::ModelInfo& model) {
    TrackedSolver& solver = root_.solver;
    int number = 0;
    for (const Choice& c : fold_choices(root_.open, model, &assignments_.settled())) {
      if (c.kind != plan::OpenChoice::Kind::split) continue;
      if (std::any_of(c.forbidden_by.begin(), c.forbidden_by.end(), [](const auto& lines) { return lines.empty(); }))
        continue;
      z3::expr any = solver.context().bool_val(false);
      for (const std::vector<int>& lines : c.forbidden_by) {
        const z3::expr word = solver.boolean("word " + std::to_string(number++));
        any = any || word;
        for (int line : lines) solver.add({line}, !word);
      }
      solver.add({}, any);
    }
  }

  // ---- one assignment

  // The lines that exclude everything at this level that was not looked at; nothing: a limit ended it, or enough was found.
  std::optional<Rows> walk(Level& l) {
    while (!best_->enough() && !stopped_) {
      look_at_stop();
      if (&l == &root_ && other_ && looked_at_ < limits_.assignments) {
        look_at(l, *std::exchange(other_, {}));
        continue;
      }
      const Answer answer = l.solver.check(*deadline_, [&](int line) { return counts(line); });
      if (answer == Answer::no && (&l != &root_ || put_off_.empty())) return without_untried(l, l.solver.core());
      if (answer == Answer::no) {
        look_closer();
      } else if (answer == Answer::unknown) {
        end();
      } else if (looked_at_ == limits_.assignments) {
        stopped_ = true;
        result_.reason = "more than " + std::to_string(limits_.assignments) + " assignments of the open values";
      } else {
        look_at(l, l.unknowns->values());
      }
    }
    return std::nullopt;
  }

  // Z3's cores hold lines by accident: without those that it can do without, as far as it knows by now.
  Rows fewer(Rows core) {
    if (core.empty() || core.size() > kFew || core.front() <= kUntried) return core;
    for (std::size_t i = 0; i < core.size();) {
      const Rows rest = without(core, {core[i]});
      if (root_.solver.check(*deadline_, [&](int line) { return holds(rest, line); }) == Answer::no)
        core = root_.solver.core();
      else
        ++i;
    }
    return core;
  }

  // The same without what was not tried, where that is enough.
  Rows without_untried(Level& l, Rows core) {
    if (!holds(core, kUntried)) return core;
    const Answer answer = l.solver.check(*deadline_, [&](int line) { return line != kUntried && counts(line); });
    if (answer == Answer::no) return l.solver.core();
    untried_ = true;
    return core;
  }

  // At the other choices of what was put off.
  void look_closer() {
    put_off_guard_ = --last_guard_;
    for (const plan::OpenValues& own : std::exchange(put_off_, {}))
      if (!best_->enough() && !deadline_->expired()) look_at(root_, own, true);
  }

  // Learns the lines that exclude these open values of a level.
  void look_at(Level& l, const plan::OpenValues& own, bool closer = false) {
    ++looked_at_;
    plan::OpenValues values = own;
    values.insert(l.outer.begin(), l.outer.end());
    Assignment& a = assignments_.at(values);
    if (a.model)
      l.unknowns->add_sizes(own, *a.model);
    else
      l.solver.add(*known_to_exclude(a), l.unknowns->other_sizes(own));
    const auto learn = [&](const Rows& lines) { l.solver.add(lines, l.unknowns->other_than(own)); };
    if (&l != &root_ || !a.learned) {
      for (const Broken& lines : a.broken) learn(lines);
      for (int line : a.hopeless) learn({line});
    }
    a.learned = a.learned || &l == &root_;
    const bool root = &l == &root_;
    learn(excluding(a, root && !closer && !*best_ && best_->goal().memory_line == 0));
    if (std::exchange(puts_off_, false)) put_off_.push_back(own);
    if (begun_ && &l == &root_) first_.emplace(*rows_, own);
  }

  // As binding it says.
  std::optional<Rows> known_to_exclude(const Assignment& a) const {
    if (a.refused) return *a.refused > 0 ? Rows{*a.refused} : Rows{kUntried};
    const auto hopeless = std::find_if(a.hopeless.begin(), a.hopeless.end(), [&](int line) { return active(line); });
    if (hopeless != a.hopeless.end()) return Rows{*hopeless};
    const std::vector<Broken> broken = assignments_.that_count(a.broken, *rows_);
    return broken.empty() ? std::nullopt : std::optional<Rows>(broken.front());
  }

  // The lines that exclude it; the guard where it need not be looked at again in this search. `first`: its other choices are put
  // off where the first ones need too much memory.
  Rows excluding(Assignment& a, bool first) {
    if (std::optional<Rows> known = known_to_exclude(a)) return *std::move(known);
    if (a.open) return below(a);
    const std::vector<std::vector<int>> allowed = allowed_words(a, *rows_);
    std::int64_t combinations = 1;
    for (const auto& words : allowed)
      combinations = std::min<std::int64_t>(combinations * static_cast<std::int64_t>(words.size()), 1 << 30);
    if (combinations <= limits_.exhaustive) {
      if (!first || !is_tight(a) || tight_++ >= kTight) return explore(a, allowed, first);
      puts_off_ = true;
      return {put_off_guard_};
    }
    if (ahead_)
      begun_ = stopped_ = true;
    else
      descent_->postpone(a, allowed);
    return {guard_};
  }

  // What is stored leaves little for what layers keep and work with.
  bool is_tight(const Assignment& a) const {
    return std::any_of(a.limits.begin(), a.limits.end(), [&](const MemoryLimit& limit) {
      return active(limit.line) && static_cast<double>(limit.stored) > kMostStored * static_cast<double>(limit.bytes);
    });
  }

  // Beside this assignment another is evaluated, if a processor is free, and looked at next. Where one needs too much memory those
  // that are like it do so too: as many open values as can be are others.
  void begin_other(const Assignment& a, bool first) {
    if (other_) return;
    std::vector<int> apart;
    for (const auto& value : a.values)
      if (const std::optional<int> guard = apart_from(value)) apart.push_back(*guard);
    const auto is_apart = [&](int line) { return std::find(apart.begin(), apart.end(), line) != apart.end(); };
    for (;;) {
      const Answer answer =
          root_.solver.check(*deadline_, [&](int line) { return counts(line) || (line < 0 && is_apart(line)); });
      if (answer == Answer::unknown) return;
      if (answer == Answer::yes) break;
      const Rows core = root_.solver.core();
      if (std::none_of(core.begin(), core.end(), is_apart)) return;
      apart.erase(std::find_if(apart.begin(), apart.end(), [&](int guard) { return holds(core, guard); }));
    }
    if (apart.empty()) return;
    other_ = root_.unknowns->values();
    Assignment& other = assignments_.at(*other_);
    if (known_to_exclude(other) || other.open || (first && is_tight(other))) return;
    std::vector<int> picks;
    for (const std::vector<int>& words : allowed_words(other, *rows_)) {
      if (words.empty()) return;
      picks.push_back(words.front());
    }
    assignments_.ahead(other, picks, *rows_);
  }

  // The guard under which the value is another one; nothing: it means nothing.
  std::optional<int> apart_from(const plan::OpenValues::value_type& value) {
    const auto known = apart_.find(value);
    if (known != apart_.end()) return known->second;
    const std::optional<z3::expr> other = root_.unknowns->other_than(value.first, value.second);
    if (!other) return std::nullopt;
    root_.solver.add({--last_guard_}, *other);
    return apart_[value] = last_guard_;
  }

  // The open values that its own have brought.
  Rows below(Assignment& a) {
    Level l;
    l.outer = a.values;
    l.open = assignments_.decisions(a);
    begin(l, *a.model);
    const std::optional<Rows> core = walk(l);
    const bool excluded = core && std::none_of(core->begin(), core->end(), [](int line) { return line < 0; });
    return excluded ? *core : Rows{guard_};
  }

  // ---- its choices

  // Every combination of choices; what excludes them all is why there is none.
  Rows explore(Assignment& a, const std::vector<std::vector<int>>& allowed, bool first) {
    Reasons reasons;
    for (std::size_t i = 0; i < a.choices.size(); ++i) {
      orders_ = orders_ || a.choices[i].kind == plan::OpenChoice::Kind::order;
      for (std::size_t w = 0; w < a.choices[i].words.size(); ++w)
        if (std::find(allowed[i].begin(), allowed[i].end(), static_cast<int>(w)) == allowed[i].end())
          reasons.add(each_that_counts(a.choices[i].forbidden_by[w]));
      if (!allowed[i].empty()) continue;
      Reasons alone;  // this choice has nothing left
      for (const auto& lines : a.choices[i].forbidden_by) alone.add(each_that_counts(lines));
      return alone.lines();
    }
    bool folded = false;
    for (std::size_t i = 0; i < a.choices.size(); ++i)
      folded = folded || (a.choices[i].rows.size() > 1 && allowed[i].size() > 1);
    folded_ = folded_ || folded;
    bool found = false;
    std::vector<std::size_t> digits(a.choices.size(), 0);
    for (bool more = true; more; more = next(digits, allowed)) {
      const std::vector<int> picks = picked(digits, allowed);
      if (deadline_->expired() && (ahead_ || !assignments_.begun(a, picks, *rows_)))
        return {guard_};  // the outer check will end as well
      if (ahead_) {
        if (!assignments_.ahead(a, picks, *rows_, begins_)) continue;
        begun_ = stopped_ = true;
        break;
      }
      std::vector<std::size_t> then = digits;
      const bool last = !next(then, allowed), one_by_one = first || best_->goal().any;
      std::optional<std::vector<int>> behind;
      if (!last && !one_by_one)
        behind = picked(then, allowed);
      else if (!assignments_.looked_at(a, picks, *rows_))
        begin_other(a, first);
      const Looked& l = assignments_.look(a, picks, *rows_, behind);
      std::vector<Broken> broken = assignments_.that_count(l.broken, *rows_);
      if (l.refused) broken.push_back({*l.refused});
      if (broken.empty()) {
        best_->take(a, picks, l);
        found = true;
        if (best_->enough()) return {guard_};
        continue;
      }
      const auto memory = [&](const Broken& lines) { return of_memory(lines); };
      if (first && !found && !last && std::all_of(broken.begin(), broken.end(), memory)) {
        puts_off_ = true;
        return {put_off_guard_};
      }
      reasons.add(std::move(broken));
      if (folded) reasons.add({{kUntried}});
    }
    return found || ahead_ ? Rows{guard_} : reasons.lines();
  }

  bool of_memory(const Broken& lines) const {
    return std::any_of(lines.begin(), lines.end(),
                       [&](int line) { return assignments_.limit_bytes(line).has_value(); });
  }

  static std::vector<int> picked(const std::vector<std::size_t>& digits, const std::vector<std::vector<int>>& allowed) {
    std::vector<int> out;
    for (std::size_t i = 0; i < digits.size(); ++i) out.push_back(allowed[i][digits[i]]);
    return out;
  }

  static bool next(std::vector<std::size_t>& digits, const std::vector<std::vector<int>>& allowed) {
    for (std::size_t i = digits.size(); i-- > 0;) {
      if (++digits[i] < allowed[i].size()) return true;
      digits[i] = 0;
    }
    return false;
  }

  // Of lines that each exclude something.
  std::vector<Broken> each_that_counts(const std::vector<int>& lines) const {
    std::vector<Broken> out;
    for (int line : lines)
      if (active(line)) out.push_back({line});
    return out;
  }

  const Joined& joined_;
  const Judge& judge_;
  const Limits& limits_;
  Assignments assignments_;
  const Rows& all_;

  const plan::InputSizes sizes_;
  Level root_;
  std::vector<Diagnostic> errors_;
  std::set<Broken> contradictions_;
  bool places_ = false, ranged_ = false;  // there are more than are tried

  // Of the search that runs.
  const Rows* rows_ = nullptr;
  const Deadline* deadline_ = nullptr;
  int last_guard_ = 0;
  int guard_ = 0;          // below zero: what is learned under it counts in this search alone
  int put_off_guard_ = 0;  // … and until what was put off is looked at
  std::vector<plan::OpenValues> put_off_;
  bool puts_off_ = false;
  int tight_ = 0;                                      // put off before they were looked at
  std::optional<plan::OpenValues> other_;              // what is looked at next
  std::map<plan::OpenValues::value_type, int> apart_;  // guards, by values
  std::optional<Best> best_;
  std::optional<Descent> descent_;
  bool orders_ = false, folded_ = false;                 // there are more than are tried
  bool stopped_ = false;                                 // by a limit
  bool untried_ = false;                                 // something may be left beyond what was tried
  bool ahead_ = false, begins_ = false, begun_ = false;  // RowSearch::ahead: nothing is evaluated but by others
  std::map<Rows, plan::OpenValues> first_;               // what was begun ahead, by rows
  int looked_at_ = 0;
  SearchResult result_;
};

RowSearch::RowSearch(const Joined& j, const Judge& judge, Models& models, Evaluations& evaluations,
                     const Limits& limits)
    : impl_(std::make_unique<Impl>(j, judge, models, evaluations, limits)) {}
RowSearch::~RowSearch() = default;

const std::vector<Diagnostic>& RowSearch::errors() const { return impl_->errors(); }
const Rows& RowSearch::rows() const { return impl_->assignments().rows(); }
const std::set<Broken>& RowSearch::contradictions() const { return impl_->contradictions(); }
bool RowSearch::counts(const Broken& lines, const Rows& rows) const { return impl_->assignments().counts(lines, rows); }
SearchResult RowSearch::run(const Rows& rows, const Goal& goal, const Deadline& deadline) {
  return impl_->run(rows, goal, deadline);
}
SeenAhead RowSearch::ahead(const Rows& rows, bool begin, const Deadline& deadline) {
  return impl_->ahead(rows, begin, deadline);
}
std::optional<std::int64_t> RowSearch::limit_bytes(int line) const { return impl_->assignments().limit_bytes(line); }
int RowSearch::assignments() const { return impl_->assignments().count(); }

}  // namespace planscope::constraint
