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

constexpr std::size_t short_period = 64;     // longer ones are looked for where a slot's segment comes again,
constexpr std::size_t most_candidates = 64;  // at so many distances

struct Repetition {
  std::size_t start = 0, period = 0, count = 0;
  std::size_t gain() const { return count > 1 ? (count - 1) * period : 0; }
};

// The slots around `anchor` that come again after a period.
Repetition around(const std::vector<SlotRun>& q, std::size_t begin, std::size_t end, std::size_t anchor,
                  std::size_t period) {
  std::size_t first = anchor, last = anchor;
  while (last + period < end && repeats(q, anchor + (last - anchor) % period, last, period)) ++last;
  if (last - anchor < period) return {};
  while (first > begin && repeats(q, anchor + (period - (anchor - first + 1) % period) % period, first - 1, period))
    --first;
  return {first, period, (last - first) / period + 1};
}

Repetition best_of_short(const std::vector<SlotRun>& q, std::size_t begin, std::size_t end) {
  const std::size_t n = end - begin;
  Repetition best;
  for (std::size_t period = 1; period <= std::min(n / 2, short_period) && best.gain() < n - period; ++period)
    for (std::size_t i = begin; i + 2 * period <= end;) {
      std::size_t run = 0;
      while (i + run + period < end && repeats(q, i + run % period, i + run, period)) ++run;
      const Repetition found{i, period, run / period + 1};
      if (found.gain() > best.gain()) best = found;
      i += std::max<std::size_t>(run >= period ? run : 1, 1);
    }
  return best;
}

// A long loop is found from a slot inside it: its period is one of the distances at which the slot's segment comes again.
Repetition best_of_long(const std::vector<SlotRun>& q, std::size_t begin, std::size_t end, Repetition best) {
  const std::size_t n = end - begin;
  for (const std::size_t quarter : {2, 1, 3}) {
    const std::size_t anchor = begin + n * quarter / 4;
    std::size_t candidates = 0;
    for (std::size_t period = short_period + 1; anchor + period < end && best.gain() < n - period; ++period) {
      if (q[anchor + period].segment != q[anchor].segment) continue;
      if (++candidates > most_candidates) break;
      if (const Repetition found = around(q, begin, end, anchor, period); found.gain() > best.gain()) best = found;
    }
  }
  return best;
}

void fold_range(const std::vector<SlotRun>& q, std::size_t begin, std::size_t end, std::vector<Loop>& out) {
  const Repetition best = best_of_long(q, begin, end, best_of_short(q, begin, end));
  if (best.gain() < 2) {
    Loop l;
    for (std::size_t i = begin; i < end; ++i) l.body.push_back(step_of(q[i]));
    if (!l.body.empty()) out.push_back(std::move(l));
    return;
  }
  fold_range(q, begin, best.start, out);
  Loop l;
  l.count = static_cast<std::int64_t>(best.count);
  for (std::size_t i = 0; i < best.period; ++i) {
    SlotStep s = step_of(q[best.start + i]);
    const std::vector<std::int64_t>& y = q[best.start + i + best.period].index;
    for (std::size_t k = 0; k < s.step.size(); ++k) s.step[k] = y[k] - s.base[k];
    l.body.push_back(std::move(s));
  }
  out.push_back(std::move(l));
  fold_range(q, best.start + best.period * best.count, end, out);
}

}  // namespace

std::vector<Loop> folded(const std::vector<SlotRun>& slots) {
  std::vector<Loop> out;
  fold_range(slots, 0, slots.size(), out);
  return out;
}

}  // namespace planscope::build
