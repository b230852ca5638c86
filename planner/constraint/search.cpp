#include "planner/constraint/search.h"

#include <algorithm>
#include <deque>
#include <set>

#include "engine/base/text.h"

namespace planscope::constraint {
namespace {

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

// Descents one after the other that find nothing better: the last ones.
constexpr int kFruitless = 3;
constexpr std::size_t kTogether =
    32;  // assignments whose choices are changed together first, which tells where to begin

// An assignment with too many combinations to try them all.
struct Waiting {
  Assignment* assignment;
  std::vector<int> picks;  // where descent begins
  Score score;             // there
};

}  // namespace

class RowSearch::Impl {
 public:
  Impl(const Joined& j, const Judge& judge, Models& models, Evaluations& evaluations, const Limits& limits)
      : joined_(j),
        judge_(judge),
        limits_(limits),
        assignments_(j, judge, models, evaluations),
        all_(assignments_.rows()) {
    bind_open(models);
  }

  SearchResult run(const Rows& rows, const Goal& goal, const Deadline& deadline) {
    rows_ = &rows;
    goal_ = goal;
    deadline_ = &deadline;
    result_ = {};
    waiting_.clear();
    orders_ = folded_ = stopped_ = untried_ = false;
    looked_at_ = 0;
    --guard_;
    const std::optional<Rows> core = walk(root_);
    const bool exhausted = core.has_value();
    if (exhausted) {
      result_.none = !result_.best && waiting_.empty();
      if (result_.none) result_.core = *core;
    }
    if (!done()) descend();
    if (result_.best && !goal_.any && goal_.memory_line == 0) unfold();
    result_.exhausted = exhausted && waiting_.empty();
    if (result_.exhausted) result_.reason.clear();
    result_.partial = untried_ || orders_ || folded_;
    result_.refusals = assignments_.refusals();
    if (std::find(result_.core.begin(), result_.core.end(), kUntried) != result_.core.end()) leave_open();
    write_plan();
    return std::move(result_);
  }

  const std::vector<Diagnostic>& errors() const { return errors_; }
  const Assignments& assignments() const { return assignments_; }
  const std::set<Broken>& contradictions() const { return contradictions_; }

 private:
  bool done() const { return goal_.any && result_.best; }
  bool active(int line) const { return holds(*rows_, line); }
  bool counts(int line) const { return line < 0 ? line == guard_ : active(line) || !holds(all_, line); }

  // Nothing was found, but not everything was tried.
  void leave_open() {
    result_.exhausted = false;
    std::vector<std::string> rest;
    if (places_) rest.emplace_back("places that are neither a device nor a grid of the plan");
    if (ranged_) rest.emplace_back("values below 0 or very large, of what nothing bounds");
    if (orders_) rest.emplace_back("orders other than list scheduling and the templates 1f1b and gpipe");
    if (folded_) rest.emplace_back("different choices for equal layers");
    if (!rest.empty())
      result_.reason = "none of the plans that were tried keeps all rows; not tried: " + join(rest, ", ");
    if (!result_.refusals.empty())
      result_.reason +=
          (rest.empty() ? "" : "; ") + std::string("cannot be carried out: ") + to_string(result_.refusals[0]);
  }

  void end() {
    stopped_ = result_.ended = true;
    result_.reason = deadline_->stopped() ? "stopped" : deadline_->expired() ? "the time limit" : "the solver gave up";
  }

  void bind_open(Models& models) {
    const Result<plan::InputSizes> sizes = plan::model_sizes(joined_.bound, judge_.inputs);
    const Result<plan::ModelInfo>& model = models.at(sizes.value.value_or(plan::InputSizes{}));
    if (!model.value) {
      errors_ = model.diagnostics;
      return;
    }
    Result<plan::Decisions> bound = bound_without_broken(*model);
    if (bound.has_errors() || !bound.value) {
      errors_ = located(joined_, bound.diagnostics);
      return;
    }
    root_.open = std::move(*bound);
    begin(root_, *model);
    assignments_.settle(root_.open);
    if (keeps_its_choices(root_.open)) say_choices(*model);
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

  // Whether what is a choice before values are known is the same choice for all of them: nothing that waits for a value
  // splits, and every place has all axes.
  static bool keeps_its_choices(const plan::Decisions& d) {
    const auto harmless = [&](int statement) {
      const plan::StatementBody& body = d.plan.statements[static_cast<std::size_t>(statement)].body;
      return std::holds_alternative<plan::LetStatement>(body) || std::holds_alternative<plan::AssignStatement>(body) ||
             std::holds_alternative<plan::OrderStatement>(body) ||
             std::holds_alternative<plan::RequireStatement>(body) ||
             std::holds_alternative<plan::ForbidStatement>(body);
    };
    return d.grids.size() == 1 && std::all_of(d.deferred.begin(), d.deferred.end(), harmless);
  }

  // Of each choice some word is allowed, whatever the values are; said where rows may exclude all.
  void say_choices(const plan::ModelInfo& model) {
    TrackedSolver& solver = root_.solver;
    int number = 0;
    for (const Choice& c : fold_choices(root_.open, model)) {
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
    while (!done() && !stopped_) {
      const Answer answer = l.solver.check(*deadline_, [&](int line) { return counts(line); });
      if (answer == Answer::no) return without_untried(l, l.solver.core());
      if (answer == Answer::unknown) {
        end();
      } else if (looked_at_ == limits_.assignments) {
        stopped_ = true;
        result_.reason = "more than " + std::to_string(limits_.assignments) + " assignments of the open values";
      } else {
        learn(l, look_at(l));
      }
    }
    return std::nullopt;
  }

  // The same without what was not tried, where that is enough.
  Rows without_untried(Level& l, Rows core) {
    if (!holds(core, kUntried)) return core;
    const Answer answer = l.solver.check(*deadline_, [&](int line) { return line != kUntried && counts(line); });
    if (answer == Answer::no) return l.solver.core();
    untried_ = true;
    return core;
  }

  void learn(Level& l, const Rows& lines) { l.solver.add(lines, l.unknowns->other_than_now()); }

  // The lines that exclude what the level's open values are now; the guard where it need not be looked at again in this
  // search.
  Rows look_at(Level& l) {
    ++looked_at_;
    plan::OpenValues values = l.unknowns->values();
    values.insert(l.outer.begin(), l.outer.end());
    Assignment& a = assignments_.at(values);
    if (&l != &root_ || !a.learned) {
      for (const Broken& lines : a.broken) learn(l, lines);
      for (int line : a.hopeless) learn(l, {line});
    }
    a.learned = a.learned || &l == &root_;
    if (a.refused) return *a.refused > 0 ? Rows{*a.refused} : Rows{kUntried};
    const auto hopeless = std::find_if(a.hopeless.begin(), a.hopeless.end(), [&](int line) { return active(line); });
    if (hopeless != a.hopeless.end()) return {*hopeless};
    if (const std::vector<Broken> broken = that_count(a.broken); !broken.empty()) return broken.front();
    if (a.open) return below(a);
    const std::vector<std::vector<int>> allowed = allowed_words(a);
    std::int64_t combinations = 1;
    for (const auto& words : allowed)
      combinations = std::min<std::int64_t>(combinations * static_cast<std::int64_t>(words.size()), 1 << 30);
    return combinations <= limits_.exhaustive ? explore(a, allowed) : postpone(a, allowed);
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

  // Of each choice the words that no row forbids.
  std::vector<std::vector<int>> allowed_words(const Assignment& a) const {
    std::vector<std::vector<int>> out;
    for (const Choice& c : a.choices) {
      out.emplace_back();
      for (std::size_t w = 0; w < c.words.size(); ++w)
        if (std::none_of(c.forbidden_by[w].begin(), c.forbidden_by[w].end(), [&](int line) { return active(line); }))
          out.back().push_back(static_cast<int>(w));
    }
    return out;
  }

  Score score(const Assignment& a, const Looked& l) const {
    if (l.refused || !l.evaluation) return {};
    Score out{true, 0, l.evaluation->step_us};
    for (const MemoryLimit& limit : a.limits)
      if (const Peak* peak = highest(limit, l.evaluation->peaks); peak && active(limit.line))
        out.excess += std::max<std::int64_t>(0, peak->bytes - limit.bytes);
    if (out.excess == 0 && !that_count(l.broken).empty()) out.possible = false;
    return out;
  }

  void take(Assignment& a, const std::vector<int>& picks, const Looked& l) {
    Found found{{}, a.values, *l.evaluation, 0, {}, {}};
    for (const MemoryLimit& limit : a.limits)
      if (limit.line == goal_.memory_line)
        if (const Peak* peak = highest(limit, l.evaluation->peaks); peak && peak->bytes > found.bytes) {
          found.bytes = peak->bytes;
          found.devices = peak->devices;
        }
    const auto measure = [&](const Found& f) {
      return goal_.memory_line > 0 ? static_cast<double>(f.bytes) : f.evaluation.step_us;
    };
    if (result_.best && measure(*result_.best) <= measure(found)) return;
    result_.best = std::move(found);
    best_ = &a;
    best_picks_ = picks;
    ++taken_;
  }

  void write_plan() {
    if (!result_.best) return;
    const plan::Decisions& d = assignments_.decisions(*best_);
    result_.best->plan = completed(joined_.plan, d, *best_->model, best_->values, best_->choices, best_picks_);
    result_.best->where = where_text(d, result_.best->devices);
  }

  // Every combination of choices; what excludes them all is why there is none.
  Rows explore(Assignment& a, const std::vector<std::vector<int>>& allowed) {
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
      if (deadline_->expired()) return {guard_};  // the outer check will end as well
      std::vector<int> picks;
      for (std::size_t i = 0; i < digits.size(); ++i) picks.push_back(allowed[i][digits[i]]);
      const Looked& l = assignments_.look(a, picks, *rows_);
      std::vector<Broken> broken = that_count(l.broken);
      if (l.refused) broken.push_back({*l.refused});
      if (broken.empty()) {
        take(a, picks, l);
        found = true;
        if (goal_.any) return {guard_};
        continue;
      }
      reasons.add(std::move(broken));
      if (folded) reasons.add({{kUntried}});
    }
    return found ? Rows{guard_} : reasons.lines();
  }

  static bool next(std::vector<std::size_t>& digits, const std::vector<std::vector<int>>& allowed) {
    for (std::size_t i = digits.size(); i-- > 0;) {
      if (++digits[i] < allowed[i].size()) return true;
      digits[i] = 0;
    }
    return false;
  }

  std::vector<Broken> that_count(const std::set<Broken>& broken) const {
    std::vector<Broken> out;
    for (const Broken& lines : broken)
      if (assignments_.counts(lines, *rows_)) out.push_back(lines);
    return out;
  }

  // Of lines that each exclude something.
  std::vector<Broken> each_that_counts(const std::vector<int>& lines) const {
    std::vector<Broken> out;
    for (int line : lines)
      if (active(line)) out.push_back({line});
    return out;
  }

  // ---- too many combinations: descent

  Rows postpone(Assignment& a, const std::vector<std::vector<int>>& allowed) {
    Waiting w{&a, {}, {}};
    for (const auto& words : allowed) w.picks.push_back(words.front());
    begin_at(w, w.picks);
    std::vector<int> now = w.picks, whole = w.picks;
    for (std::size_t i = 0; i < allowed.size(); ++i)
      if (holds(allowed[i], a.choices[i].now)) now[i] = a.choices[i].now;
    if (now != w.picks) begin_at(w, now);
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      const std::vector<std::string>& words = a.choices[i].words;
      const auto none = std::find(words.begin(), words.end(), "none");
      const int word = static_cast<int>(none - words.begin());
      if (none != words.end() && holds(allowed[i], word)) whole[i] = word;
    }
    if (!w.score.possible) begin_at(w, whole);  // what is whole everywhere can be carried out
    waiting_.push_back(std::move(w));
    return {guard_};
  }

  // There, unless it is worse than where it begins already.
  void begin_at(Waiting& w, const std::vector<int>& picks) {
    const Looked& l = assignments_.look(*w.assignment, picks, *rows_);
    const Score s = score(*w.assignment, l);
    if (s.good()) take(*w.assignment, picks, l);
    if (w.score < s) return;
    w.picks = picks;
    w.score = s;
  }

  void sort_waiting() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Waiting& a, const Waiting& b) { return a.score < b.score; });
  }

  void descend() {
    sort_waiting();
    for (std::size_t i = 0; i < waiting_.size() && i < kTogether && !done() && !deadline_->expired(); ++i)
      improve_together(waiting_[i], allowed_words(*waiting_[i].assignment));
    sort_waiting();
    int fruitless = 0;
    for (Waiting& w : waiting_) {
      if (fruitless >= kFruitless && result_.best) break;
      ++fruitless;
      const int before = taken_;
      const std::vector<std::vector<int>> allowed = allowed_words(*w.assignment);
      bool better = true;
      while (better && !deadline_->expired()) {
        better = improve_together(w, allowed);
        for (std::size_t i = 0; i < allowed.size() && !deadline_->expired(); ++i) better |= improve(w, i, allowed[i]);
        if (done()) return;
      }
      if (taken_ > before) fruitless = 0;
      if (deadline_->expired()) {
        end();
        return;
      }
    }
    if (!waiting_.empty() && result_.reason.empty())
      result_.reason = "too many combinations of choices to try them all";
  }

  bool improve(Waiting& w, std::size_t i, const std::vector<int>& words) {
    bool better = false;
    for (int word : words) {
      if (word == w.picks[i] || deadline_->expired()) continue;
      std::vector<int> picks = w.picks;
      picks[i] = word;
      better |= move(w, std::move(picks));
    }
    return better;
  }

  // What makes one operator worse, whose neighbours are as before, may be better for all: those that have a word on an axis take
  // it together.
  bool improve_together(Waiting& w, const std::vector<std::vector<int>>& allowed) {
    const std::vector<Choice>& choices = w.assignment->choices;
    std::set<std::pair<int, std::string>> words;  // by axis
    for (std::size_t i = 0; i < choices.size(); ++i)
      for (const int word : allowed[i])
        words.emplace(choices[i].axis, choices[i].words[static_cast<std::size_t>(word)]);
    bool better = false;
    for (const auto& [axis, word] : words) {
      if (deadline_->expired()) break;
      std::vector<int> picks = w.picks;
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const auto known = std::find(choices[i].words.begin(), choices[i].words.end(), word);
        const auto index = static_cast<int>(known - choices[i].words.begin());
        if (choices[i].axis == axis && known != choices[i].words.end() && holds(allowed[i], index)) picks[i] = index;
      }
      if (picks != w.picks) better |= move(w, std::move(picks));
    }
    return better;
  }

  // There, if it is better.
  bool move(Waiting& w, std::vector<int> picks) {
    const Looked& l = assignments_.look(*w.assignment, picks, *rows_);
    const Score s = score(*w.assignment, l);
    if (!(s < w.score)) return false;
    w.picks = std::move(picks);
    w.score = s;
    if (s.good()) take(*w.assignment, w.picks, l);
    return true;
  }

  // ---- equal layers that take different words

  // Where all of them would be shorter with another word, but need too much memory: as many of the first, or of the last, as
  // fit, found by bisection.
  void unfold() {
    for (std::size_t i = 0; i < best_->choices.size(); ++i) {
      const Choice c = best_->choices[i];
      const std::vector<std::vector<int>> allowed = allowed_words(*best_);
      for (const int word : allowed[i]) {
        if (c.rows.size() < 2 || word == best_picks_[i] || deadline_->expired()) continue;
        std::vector<int> all = best_picks_;
        all[i] = word;
        const Score s = score(*best_, assignments_.look(*best_, all, *rows_));
        if (!s.possible || s.excess == 0 || s.step_us >= result_.best->evaluation.step_us) continue;
        Assignment* folded = best_;
        assignments_.decisions(*folded);  // copies have them too
        const std::vector<int> picks = best_picks_;
        for (const bool first : {true, false}) {
          std::size_t some = 0, most = c.rows.size();
          while (most - some > 1 && !deadline_->expired()) {
            const std::size_t half = (some + most) / 2;
            (unfolded(*folded, picks, i, word, half, first) ? some : most) = half;
          }
        }
        if (best_ != folded) break;  // the choice is another one now
      }
    }
  }

  // Whether so many of the choice's rows with that word are still within all limits.
  bool unfolded(const Assignment& folded, std::vector<int> picks, std::size_t i, int word, std::size_t count,
                bool first) {
    Assignment& a = unfolded_.emplace_back(folded);
    a.looked.clear();
    a.disorder.clear();
    Choice others = a.choices[i];
    std::vector<int>& rows = a.choices[i].rows;
    const auto cut = static_cast<std::ptrdiff_t>(first ? count : rows.size() - count);
    others.rows.assign(rows.begin() + cut, rows.end());
    rows.erase(rows.begin() + cut, rows.end());
    a.choices.insert(a.choices.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(others));
    picks.insert(picks.begin() + static_cast<std::ptrdiff_t>(i) + 1, picks[i]);
    picks[first ? i : i + 1] = word;
    const Looked& l = assignments_.look(a, picks, *rows_);
    const bool good = score(a, l).good();
    if (good) take(a, picks, l);
    if (best_ != &a) unfolded_.pop_back();
    return good;
  }

  const Joined& joined_;
  const Judge& judge_;
  const Limits& limits_;
  Assignments assignments_;
  const Rows& all_;

  Level root_;
  std::vector<Diagnostic> errors_;
  std::set<Broken> contradictions_;
  bool places_ = false, ranged_ = false;  // there are more than are tried

  // Of the search that runs.
  const Rows* rows_ = nullptr;
  const Deadline* deadline_ = nullptr;
  Goal goal_;
  int guard_ = 0;  // below zero: what is learned under it counts in this search alone
  std::vector<Waiting> waiting_;
  bool orders_ = false, folded_ = false;  // there are more than are tried
  bool stopped_ = false;                  // by a limit
  bool untried_ = false;                  // something may be left beyond what was tried
  int looked_at_ = 0;
  Assignment* best_ = nullptr;
  std::deque<Assignment> unfolded_;
  std::vector<int> best_picks_;
  int taken_ = 0;
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
std::optional<std::int64_t> RowSearch::limit_bytes(int line) const { return impl_->assignments().limit_bytes(line); }
int RowSearch::assignments() const { return impl_->assignments().count(); }

}  // namespace planscope::constraint
