#include "engine/program/build/tasks.h"

#include <algorithm>
#include <map>

#include "engine/base/stop.h"

namespace planscope::build {

Tasks::Tasks(const Program& p) : p_(p) {
  for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s) {
    first_.push_back(static_cast<int>(list.size()));
    std::int64_t n = 1;
    for (const AxisId a : p_.segments[static_cast<std::size_t>(s)].free_axes) n *= count(a);
    for (std::int64_t i = 0; i < n; ++i) {
      list.push_back({s, i, static_cast<int>(indices_.size())});
      append_index(s, i);
    }
  }
  first_.push_back(static_cast<int>(list.size()));
  next.resize(list.size());
  waiting.assign(list.size(), 0);
}

std::span<const std::int64_t> Tasks::index_of(int task) const {
  const Task& t = list[static_cast<std::size_t>(task)];
  return {indices_.data() + t.index, p_.segments[static_cast<std::size_t>(t.segment)].free_axes.size()};
}

void Tasks::link(int from, int to, int statement, std::int64_t steps) {
  look_at_stop();
  if (from == to && steps >= 0) return;
  if (steps != 0) apart.push_back({from, to, statement, steps});
  if (steps != 0) return;
  next[static_cast<std::size_t>(from)].push_back({from, to, statement, 0});
  ++waiting[static_cast<std::size_t>(to)];
}

void Tasks::link_segments(SegmentId from, SegmentId to, const AxisSet& common, std::int64_t steps) {
  if (!linked_.insert({from, to, common, steps}).second) return;
  const auto& axes = p_.segments[static_cast<std::size_t>(to)].free_axes;
  const bool joints = steps == 0 && has_others(from, to, common) && has_others(to, from, common);
  std::map<std::vector<std::int64_t>, int> known;  // joints by what is given
  for (int t = first_[static_cast<std::size_t>(to)]; t < first_[static_cast<std::size_t>(to) + 1]; ++t) {
    std::vector<std::int64_t> given(p_.axes.size(), -1);
    const std::span<const std::int64_t> index = index_of(t);
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (is_shared(axes[k], from, common)) given[static_cast<std::size_t>(axes[k])] = index[k];
    if (!joints) {
      for_tasks(from, given, [&](int f) { link(f, t, -1, steps); });
      continue;
    }
    const auto [joint, fresh] = known.try_emplace(given, static_cast<int>(list.size()));
    if (fresh) {
      add_joint(from);
      for_tasks(from, given, [&](int f) { link(f, joint->second, -1); });
    }
    link(joint->second, t, -1);
  }
}

void Tasks::link_all(const std::vector<int>& from, const std::vector<int>& to, int statement) {
  const int joint = add_joint(segment_of(from[0]));
  for (const int f : from) link(f, joint, statement);
  for (const int t : to) link(joint, t, statement);
}

int Tasks::add_joint(SegmentId from) {
  list.push_back(list[static_cast<std::size_t>(first(from))]);
  next.emplace_back();
  waiting.push_back(0);
  return static_cast<int>(list.size()) - 1;
}

std::int64_t Tasks::position(AxisId a, std::int64_t index) const {
  const Axis& axis = p_.axes[static_cast<std::size_t>(a)];
  if (axis.of < 0) return index < axis.size ? index : -1;
  const auto found = std::lower_bound(axis.indices.begin(), axis.indices.end(), index);
  return found != axis.indices.end() && *found == index ? found - axis.indices.begin() : -1;
}

void Tasks::append_index(SegmentId s, std::int64_t linear) {
  const auto& axes = p_.segments[static_cast<std::size_t>(s)].free_axes;
  const std::size_t begin = indices_.size();
  indices_.resize(begin + axes.size());
  for (std::size_t k = axes.size(); k-- > 0;) {
    indices_[begin + k] = index_at(p_.axes[static_cast<std::size_t>(axes[k])], linear % count(axes[k]));
    linear /= count(axes[k]);
  }
}

bool Tasks::is_shared(AxisId a, SegmentId other, const AxisSet& common) const {
  const auto& axes = p_.segments[static_cast<std::size_t>(other)].free_axes;
  return std::find(common.begin(), common.end(), a) != common.end() &&
         std::find(axes.begin(), axes.end(), a) != axes.end();
}

bool Tasks::has_others(SegmentId s, SegmentId other, const AxisSet& common) const {
  const auto& axes = p_.segments[static_cast<std::size_t>(s)].free_axes;
  return std::any_of(axes.begin(), axes.end(),
                     [&](AxisId a) { return count(a) > 1 && !is_shared(a, other, common); });
}

}  // namespace planscope::build
