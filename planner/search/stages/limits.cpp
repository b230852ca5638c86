#include "planner/search/stages/limits.h"

#include <algorithm>

namespace planscope::stages {
namespace {

// As it is known with more memory, where even that is too little, or with less.
std::optional<bool> fits_by_others(const Limits::Known& known, std::int64_t memory, const std::vector<bool>& once) {
  for (const auto& [of, fitting] : known)
    if (of.second == once && (fitting.fits ? of.first <= memory : of.first >= memory)) return fitting.fits;
  return std::nullopt;
}

}  // namespace

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

// Of the best cut; nothing: there is nothing to be in pieces, or to be offloaded.
std::optional<std::int64_t> Limits::step_ns(const Space::Costs& costs, const Configuration& c) {
  if (!costs.open && (c.coshard > 1 || c.offload)) {
    Space::Costs whole = costs;
    Configuration kept = c;
    kept.once.assign(costs.grounds[0].layers.size(), true);
    keep_once(whole, kept);
    const std::optional<Partition> best = whole.some_fits() ? costs.leanest() : std::nullopt;
    if (best && best->lean()) return std::nullopt;
  }
  return costs.bound_ns();
}

std::optional<Limits::Cut> Limits::cut(const Configuration& configuration, const Costs& costs_of, Known& known) const {
  std::optional<Space::Costs> costs;
  Configuration c = configuration;
  const auto under = [&](const constraint::Rows& rows) -> Fitting* {
    const std::int64_t memory = memory_under(rows);
    c.once = rules_.only_once(c, rows);
    const std::optional<bool> fits = fits_by_others(known, memory, c.once);
    const auto [entry, fresh] = known.try_emplace({memory, c.once});
    Fitting& known_of = entry->second;
    if (fresh && fits) known_of.fits = *fits;
    const bool best = rows == rows_ && fits.value_or(true) && !known_of.cut;
    if (fits && !best) return &known_of;
    if (!costs) costs = costs_of();
    if (!costs) {
      if (fresh) known.erase(entry);
      return nullptr;
    }
    Space::Costs limited = *costs;
    limited.limit(cluster_, memory);
    keep_once(limited, c);
    if (!fits) known_of.fits = limited.some_fits();
    known_of.cut = best && known_of.fits;
    if (known_of.cut) known_of.step_ns = step_ns(limited, c);
    return &known_of;
  };
  const Fitting* all = under(rows_);
  if (!all) return std::nullopt;
  Cut out{all->step_ns, {}};
  if (all->fits) return out;
  out.why = rows_;
  for (const int row : rows_) {
    const constraint::Rows fewer = constraint::without(out.why, {row});
    if (const Fitting* left = under(fewer); left && !left->fits) out.why = fewer;
  }
  return out;
}

}  // namespace planscope::stages
