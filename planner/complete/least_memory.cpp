#include "planner/complete/least_memory.h"

#include <algorithm>
#include <chrono>

#include "engine/base/format.h"
#include "engine/plan/parser.h"

namespace planscope {

namespace {

constexpr std::int64_t kParts = 256;  // the two bounds are as close as that when the search ends

class Search {
 public:
  Search(const Graph& graph, const plan::Plan& p, const std::vector<plan::Plan>& rows, const Cluster& cluster,
         CompletionSettings settings, double within_us, const std::atomic<bool>& stop, const LessMemory& progress)
      : graph_(graph), plan_(p), rows_(rows), cluster_(cluster), settings_(std::move(settings)), within_us_(within_us),
        stop_(stop), progress_(progress) {
    settings_.progress = {};
  }

  Result<LeastMemory> run() {
    Result<LeastMemory> out;
    Result<Completion> first = ask({});
    out.diagnostics = std::move(first.diagnostics);
    if (!first.value) return out;
    LeastMemory best;
    best.found = std::move(*first.value);
    if (best.found.simulation && best.found.simulation->step_us() > within_us_) {
      say_too_slow(best.found);
    } else if (best.found.status == CompletionStatus::complete) {
      best.peak_bytes = peak_of(best.found);
      narrow(best);
      keep_the_time(best.found.candidates);
    }
    out.value = std::move(best);
    return out;
  }

 private:
  // Within the rows, and within so much memory.
  Result<Completion> ask(std::optional<std::int64_t> bytes) {
    std::vector<plan::Plan> rows = rows_;
    if (bytes)
      rows.push_back(*plan::parse_plan("require memory(all) <= " + std::to_string(*bytes) + "B\n", "least memory").value);
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin_;
    CompletionSettings settings = settings_;
    settings.explain = !bytes;
    settings.time_limit_s = std::max(0.0, settings_.time_limit_s - gone.count());
    return complete(graph_, plan_, rows, cluster_, settings, stop_);
  }

  void narrow(LeastMemory& best) {
    std::int64_t too_little = 0;
    bool proved = true;  // that no plan takes `too_little`
    const auto tell = [&] {
      if (progress_) progress_(best.found.simulation->step_us(), *best.peak_bytes, proved ? too_little : 0);
    };
    tell();
    while (*best.peak_bytes - too_little > std::max<std::int64_t>(1, *best.peak_bytes / kParts)) {
      const std::int64_t middle = too_little + (*best.peak_bytes - too_little) / 2;
      Result<Completion> next = ask(middle);
      if (!next.value || stop_ || next->status == CompletionStatus::unknown) {
        cut_short(best.found, middle, next.value ? next->reason : "");
        proved = proved && too_little > 0;
        break;
      }
      const bool found = next->status == CompletionStatus::complete && next->simulation;
      if (found && next->simulation->step_us() <= within_us_) {
        best.found = std::move(*next.value);
        best.peak_bytes = peak_of(best.found);
      } else {
        too_little = middle;
        proved = proved && (!found || next->lower_bound_us.value_or(0) > within_us_);
      }
      tell();
    }
    if (proved) best.lower_bound_bytes = too_little;
  }

  // Of what else was found, what keeps the time, the least memory first. The first one is the answer.
  void keep_the_time(std::vector<stages::Candidate>& all) const {
    if (all.empty()) return;
    const auto peak = [](const stages::Candidate& c) {
      return c.peak_bytes.empty() ? 0 : *std::max_element(c.peak_bytes.begin(), c.peak_bytes.end());
    };
    all.erase(std::remove_if(all.begin() + 1, all.end(), [&](const stages::Candidate& c) { return c.step_us > within_us_; }), all.end());
    std::stable_sort(all.begin() + 1, all.end(), [&](const auto& a, const auto& b) { return peak(a) < peak(b); });
  }

  // The plan stands, and it is not known whether another one has less memory.
  void cut_short(Completion& c, std::int64_t bytes, const std::string& why) const {
    c.status = CompletionStatus::unknown;
    c.reason = "whether a plan needs at most " + bytes_text(static_cast<double>(bytes)) + " is not known: " +
               (why.empty() ? stop_ ? "stopped" : "the search was ended" : why);
  }

  void say_too_slow(Completion& c) const {
    const bool proved = c.lower_bound_us.value_or(0) > within_us_;
    c.status = proved ? CompletionStatus::impossible : CompletionStatus::unknown;
    c.reason = "the fastest plan that was found takes " + time_text(c.simulation->step_us()) + ", more than " +
               time_text(within_us_) + (proved ? "; none is faster than " + time_text(*c.lower_bound_us) : "");
  }

  const Graph& graph_;
  const plan::Plan& plan_;
  const std::vector<plan::Plan>& rows_;
  const Cluster& cluster_;
  CompletionSettings settings_;
  const double within_us_;
  const std::atomic<bool>& stop_;
  const LessMemory& progress_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::int64_t peak_of(const Completion& c) {
  std::int64_t out = 0;
  for (const ClassTimeline& t : c.simulation->classes) out = std::max(out, t.peak.bytes());
  return out;
}

Result<LeastMemory> complete_in_least_memory(const Graph& graph, const plan::Plan& p, const std::vector<plan::Plan>& rows,
                                             const Cluster& cluster, CompletionSettings settings, double within_us,
                                             const std::atomic<bool>& stop, const LessMemory& progress) {
  return Search(graph, p, rows, cluster, std::move(settings), within_us, stop, progress).run();
}

}  // namespace planscope
