#include "planner/search/schedule/regular.h"

#include <algorithm>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Run {
  std::vector<int> tasks;
  std::int64_t span = 0;  // from start to start, at least
};

int step(const Task& a, const Task& b) {
  if (a.devices == b.devices) return 0;
  return a.devices.size() == 1 && b.devices.size() == 1 ? b.devices[0] - a.devices[0] : INT32_MAX;
}

// Whether b continues the run that ends with a.
bool continues(const Problem& p, const Run& run, int b, std::int64_t span) {
  const Task& last = p.tasks[at(run.tasks.back())];
  const Task& next = p.tasks[at(b)];
  const int s = step(last, next);
  if (last.time != next.time || last.memory != next.memory || s == INT32_MAX || last.copy != next.copy) return false;
  if (run.tasks.size() == 1) return true;
  return span == run.span && s == step(p.tasks[at(run.tasks[run.tasks.size() - 2])], last);
}

std::vector<Run> runs_of(const Problem& p) {
  std::vector<Run> out;
  std::vector<bool> done(p.tasks.size(), false);
  for (int t : p.topological) {
    if (done[at(t)]) continue;
    Run run{{t}, 0};
    done[at(t)] = true;
    while (true) {
      const auto& next = p.out_of[at(run.tasks.back())];
      if (next.size() != 1) break;
      const Edge& e = p.edges[at(next[0])];
      if (p.into[at(e.to)].size() != 1 || !continues(p, run, e.to, e.span)) break;
      run.span = e.span;
      run.tasks.push_back(e.to);
      done[at(e.to)] = true;
    }
    out.push_back(std::move(run));
  }
  return out;
}

class Search {
 public:
  Search(const Problem& p, std::int64_t period, std::int64_t nodes, const Deadline& deadline)
      : p_(p),
        period_(period),
        nodes_(nodes),
        deadline_(deadline),
        runs_(runs_of(p)),
        taken_(at(p.resources), std::vector<bool>(static_cast<std::size_t>(period), false)),
        start_(p.tasks.size(), 0) {
    for (const Run& r : runs_) free_numbers_ += r.tasks.size() > 1 ? 2 : 1;
  }

  std::optional<Pattern> run() {
    for (const Task& t : p_.tasks)
      if (t.time > period_) return std::nullopt;
    // Little slack first: patterns with much of it hold more memory and end later.
    const std::int64_t most = (period_ - 1) * free_numbers_;
    for (std::int64_t slack = 0;; slack = std::min(most, slack * 2 + 1)) {
      if (place(0, slack)) return found_;
      if (slack == most || spent()) return std::nullopt;
    }
  }

 private:
  bool spent() {
    if (nodes_ > 0 && nodes_ % 1024 == 0 && deadline_.expired()) nodes_ = 0;
    return nodes_ <= 0;
  }

  bool place(std::size_t r, std::int64_t slack) {
    if (r == runs_.size()) return finish();
    const Run& run = runs_[r];
    const bool source = p_.into[at(run.tasks[0])].empty();
    std::int64_t earliest = 0;
    for (int e : p_.into[at(run.tasks[0])])
      earliest = std::max(earliest, start_[at(p_.edges[at(e)].from)] + p_.edges[at(e)].span);
    // The first of all starts at 0; other sources anywhere: that is no slack.
    const std::int64_t offsets = r == 0 ? 1 : period_;
    for (std::int64_t gap = 0; gap < offsets && (source || gap <= slack); ++gap) {
      const std::int64_t left = source ? slack : slack - gap;
      const std::int64_t steps = run.tasks.size() > 1 ? std::min(period_ - 1, left) : 0;
      for (std::int64_t more = 0; more <= steps; ++more) {
        if (spent()) return false;
        --nodes_;
        const std::size_t placed = put(run, earliest + gap, run.span + more);
        if (placed == run.tasks.size() && place(r + 1, left - more)) return true;
        take_back(run, placed);
        if (placed < 1) break;  // not even the first: whatever the step
      }
    }
    return false;
  }

  // How many tasks of the run have room.
  std::size_t put(const Run& run, std::int64_t first, std::int64_t step) {
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
      start_[at(run.tasks[i])] = first + static_cast<std::int64_t>(i) * step;
      if (!free(run.tasks[i])) return i;
      mark(run.tasks[i], true);
    }
    return run.tasks.size();
  }
  void take_back(const Run& run, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) mark(run.tasks[i], false);
  }

  bool free(int task) const {
    const Task& t = p_.tasks[at(task)];
    for (int r : t.resources)
      for (std::int64_t i = 0; i < t.time; ++i)
        if (taken_[at(r)][static_cast<std::size_t>((start_[at(task)] + i) % period_)]) return false;
    return true;
  }
  void mark(int task, bool value) {
    const Task& t = p_.tasks[at(task)];
    for (int r : t.resources)
      for (std::int64_t i = 0; i < t.time; ++i)
        taken_[at(r)][static_cast<std::size_t>((start_[at(task)] + i) % period_)] = value;
  }

  bool finish() {
    std::vector<std::int64_t> offset = start_;
    for (std::int64_t& s : offset) s %= period_;
    found_ = pattern_at(p_, period_, offset);
    return found_ && !violation(p_, *found_);
  }

  const Problem& p_;
  const std::int64_t period_;
  std::int64_t nodes_;
  const Deadline& deadline_;
  const std::vector<Run> runs_;
  std::vector<std::vector<bool>> taken_;  // by resource: slots of the period
  std::vector<std::int64_t> start_;
  std::int64_t free_numbers_ = 0;
  std::optional<Pattern> found_;
};

}  // namespace

std::optional<Pattern> regular_pattern(const Problem& p, std::int64_t period, std::int64_t nodes,
                                       const Deadline& deadline) {
  return Search(p, period, nodes, deadline).run();
}

}  // namespace planscope::schedule
