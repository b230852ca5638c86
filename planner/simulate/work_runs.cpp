#include "planner/simulate/work_runs.h"

#include "planner/simulate/steps.h"

namespace planscope {
namespace {

// Whether a step does the same in every run of its segment, and needs nothing of others.
bool is_plain(const Step& s) {
  return s.kind == StepKind::compute && !s.last && !s.but_last && !s.restore_after && !s.offload_with && s.releases.empty();
}

void apply(const std::vector<MemoryChange>& changes, WorkRun& run) {
  for (const MemoryChange& c : changes) {
    run.change[c.kind] += c.bytes;
    run.bytes += c.bytes;
  }
}

void add(const Step& s, WorkRun& run) {
  apply(s.before, run);
  const std::int64_t bytes = run.bytes + s.transient + s.transient_gradients;
  if (run.end == run.begin || bytes > run.highest_bytes) {
    run.highest_at = run.duration;
    run.highest_bytes = bytes;
    run.highest = run.change;
    run.highest[MemoryKind::activations] += s.transient;
    run.highest[MemoryKind::gradients] += s.transient_gradients;
  }
  run.duration += s.duration;
  if (s.duration > 0)
    for (std::size_t k = 0; k < run.sources.size(); ++k) run.sources[k] += s.sources[k];
  apply(s.after, run);
  ++run.end;
}

}  // namespace

std::vector<WorkRun> work_runs(const std::vector<Step>& steps) {
  std::vector<WorkRun> out;
  for (std::size_t i = 0; i < steps.size();) {
    WorkRun run{.begin = i, .end = i};
    while (run.end < steps.size() && is_plain(steps[run.end])) add(steps[run.end], run);
    if (run.end - run.begin > 1) out.push_back(run);
    i = run.end > i ? run.end : i + 1;
  }
  return out;
}

}  // namespace planscope
