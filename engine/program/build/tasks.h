#pragma once
// The tasks that a schedule puts in order, every segment at every index of its free axes, and which of them wait for which.
// Internal to engine/program.
//
//   Tasks tasks(program);
//   link_data(program, over_steps, tasks);          // for the values that they read
//   tasks.link(a, b, statement);                    // b after a, as a row wants it
#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "engine/program/build/schedule.h"
#include "engine/program/build/work.h"

namespace planscope::build {

class Tasks {
 public:
  struct Task {
    SegmentId segment;
    std::int64_t linear;  // index
    int index;            // into indices_
  };
  explicit Tasks(const Program&);  // that outlives it

  SegmentId segment_of(int task) const { return list[static_cast<std::size_t>(task)].segment; }
  // The index of a task along the free axes of its segment.
  std::span<const std::int64_t> index_of(int task) const;
  // Of a segment, the task of its first index; those of the others follow it.
  int first(SegmentId s) const { return first_[static_cast<std::size_t>(s)]; }
  std::int64_t count(AxisId a) const { return index_count(p_.axes[static_cast<std::size_t>(a)]); }

  // Tasks of a segment whose index agrees with `given` on the axes that it names (-1: any).
  template <class F>
  void for_tasks(SegmentId s, const std::vector<std::int64_t>& given, F&& f) const {
    const auto& axes = p_.segments[static_cast<std::size_t>(s)].free_axes;
    const auto recurse = [&](auto&& self, std::size_t k, std::int64_t linear) -> void {
      if (k == axes.size()) {
        f(first_[static_cast<std::size_t>(s)] + static_cast<int>(linear));
        return;
      }
      const std::int64_t v = given[static_cast<std::size_t>(axes[k])], n = count(axes[k]);
      if (v < 0) {
        for (std::int64_t i = 0; i < n; ++i) self(self, k + 1, linear * n + i);
      } else if (const std::int64_t i = position(axes[k], v); i >= 0) {
        self(self, k + 1, linear * n + i);
      }
    };
    recurse(recurse, 0, 0);
  }

  // `to` after `from`, by a row or by data (-1), as many steps later.
  void link(int from, int to, int statement, std::int64_t steps = 0);
  // Each of `to` after each of `from`, within a step, through one joint.
  void link_all(const std::vector<int>& from, const std::vector<int>& to, int statement);
  // Every task of `to` after the tasks of `from` that agree on `common` axes. Where several wait for the same several, a
  // joint is between them: it is done when all of these are, and takes no time.
  void link_segments(SegmentId from, SegmentId to, const AxisSet& common, std::int64_t steps = 0);
  bool is_joint(int task) const { return task >= first_.back(); }

  std::vector<Task> list;    // joints behind all others
  Edges next;                // within a step
  std::vector<int> waiting;  // by task: how many it waits for
  std::vector<Edge> apart;   // between steps

 private:
  // Of an index among those of an axis; -1: it has no such index.
  std::int64_t position(AxisId, std::int64_t index) const;
  void append_index(SegmentId, std::int64_t linear);
  int add_joint(SegmentId from);
  bool is_shared(AxisId, SegmentId other, const AxisSet& common) const;
  // Whether several tasks of `s` are linked with each of `other`.
  bool has_others(SegmentId s, SegmentId other, const AxisSet& common) const;

  const Program& p_;
  std::vector<std::int64_t> indices_;
  std::vector<int> first_;  // by segment
  std::set<std::tuple<SegmentId, SegmentId, AxisSet, std::int64_t>> linked_;
};

// Every task after those whose values it reads, and, where it ends a value, after the other readers of it. `over_steps`: tasks of
// different steps are ordered too.
void link_data(const Program&, bool over_steps, Tasks&);

}  // namespace planscope::build
