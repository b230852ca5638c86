#include "planner/search/stages/why_not.h"

#include <algorithm>
#include <limits>
#include <map>

#include "planner/search/stages/limits.h"

namespace planscope::stages {
namespace {

// Work (solver/deadline.h): for what memory conflicts need, which may say that nothing fits; for some plan without each row of the
// first conflict; and for other conflicts.
constexpr std::int64_t kNeeds = 60'000'000, kSome = 18'000'000, kMore = 4'000'000;
constexpr std::int64_t kNeedWork = 10'000;  // of what one point needs

}  // namespace

WhyNot::WhyNot(const Cluster& cluster, Spaces& spaces, const Trials& trials, const Rules& rules, Find find)
    : cluster_(cluster), spaces_(spaces), trials_(trials), rules_(rules), find_(std::move(find)) {}

constraint::ExplainedConflicts WhyNot::conflicts(const Deadline& deadline, std::int64_t relaxing_work) {
  std::map<constraint::Rows, constraint::Optimum> some;  // plans that were found under rows
  const auto optimum = [](const Found& f) {
    const auto& peaks = f.best[0].peak_bytes;
    return constraint::Optimum{f.best[0].step_us, *std::max_element(peaks.begin(), peaks.end()),
                               f.lower_bound_us >= f.best[0].step_us, f.lower_bound_us};
  };
  constraint::RowSets sets([&](const constraint::Rows& rows, const Deadline& d) -> constraint::Verdict {
    const Sought s = find_({rows, true, &d});
    if (!s.found.best.empty()) some.emplace(rows, optimum(s.found));
    if (!s.found.best.empty()) return {constraint::Answer::yes, {}};
    if (s.found.outcome != Outcome::impossible) return {};
    return {constraint::Answer::no, s.core};
  });
  constraint::RowEffects effects;
  effects.best = [&](const constraint::Rows& rows, const Deadline& d) -> std::optional<constraint::Optimum> {
    const auto known = some.find(rows);
    if (known != some.end() && d.expired()) return known->second;
    if (const Sought s = find_({rows, false, &d}); !s.found.best.empty()) return optimum(s.found);
    return known == some.end() ? std::nullopt : std::optional(known->second);
  };
  effects.need = [&](int row, const constraint::Rows& others, const Deadline& d) { return need(row, others, d); };
  effects.limits_memory = [&](int row) { return limit_of(row).has_value(); };
  const Deadline needs_until = deadline.within_work(kNeeds);
  effects.needs_until = &needs_until;
  effects.line = [&](int row) { return rules_.line(row); };
  return explain_conflicts(rules_.all(), sets, effects,
                           {deadline, deadline.within_work(std::max(kSome, relaxing_work)),
                            deadline.within_work(std::max(kMore, relaxing_work))},
                           deadline.within_work(relaxing_work));
}

std::optional<std::int64_t> WhyNot::limit_of(int row) const {
  return row == constraint::kDeviceMemory ? std::optional(spaces_.smallest()) : rules_.memory_of(row);
}

// The least memory that points need by their layers' costs, if they keep `others`; of the devices' own memory, as of the
// smallest of them.
std::optional<constraint::MemoryNeed> WhyNot::need(int row, const constraint::Rows& others, const Deadline& deadline) {
  const std::optional<std::int64_t> limit = limit_of(row);
  if (!limit) return std::nullopt;
  if (spaces_.saves_memory()) {  // only plans that were made say what rows save
    const std::optional<std::int64_t> predicted = trials_.least_predicted(row, others, spaces_.smallest());
    if (!predicted) return std::nullopt;
    return constraint::MemoryNeed{*limit, *predicted, {}, false};
  }
  const Room* least = nullptr;
  std::int64_t bytes = Spaces::kNoBytes;
  bool all = true;  // are looked at
  for (Room& room : rooms(others, deadline)) {
    const Configuration& c = room.point.configuration;
    if (!rules_.broken_by(c, others).empty()) continue;
    Need& known = room.need[row == constraint::kDeviceMemory ? 0 : 1];
    if (known.bytes >= bytes) continue;
    if (!known.exact) {
      all = all && !deadline.expired();
      if (!all) break;
      deadline.count(kNeedWork);
      // What asks for more measurements only where it can need less than what is known.
      if (!room.point.refined)
        if (const auto best = room.space->at_best(room.point); best && least_of(best, c, row, bytes) >= bytes) continue;
      known.bytes = std::min(bytes, least_of(room.space->costs(c), c, row, bytes));
      known.exact = known.bytes < bytes;
      if (!known.exact) continue;
    }
    bytes = known.bytes;
    least = &room;
  }
  if (!least) return std::nullopt;
  all = all && spaces_.filled() && !templates_may_need_less(row, others, bytes, deadline);
  std::optional<constraint::MemoryNeed> out = constraint::MemoryNeed{*limit, bytes, where(*least, row, bytes), false};
  if (all && out->bytes > *limit) return out;
  // By the layers' costs there is room, or time did not suffice for all of them: plans that were tried say how much is short.
  const std::optional<std::int64_t> predicted = trials_.least_predicted(row, others, spaces_.smallest());
  const bool less = predicted && (out->bytes <= *limit || *predicted < out->bytes);
  if (less) out = constraint::MemoryNeed{*limit, *predicted, {}, false};
  return out;
}

// What a template's plan needs is told from its costs alone where these are more than the least that it could ever be: they may
// leave fewer micro-batches under way, and what surrounds the layers to all stages.
bool WhyNot::templates_may_need_less(int row, const constraint::Rows& others, std::int64_t bytes,
                                     const Deadline& deadline) {
  return std::any_of(rooms_.begin(), rooms_.end(), [&](const Room& room) {
    const Configuration& c = room.point.configuration;
    if (!c.has_template() || !rules_.broken_by(c, others).empty()) return false;
    if (deadline.expired()) return true;
    std::optional<Space::Costs> best = room.space->at_best({c, 0, false});
    if (best && c.order == Order::searched) best->spec.micro_batches = 1;
    return least_of(std::move(best), c, row, bytes) < bytes;
  });
}

std::vector<WhyNot::Room>& WhyNot::rooms(const constraint::Rows& rows, const Deadline& deadline) {
  spaces_.fill_leanest(rules_, rows, deadline);
  const constraint::Rows once = rules_.once_under(rows);
  if (spaces_.size() == size_ && once == once_) return rooms_;
  size_ = spaces_.size();
  once_ = once;
  rooms_.clear();
  const auto add = [&](Space& space, Point p) {
    p.configuration.once = rules_.only_once(p.configuration, once);
    rooms_.push_back({&space, std::move(p)});
  };
  for (const auto& space : spaces_.all()) {
    for (const Configuration& c : space->too_large) add(*space, {c, 0, true});
    for (const Point& p : space->points) add(*space, p);
  }
  std::stable_partition(rooms_.begin(), rooms_.end(), [](const Room& r) { return r.point.refined; });
  return rooms_;
}

// As a row allows: one limit for all devices.
std::int64_t WhyNot::least_of(std::optional<Space::Costs> cost, const Configuration& c, int row,
                              std::int64_t below) const {
  if (!cost) return Spaces::kNoBytes;
  Limits::keep_once(*cost, c);
  if (row != constraint::kDeviceMemory) cost->limit(cluster_, spaces_.smallest());
  return spaces_.least_bytes(*cost, below);
}

std::string WhyNot::where(const Room& room, int row, std::int64_t bytes) const {
  std::optional<Space::Costs> cost = room.space->costs(room.point.configuration);
  if (!cost) return {};
  Limits::keep_once(*cost, room.point.configuration);
  if (row != constraint::kDeviceMemory) cost->limit(cluster_, spaces_.smallest());
  return fullest_stage(room.point.configuration, *cost, bytes);
}

// `pipe=2`: the stage that needs all of so much memory (of the smallest device); empty: there is one stage.
std::string WhyNot::fullest_stage(const Configuration& c, Space::Costs cost, std::int64_t memory) const {
  const PartitionSpec& spec = cost.spec;
  for (Ground& g : cost.grounds) g.memory += memory - spaces_.smallest();
  const std::optional<Partition> cut = spec.stages > 1 ? partition(cost.grounds, spec) : std::nullopt;
  if (!cut) return {};
  Configuration fullest = c;
  fullest.stages = cut->layers;
  fullest.recompute = cut->recompute;
  std::vector<std::int64_t> over = cost.stage_bytes(fullest);
  for (std::size_t i = 0; i < over.size(); ++i) over[i] -= cost.ground(i).memory;
  const auto stage = std::max_element(over.begin(), over.end()) - over.begin();
  return "pipe=" + std::to_string(c.place(stage));
}

}  // namespace planscope::stages
