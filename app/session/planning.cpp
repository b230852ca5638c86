#include "app/session/planning.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "app/session/lines.h"
#include "app/session/store.h"
#include "app/workbench/profiling.h"
#include "planner/complete/least_memory.h"
#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::session {

namespace {

constexpr std::chrono::milliseconds kLook(25);  // between two looks at whether it is to stop
constexpr int kLooks = 10;                      // between two progress reports

class Planning {
 public:
  using Answer = std::function<void(std::shared_ptr<const PlannerAnswer>)>;
  Planning(PlanRequest request, Answer answer, const Jobs::Report& report, int job)
      : request_(std::move(request)), answer_(std::move(answer)), report_(report) {
    now_.job = job;
    now_.asked = request_.text;
    now_.cluster = request_.cluster;
    now_.within_us = request_.within_us;
    now_.limit_seconds = request_.seconds;
    if (request_.batch > 0) now_.batch = request_.batch;
  }

  Jobs::End run() {
    report_.within(request_.seconds);
    tell();
    Result<Completion> found = search_and_tell();
    now_.running = false;
    now_.diagnostics.insert(now_.diagnostics.end(), found.diagnostics.begin(), found.diagnostics.end());
    Jobs::End end;
    if (!found.value || has_errors(now_.diagnostics)) {
      now_.status = "refused";
      end = {JobState::failed, "the plan has errors", now_.diagnostics};
    } else {
      end = take(*found);
    }
    tell();
    return end;
  }

 private:
  // Says how long it has searched, also while nothing better is found; and at once that it has been stopped, however long
  // the search takes to end and to verify what it has.
  Result<Completion> search_and_tell() {
    std::mutex mutex;
    std::condition_variable ended;
    bool searching = true;
    std::thread clock([&] {
      std::unique_lock lock(mutex);
      for (int looks = 1; !ended.wait_for(lock, kLook, [&] { return !searching; }); ++looks) {
        if (report_.stop()) return tell_stopped();
        if (looks % kLooks == 0) tell_time();
      }
    });
    Result<Completion> found = search();
    {
      const std::lock_guard lock(mutex);
      searching = false;
    }
    ended.notify_all();
    clock.join();
    return found;
  }

  Result<Completion> search() {
    Result<plan::Plan> p = plan::parse_plan(request_.text, request_.file);
    if (!p.value || p.has_errors()) return p.diagnostics;
    const SystemClock clock;
    std::optional<Workspace> workspace;
    if (!request_.workspace.empty()) {
      Result<Workspace> opened = Workspace::open(request_.workspace, clock);
      if (opened.value) workspace = std::move(*opened.value);
    }
    const Workspace* w = workspace ? &*workspace : nullptr;
    const Result<Cluster> cluster = open_cluster(request_.cluster, *p, w);
    if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
    std::vector<plan::Plan> rows;
    if (request_.whole) {
      rows.push_back(*p);
      std::erase_if(rows[0].statements, [](const plan::Statement& s) {
        return s.automatic || !(std::holds_alternative<plan::RequireStatement>(s.body) ||
                                std::holds_alternative<plan::ForbidStatement>(s.body));
      });
      p->statements.clear();
    }
    CompletionSettings settings{.time_limit_s = request_.seconds, .global_batch = request_.batch};
    settings.costs = stored_costs(w, *cluster, now_.diagnostics);
    if (w) now_.measurements = measurements_of(*w, now_.diagnostics);
    if (request_.within_us) return search_memory(*p, rows, *cluster, settings);
    settings.progress = [this](double step_us, double bound_us) { better({.step_us = step_us, .lower_bound_us = bound_us}); };
    return complete(request_.model->graph, *p, rows, *cluster, settings, report_.stop());
  }

  Result<Completion> search_memory(const plan::Plan& p, const std::vector<plan::Plan>& rows, const Cluster& cluster,
                                   const CompletionSettings& settings) {
    Result<LeastMemory> least = complete_in_least_memory(
        request_.model->graph, p, rows, cluster, settings, *request_.within_us, report_.stop(),
        [this](double step_us, std::int64_t peak, std::int64_t bound) {
          better({.step_us = step_us, .peak_bytes = peak, .lower_bound_bytes = bound});
        });
    Result<Completion> out;
    out.diagnostics = std::move(least.diagnostics);
    if (!least.value) return out;
    now_.peak_bytes = least->peak_bytes;
    now_.lower_bound_bytes = least->lower_bound_bytes;
    out.value = std::move(least->found);
    return out;
  }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  void tell_time() {
    const std::lock_guard lock(mutex_);
    now_.seconds = seconds();
    report_.progress(now_.seconds, request_.seconds, best_, bound_);
    tell();
  }

  void tell_stopped() {
    const std::lock_guard lock(mutex_);
    now_.seconds = seconds();
    now_.running = false;
    now_.status = "stopped";
    now_.reason = best_.empty() ? "no plan has been found yet, and the search is ending"
                                 : "the best plan so far is being verified";
    tell();
    report_.ended({JobState::cancelled, now_.reason});
  }

  void better(PlannerProgress p) {
    const std::lock_guard lock(mutex_);
    p.seconds = now_.seconds = seconds();
    now_.progress.push_back(p);
    now_.step_us = p.step_us;
    if (p.lower_bound_us > 0) now_.lower_bound_us = p.lower_bound_us;
    if (p.peak_bytes > 0) now_.peak_bytes = p.peak_bytes;
    if (p.lower_bound_bytes > 0) now_.lower_bound_bytes = p.lower_bound_bytes;
    bound_ = p.lower_bound_us > 0 ? "no less than " + time_text(p.lower_bound_us)
                              : p.lower_bound_bytes > 0
                                  ? "no less than " + bytes_text(static_cast<double>(p.lower_bound_bytes))
                                  : "";
    const std::string memory = p.peak_bytes > 0 ? bytes_text(static_cast<double>(p.peak_bytes)) + ", " : "";
    best_ = memory + time_text(p.step_us);
    report_.progress(p.seconds, request_.seconds, best_, bound_);
    tell();
  }

  Jobs::End take(const Completion& c) {
    now_.status = std::string(to_string(c.status));
    now_.reason = c.reason;
    now_.conflicts = c.conflicts;
    now_.all_conflicts = c.all_conflicts;
    now_.candidates = c.candidates;
    now_.step_us = c.simulation ? std::optional(c.simulation->step_us()) : std::nullopt;
    now_.lower_bound_us = c.lower_bound_us;
    if (c.simulation) tell_the_end(c);
    if (c.simulation && c.status != CompletionStatus::impossible)
      now_.found = c.candidates.empty() ? with_planned_lines(request_.text, c.plan) : plan::print(c.plan);
    if (report_.stop()) return {JobState::cancelled, now_.found.empty() ? "nothing was found" : "the best so far is kept"};
    return {JobState::done, c.simulation ? "step " + time_text(c.simulation->step_us()) : now_.status};
  }

  // Reports the final plan and bound: the bound still rises after the best plan was reported, and a search that was ended
  // early may find its plan at the end.
  void tell_the_end(const Completion& c) {
    better({.step_us = c.simulation->step_us(),
            .lower_bound_us = c.lower_bound_us.value_or(0),
            .peak_bytes = now_.peak_bytes.value_or(0),
            .lower_bound_bytes = now_.lower_bound_bytes.value_or(0)});
  }

  void tell() const { answer_(std::make_shared<const PlannerAnswer>(now_)); }

  const PlanRequest request_;
  const Answer answer_;
  const Jobs::Report& report_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // of what follows, while the search runs
  std::string best_, bound_;
  PlannerAnswer now_;
};

}  // namespace

int plan_in_background(Jobs& jobs, PlanRequest request, std::function<void(std::shared_ptr<const PlannerAnswer>)> answer) {
  const std::string what = request.whole ? "plan from nothing" : "plan";
  return jobs.start(what, [request = std::move(request), answer = std::move(answer)](const Jobs::Report& report) {
    return Planning(request, answer, report, report.id()).run();
  });
}

std::string with_planned_lines(const std::string& text, const plan::Plan& completed) {
  std::set<int> old;  // lines that a planner wrote before
  if (const Result<plan::Plan> before = plan::parse_plan(text, ""); before.value)
    for (const plan::Statement& s : before->statements)
      if (s.automatic) old.insert(s.line);
  std::map<int, std::vector<std::string>> behind;  // a line of the user
  int line = 0;
  for (const plan::Statement& s : completed.statements)
    if (s.automatic)
      behind[line].push_back(plan::print(s));
    else
      line = s.line;
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string out;
  const auto add = [&](int number) {
    for (const std::string& planned : behind[number]) out += planned + "\n";
  };
  add(0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (!old.contains(number)) out += lines[i] + "\n";
    add(number);
  }
  return out;
}

std::optional<std::vector<FoundLine>> lines_left(const PlannerAnswer& a, const std::string& text) {
  if (a.found.empty()) return std::nullopt;
  const std::vector<std::string> has = lines_of(text);
  std::vector<FoundLine> out;
  std::size_t next = 0;
  for (std::string& line : lines_of(a.found)) {
    const bool left = next == has.size() || has[next] != line;
    if (!left) ++next;
    out.push_back({std::move(line), left});
  }
  if (next < has.size()) return std::nullopt;
  return out;
}

}  // namespace planscope::session
