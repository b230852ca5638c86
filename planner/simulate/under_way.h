#pragma once
// What has begun and is not over yet, by handle and instance (steps.h).
#include <algorithm>
#include <vector>

#include "planner/simulate/simulate.h"

namespace planscope {

constexpr Nanoseconds kNever = -1;

// Collectives that a class has issued and not waited for yet: when they are over, by handle and instance.
class UnderWay {
 public:
  void set(int handle, std::int64_t instance, int values, Nanoseconds end) {
    of(handle).push_back({instance, values, end});
  }
  void delay(int handle, std::int64_t instance, Nanoseconds by) {
    for (Entry& e : of(handle))
      if (e.instance == instance) e.end += by;
  }
  // A wait for so many of its values: the moment; kNever where none is under way.
  Nanoseconds take(int handle, std::int64_t instance, int values) {
    std::vector<Entry>& list = of(handle);
    const auto found = std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.instance == instance; });
    if (found == list.end()) return kNever;
    const Nanoseconds end = found->end;
    found->values -= values;
    if (found->values > 0) return end;
    *found = list.back();
    list.pop_back();
    return end;
  }

 private:
  struct Entry {
    std::int64_t instance;
    int values;
    Nanoseconds end;
  };
  std::vector<Entry>& of(int handle) {
    if (lists_.size() <= static_cast<std::size_t>(handle)) lists_.resize(static_cast<std::size_t>(handle) + 1);
    return lists_[static_cast<std::size_t>(handle)];
  }
  std::vector<std::vector<Entry>> lists_;
};

// Which instances of which handles have begun.
class Begun {
 public:
  // Whether it had not yet.
  bool begin(int handle, std::int64_t instance, std::int64_t instances) {
    if (marks_.size() <= static_cast<std::size_t>(handle)) marks_.resize(static_cast<std::size_t>(handle) + 1);
    std::vector<bool>& marks = marks_[static_cast<std::size_t>(handle)];
    if (marks.empty()) marks.resize(static_cast<std::size_t>(instances));
    const bool first = !marks[static_cast<std::size_t>(instance)];
    marks[static_cast<std::size_t>(instance)] = true;
    return first;
  }
  bool has(int handle, std::int64_t instance) const {
    if (marks_.size() <= static_cast<std::size_t>(handle)) return false;
    const std::vector<bool>& marks = marks_[static_cast<std::size_t>(handle)];
    return !marks.empty() && marks[static_cast<std::size_t>(instance)];
  }

 private:
  std::vector<std::vector<bool>> marks_;
};

// How many runs of each instance there have been.
class RunCounts {
 public:
  std::int64_t count(int handle, std::int64_t instance, std::int64_t instances) {
    if (counts_.size() <= static_cast<std::size_t>(handle)) counts_.resize(static_cast<std::size_t>(handle) + 1);
    std::vector<std::int64_t>& counts = counts_[static_cast<std::size_t>(handle)];
    if (counts.empty()) counts.resize(static_cast<std::size_t>(instances));
    return ++counts[static_cast<std::size_t>(instance)];
  }

 private:
  std::vector<std::vector<std::int64_t>> counts_;
};

}  // namespace planscope
