#include "planner/search/stages/limits.h"

#include <algorithm>

namespace planscope::stages {

Limits::Limits(const Rules& rules, const Cluster& cluster, std::int64_t largest, const constraint::Rows& counted)
    : rules_(rules), cluster_(cluster), largest_(largest), rows_(rules.once_under(counted)) {
  memory_ = memory_under(counted);
  if (memory_ < largest_) rows_.push_back(rules.memory_under(counted)->row);
  std::sort(rows_.begin(), rows_.end());
}

std::int64_t Limits::memory_under(const constraint::Rows& rows) const {
  const auto row = rules_.memory_under(rows);
  return row ? std::min(row->bytes, largest_) : largest_;
}

Configuration Limits::limited(Configuration c) const {
  c.once = rules_.only_once(c, rows_);
  return c;
}

void Limits::keep_once(Space::Costs& costs, const Configuration& c) {
  if (c.once.empty()) return;
  for (Ground& g : costs.grounds)
    for (std::size_t i = 0; i < g.layers.size(); ++i) {
      if (!c.once[i]) continue;
      Layer& l = g.layers[i];
      l.again_ns = 0;
      l.kept_again = l.kept;
      l.copied = 0;
      l.working_again = l.working;
    }
}

std::optional<Partition> Limits::under(const constraint::Rows& rows, Space::Costs costs, Configuration c) const {
  c.once = rules_.only_once(c, rows);
  keep_once(costs, c);
  costs.limit(cluster_, memory_under(rows));
  std::optional<Partition> out = partition(costs.grounds, costs.spec);
  if (!out) out = costs.leanest();
  const bool lean = out && std::all_of(out->recompute.begin(), out->recompute.end(), [](int n) { return n == 0; });
  if (lean && (c.coshard > 1 || c.offload))
    return std::nullopt;  // there is nothing to be in pieces, or to be offloaded
  return out;
}

Limits::Cut Limits::cut(const Space::Costs& costs, const Configuration& c) const {
  Cut out{under(rows_, costs, c), {}};
  if (out.best) return out;
  out.why = rows_;
  for (const int row : rows_) {
    const constraint::Rows fewer = constraint::without(out.why, {row});
    if (!under(fewer, costs, c)) out.why = fewer;
  }
  return out;
}

}  // namespace planscope::stages
