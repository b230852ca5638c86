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
  for (std::vector<Ground>* all : {&costs.grounds, &costs.early})
    for (Ground& g : *all)
      for (std::size_t i = 0; i < g.layers.size(); ++i) {
        if (!c.once[i]) continue;
        Layer& l = g.layers[i];
        l.again_ns = 0;
        l.kept_again = l.kept;
        l.copied = 0;
        l.working_again = l.working;
      }
}

// Of the best cut; nothing: none fits, or there is nothing to be in pieces, or to be offloaded.
std::optional<std::int64_t> Limits::step_ns(Space::Costs costs, const Configuration& c) {
  keep_once(costs, c);
  if (costs.open) return costs.bound_ns();
  const std::optional<Partition> out = costs.leanest();
  if (!out || (out->lean() && (c.coshard > 1 || c.offload))) return std::nullopt;
  return costs.bound_ns();
}

std::optional<Limits::Cut> Limits::cut(const Configuration& configuration, const Costs& costs_of, Known& known) const {
  std::optional<Space::Costs> costs;
  Configuration c = configuration;
  const auto under = [&](const constraint::Rows& rows) -> std::optional<std::int64_t>* {
    const std::int64_t memory = memory_under(rows);
    c.once = rules_.only_once(c, rows);
    const auto [entry, fresh] = known.try_emplace({memory, c.once});
    if (!fresh) return &entry->second;
    if (!costs) costs = costs_of();
    if (!costs) {
      known.erase(entry);
      return nullptr;
    }
    costs->limit(cluster_, memory);
    entry->second = step_ns(*costs, c);
    return &entry->second;
  };
  const std::optional<std::int64_t>* all = under(rows_);
  if (!all) return std::nullopt;
  Cut out{*all, {}};
  if (out.step_ns) return out;
  out.why = rows_;
  for (const int row : rows_) {
    const constraint::Rows fewer = constraint::without(out.why, {row});
    if (const auto* left = under(fewer); left && !*left) out.why = fewer;
  }
  return out;
}

}  // namespace planscope::stages
