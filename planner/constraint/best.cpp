#include "planner/constraint/best.h"

#include <algorithm>

namespace planscope::constraint {

Best::Best(Assignments& assignments, const Rows& rows, const Goal& goal, Progress progress)
    : assignments_(assignments), rows_(rows), goal_(goal), progress_(std::move(progress)) {}

Score Best::score(const Assignment& a, const Looked& l) const {
  if (l.refused || !l.evaluation) return {};
  Score out{true, 0, l.evaluation->step_us};
  for (const MemoryLimit& limit : a.limits)
    if (const Peak* peak = highest(limit, l.evaluation->peaks); peak && holds(rows_, limit.line))
      out.excess += std::max<std::int64_t>(0, peak->bytes - limit.bytes);
  if (out.excess == 0 && !assignments_.that_count(l.broken, rows_).empty()) out.possible = false;
  return out;
}

void Best::take(Assignment& a, const std::vector<int>& picks, const Looked& l) {
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
  if (found_ && measure(*found_) <= measure(found)) return;
  found_ = std::move(found);
  assignment_ = &a;
  picks_ = picks;
  ++taken_;
  if (progress_) progress_(found_->evaluation.step_us, 0);
}

std::optional<Found> Best::written(const plan::Plan& plan) {
  if (!found_) return std::nullopt;
  const plan::Decisions& d = assignments_.decisions(*assignment_);
  found_->plan = completed(plan, d, *assignment_->model, assignment_->values, assignment_->choices, picks_);
  found_->where = where_text(d, found_->devices);
  return found_;
}

}  // namespace planscope::constraint
