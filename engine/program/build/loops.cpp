// The slots of a device class as loops: prefix, body x n, suffix; the longest repetition first, then inside what is left.
#include <algorithm>

#include "engine/program/build/schedule.h"

namespace planscope::build {

namespace {

SlotStep step_of(const SlotRun& run) {
  return {run.segment, run.index, std::vector<std::int64_t>(run.index.size(), 0), run.ahead};
}

// Whether the slot at `i` comes again after a period, and once more by the step from `first` if that is before it.
bool repeats(const std::vector<SlotRun>& q, std::size_t first, std::size_t i, std::size_t period) {
  if (q[i].segment != q[i + period].segment || q[i].ahead != q[i + period].ahead) return false;
  const auto &a = q[first].index, &b = q[first + period].index, &c = q[i].index, &d = q[i + period].index;
  for (std::size_t k = 0; k < c.size(); ++k)
    if (d[k] - c[k] != b[k] - a[k]) return false;
  return true;
}

void fold_range(const std::vector<SlotRun>& q, std::size_t begin, std::size_t end, std::vector<Loop>& out) {
  const std::size_t n = end - begin;
  std::size_t best_gain = 0, best_start = 0, best_period = 0, best_count = 0;
  for (std::size_t period = 1; period <= n / 2 && period <= 64; ++period)
    for (std::size_t i = begin; i + 2 * period <= end;) {
      std::size_t run = 0;
      while (i + run + period < end && repeats(q, i + run % period, i + run, period)) ++run;
      const std::size_t count = run / period + 1;
      const std::size_t gain = count > 1 ? (count - 1) * period : 0;
      if (gain > best_gain) {
        best_gain = gain;
        best_start = i;
        best_period = period;
        best_count = count;
      }
      i += std::max<std::size_t>(run >= period ? run : 1, 1);
    }
  if (best_count < 2 || best_gain < 2) {
    Loop l;
    for (std::size_t i = begin; i < end; ++i) l.body.push_back(step_of(q[i]));
    if (!l.body.empty()) out.push_back(std::move(l));
    return;
  }
  fold_range(q, begin, best_start, out);
  Loop l;
  l.count = static_cast<std::int64_t>(best_count);
  for (std::size_t i = 0; i < best_period; ++i) {
    SlotStep s = step_of(q[best_start + i]);
    const std::vector<std::int64_t>& y = q[best_start + i + best_period].index;
    for (std::size_t k = 0; k < s.step.size(); ++k) s.step[k] = y[k] - s.base[k];
    l.body.push_back(std::move(s));
  }
  out.push_back(std::move(l));
  fold_range(q, best_start + best_period * best_count, end, out);
}

}  // namespace

std::vector<Loop> folded(const std::vector<SlotRun>& slots) {
  std::vector<Loop> out;
  fold_range(slots, 0, slots.size(), out);
  return out;
}

}  // namespace planscope::build
