#include "planner/search/schedule/schedule.h"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "engine/base/stop.h"
#include "planner/search/schedule/coarse.h"
#include "planner/search/schedule/finite.h"
#include "planner/search/schedule/improve.h"
#include "planner/search/schedule/modulo.h"
#include "planner/search/schedule/periodic.h"
#include "planner/search/schedule/regular.h"
#include "planner/search/schedule/retime.h"
#include "planner/search/schedule/rows.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t kMostSlots = 1024;
constexpr std::int64_t kNodes = 20'000;       // of the search for regular patterns, at one period
constexpr std::size_t kPlacings = 2'000'000;  // of pairs of tasks modulo one period
constexpr int kTries = 1500;
constexpr int kFewTries = 100;     // of one round by itself
constexpr double kPatterns = 0.9;  // of the time: for patterns; half of it where the makespan is to be proven
constexpr std::size_t kLaidOut = 500'000;      // runs of tasks; of more only the pattern is looked at
constexpr std::int64_t kLittleWork = 500'000;    // of Z3
constexpr std::int64_t kFeasible = 90'000'000;  // … for whether anything keeps the rows: about a quarter of a minute

// One round after the other, from a schedule of one.
std::optional<Pattern> sequence(const Problem& p, const Timeline& one) {
  Problem alone = p;
  alone.rounds = 1;
  Pattern out{std::max<std::int64_t>(1, makespan(alone, one)), one.start};
  // What a later round waits for may lie behind the end of this one.
  for (const Edge& e : p.edges)
    while (e.distance > 0 && out.start[at(e.to)] + out.period * e.distance < out.start[at(e.from)] + e.span)
      ++out.period;
  if (violation(p, out)) return std::nullopt;
  return out;
}

// One micro-batch after the other, as far as precedences allow; of what is ready, first what takes no memory.
std::vector<int> one_by_one(const Case& c, const Problem& p) {
  const auto later = [&](int a, int b) {
    const auto key = [&](int t) {
      const Task& task = p.tasks[at(t)];
      return std::tuple(c.blocks[at(task.block)].kind, task.copy, task.memory > 0, t);
    };
    return key(a) > key(b);
  };
  std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
  std::vector<std::size_t> waits;
  for (std::size_t t = 0; t < p.tasks.size(); ++t) {
    waits.push_back(p.into[t].size());
    if (waits.back() == 0) ready.push(static_cast<int>(t));
  }
  std::vector<int> out;
  while (!ready.empty()) {
    out.push_back(ready.top());
    ready.pop();
    for (int e : p.out_of[at(out.back())])
      if (const int next = p.edges[at(e)].to; --waits[at(next)] == 0) ready.push(next);
  }
  return out;
}

class Search {
 public:
  Search(const Case& c, const Settings& settings)
      : case_(c),
        settings_(settings),
        deadline_(settings.seconds, settings.stop, settings.clock),
        patterns_(patterns(deadline_, settings)) {
    answer_.problem = make_problem(c);
  }

  Answer run() {
    const Deadline end = Deadline::to_give_up(settings_.seconds, settings_.stop);
    const StopScope scope([&] { return end.over(); });
    try {
      return look();
    } catch (const Stopped&) {
      answer_.timeline = {};
      answer_.outcome = Outcome::unknown;
      answer_.reason = deadline_.stopped() ? "stopped" : "the time limit";
      return std::move(answer_);
    }
  }

 private:
  Answer look() {
    const Problem& p = problem();
    for (int d = 0; d < p.devices; ++d)
      for (int t : p.on_device[at(d)])
        if (p.memory[at(d)] && p.tasks[at(t)].memory > *p.memory[at(d)]) return impossible(d, t);
    const PeriodBound bound = period_bound(p);
    answer_.lower_bound = bound.period;
    answer_.bound_by = bound.by;
    if (!find_sequence()) return std::move(answer_);
    if (!found()) find_feasible();
    if (laid_out() && (!found() || !p.pairs.empty()) && !find_ends()) return std::move(answer_);
    if (!nothing_repeats_) find_pattern();
    answer_.optimal = found() && answer_.pattern.period == answer_.lower_bound;
    finish();
    const bool all = laid_out() ? !answer_.timeline.start.empty() : found() && p.pairs.empty();
    const bool done = (answer_.optimal || nothing_repeats_) && all;
    answer_.outcome = done ? Outcome::found : Outcome::unknown;
    if (!done && answer_.reason.empty()) answer_.reason = unknown_because();
    return std::move(answer_);
  }

  // Limited by work; where there is no such limit, by the user's time, which leaves a part for what comes after them.
  static Deadline patterns(const Deadline& all, const Settings& s) {
    if (s.work > 0) return all.within_work(s.work);
    return Deadline(s.seconds * (s.prove_makespan ? 0.5 : kPatterns), s.stop, s.clock);
  }

  const Problem& problem() const { return answer_.problem; }
  bool laid_out() const { return problem().tasks.size() * at(problem().rounds) <= kLaidOut; }
  bool found() const { return !answer_.pattern.start.empty(); }
  std::string unknown_because() const {
    if (deadline_.stopped()) return "stopped";
    if (patterns_.worked_out()) return "the limit of work";
    if (patterns_.expired()) return "the time limit";
    if (!laid_out() && !problem().pairs.empty()) return "rows about some of so many micro-batches were not looked at";
    if (answer_.timeline.start.empty()) return "no schedule was found that keeps all rows within the devices' memory";
    return found() ? "whether there is a shorter period is not known" : "no schedule that repeats was found";
  }

  Answer impossible(int device, int task) {
    answer_.outcome = Outcome::impossible;
    answer_.reason = "device " + std::to_string(device) + " has " + std::to_string(*problem().memory[at(device)]) +
                     " units of memory, block " + std::to_string(problem().tasks[at(task)].block) + " takes " +
                     std::to_string(problem().tasks[at(task)].memory);
    return std::move(answer_);
  }

  // The pattern of `searched`, whose times are in units, as one of the problem.
  void take(const Problem& searched, std::int64_t unit, bool exact, Pattern pattern, const char* by) {
    if (exact) {
      pattern.period *= unit;
      for (std::int64_t& s : pattern.start) s *= unit;
    } else {
      std::optional<Pattern> real = retimed(problem(), searched, pattern);
      if (!real) return;
      pattern = std::move(*real);
    }
    if (const auto wrong = violation(problem(), pattern)) throw std::logic_error("schedule search: " + *wrong);
    if (found() && std::pair(answer_.pattern.period, length(problem(), answer_.pattern)) <=
                       std::pair(pattern.period, length(problem(), pattern))) {
      others_.push_back(std::move(pattern));
      return;
    }
    if (found()) others_.push_back(std::move(answer_.pattern));
    answer_.pattern = std::move(pattern);
    answer_.found_by = by;
  }

  // False: not even one round fits.
  bool find_sequence() {
    Problem alone = problem();
    alone.rounds = 1;
    alone.pairs.clear();
    std::erase_if(alone.edges, [](const Edge& e) { return e.distance != 0; });
    index_edges(alone);
    Fit one;
    one.timeline = pack(alone, alone.topological);
    if (!one.timeline) one.timeline = pack(alone, one_by_one(case_, alone));
    if (!one.timeline) one = fit(rounded(alone, common_unit(alone)), deadline_);
    if (one.timeline) {
      if (std::optional<Timeline> packed = pack(alone, order_of(alone, *one.timeline)))
        one.timeline = std::move(packed);
      const std::int64_t bound = std::max(answer_.lower_bound, makespan_bound(alone));
      one.timeline = improved(alone, squeezed(alone, std::move(*one.timeline)), bound, kFewTries, deadline_);
      if (const std::optional<Pattern> s = sequence(problem(), *one.timeline)) take(problem(), 1, true, *s, "sequence");
    }
    if (!one.none) return true;
    answer_.outcome = Outcome::impossible;
    answer_.reason =
        "one micro-batch by itself needs more memory than the devices have, in whatever order its blocks run";
    return false;
  }

  // Rounds cannot run one after the other: rows want a later one begun before.
  void find_feasible() {
    const Feasible f = feasible_pattern(case_, problem(), deadline_.within_work(kFeasible));
    if (f.answer == Periodic::Answer::found) take(problem(), 1, true, f.pattern, "sequence");
    nothing_repeats_ = f.answer == Periodic::Answer::none;
    if (nothing_repeats_)
      answer_.reason = "nothing that repeats keeps " + (f.rows.empty() ? "the precedences" : names(case_, f.rows)) +
                       " within the devices' memory";
  }

  // All rounds where no pattern is known whose ends keep the rows. False: there is no schedule of them.
  bool find_ends() {
    ends_ = all_rounds();
    if (ends_) return true;
    Feasible f = feasible_timeline(case_, problem(), deadline_.within_work(kFeasible));
    if (f.answer == Periodic::Answer::found) ends_ = std::move(f.timeline);
    if (f.answer != Periodic::Answer::none) return true;
    answer_.outcome = Outcome::impossible;
    answer_.reason = "no schedule keeps " + (f.rows.empty() ? "the precedences" : names(case_, f.rows)) +
                     " within the devices' memory";
    return false;
  }

  // No schedule that repeats is longer than its round one task after the other.
  std::int64_t longest() const {
    std::int64_t out = 1;
    for (const Task& t : problem().tasks) out += t.time;
    for (const Edge& e : problem().edges) out += e.span - problem().tasks[at(e.from)].time;
    return out;
  }

  // With times as they are; a little longer each time.
  void place_tasks() {
    const std::int64_t bound = answer_.lower_bound;
    const auto tries = static_cast<int>(30 + kPlacings / (problem().tasks.size() * problem().tasks.size()));
    for (std::int64_t more = 0; more <= 4 * bound && !patterns_.expired();
         more = more == 0 ? bound / 256 + 1 : 2 * more) {
      if (found() && answer_.pattern.period <= bound + more) return;
      if (std::optional<Pattern> s = modulo_pattern(problem(), bound + more, tries, patterns_)) {
        take(problem(), 1, true, std::move(*s), "placed");
        return;
      }
    }
  }

  void find_pattern() {
    if (settings_.work > 0) patterns_ = patterns(deadline_, settings_);  // from here on
    std::int64_t unit = common_unit(problem());
    const bool exact = answer_.lower_bound / unit <= settings_.slots;
    if (!exact) unit = (answer_.lower_bound + settings_.slots - 1) / settings_.slots;
    const Problem searched = rounded(problem(), unit);
    const std::int64_t first = exact ? (answer_.lower_bound + unit - 1) / unit : period_bound(searched).period;
    if (exact) answer_.lower_bound = first * unit;
    // A regular one soon, so that there is something to show; the proof from below.
    const auto best = [&] { return ((found() ? answer_.pattern.period : longest()) + unit - 1) / unit; };
    for (std::int64_t period = first; period < std::min(best(), 2 * first) && !patterns_.expired(); ++period)
      if (std::optional<Pattern> s = regular_pattern(searched, period, kNodes, patterns_)) {
        take(searched, unit, exact, std::move(*s), "regular");
        break;
      }
    if (!found() || answer_.pattern.period > answer_.lower_bound) place_tasks();
    for (std::int64_t period = first; period < best() && !patterns_.expired(); ++period) {
      Periodic a = solve_period(searched, period, patterns_);
      if (a.answer == Periodic::Answer::unknown) break;
      if (a.answer == Periodic::Answer::found) {
        take(searched, unit, exact, std::move(a.pattern), "solver");
        break;
      }
      if (!exact) continue;
      answer_.lower_bound = (period + 1) * unit;
      answer_.bound_by = "solver";
    }
    if (!exact && found()) close_gap();
  }

  // With real times: is there a pattern one unit of time shorter than the best? "None" with rounded-down times is none with
  // real ones; what is found may be shorter, or say that more slots are needed.
  void close_gap() {
    std::int64_t tried = 0;
    const auto done = [&] { return gap() <= 0 || undecided_ || patterns_.expired(); };
    for (std::int64_t most = settings_.slots; most <= kMostSlots && !done(); most *= 2) {
      const std::int64_t slots = slots_for(problem(), answer_.pattern.period - 1, most);
      if (slots == tried) continue;
      tried = slots;
      while (!done() && test(answer_.pattern.period - 1, slots)) continue;
      // Too few slots to prove that; what they do prove.
      std::int64_t high = answer_.pattern.period - 1;
      while (high - answer_.lower_bound > high / (8 * slots) && !done()) {
        const std::int64_t middle = answer_.lower_bound + (high - answer_.lower_bound) / 2;
        if (!test(middle, slots)) high = middle;
        high = std::min(high, answer_.pattern.period - 1);
      }
    }
  }
  std::int64_t gap() const { return answer_.pattern.period - answer_.lower_bound; }

  // True if it moved the bound above `period` or the best pattern below.
  bool test(std::int64_t period, std::int64_t slots) {
    const Problem down = rounded_down(problem(), period, slots);
    Periodic a = solve_period(down, slots, patterns_);
    if (a.answer == Periodic::Answer::none) {
      answer_.lower_bound = period + 1;
      answer_.bound_by = "solver";
      return true;
    }
    undecided_ = a.answer == Periodic::Answer::unknown;
    const std::int64_t before = answer_.pattern.period;
    if (a.answer == Periodic::Answer::found) take(down, 1, false, std::move(a.pattern), "solver");
    return answer_.pattern.period < before && answer_.pattern.period <= period;
  }

  // The shortest of all rounds of the patterns, and of what was found without one. Rows about some micro-batches may forbid
  // what a pattern has there.
  std::optional<Timeline> all_rounds() const {
    const Problem& p = problem();
    std::optional<Timeline> shortest = ends_;
    const auto add = [&](Timeline t) {  // what is packed comes behind what is not, and has fewer gaps
      if (!shortest || makespan(p, t) <= makespan(p, *shortest)) shortest = std::move(t);
    };
    if (!found()) return shortest;
    if (Timeline all = unrolled(p, answer_.pattern); !violation(p, all)) add(std::move(all));
    std::vector<const Pattern*> patterns = {&answer_.pattern};
    for (const Pattern& other : others_) patterns.push_back(&other);  // where rounds are few, ends count
    for (const Pattern* pattern : patterns) {
      if (shortest && deadline_.expired()) break;
      const Timeline all = unrolled(p, *pattern);
      const std::vector<int> order = p.pairs.empty() ? order_of(p, all) : Orders(p).by(all.start);
      if (std::optional<Timeline> packed = pack(p, order, shortest ? &deadline_ : nullptr)) add(std::move(*packed));
    }
    return shortest;
  }

  void finish() {
    const Problem& p = problem();
    if (!laid_out()) {
      if (!found() || !p.pairs.empty()) return;
      answer_.makespan = length(p, answer_.pattern) + answer_.pattern.period * (p.rounds - 1);
      answer_.makespan_bound = makespan_bound(p);
      return;
    }
    std::optional<Timeline> first = all_rounds();
    if (!first) return;
    Timeline t = squeezed(p, std::move(*first), &deadline_);
    const std::int64_t bound = makespan_bound(p);
    t = improved(p, std::move(t), bound, kTries,
                 settings_.work > 0 ? deadline_.within_work(settings_.work / 4) : deadline_);
    const bool prove = settings_.prove_makespan;
    Shorter s = shorter(p, std::move(t), bound, prove ? deadline_ : deadline_.within_work(kLittleWork),
                        prove ? kLargestProven : kLargest);
    answer_.work = deadline_.work_done();
    answer_.timeline = in_turn(p, std::move(s.timeline));
    if (const auto wrong = violation(p, answer_.timeline)) throw std::logic_error("schedule search: " + *wrong);
    answer_.makespan = makespan(p, answer_.timeline);
    answer_.makespan_bound = s.bound;
  }

  const Case& case_;
  const Settings settings_;
  const Deadline deadline_;
  Deadline patterns_;
  std::vector<Pattern> others_;   // legal ones that are not the answer
  std::optional<Timeline> ends_;  // of all rounds, without a pattern
  bool nothing_repeats_ = false;
  bool undecided_ = false;  // what the solver says of longer periods would be no proof either
  Answer answer_;
};

}  // namespace

Answer search(const Case& c, const Settings& settings) { return Search(c, settings).run(); }

}  // namespace planscope::schedule
