#pragma once
// A predicted step looked at closely: its timeline, what is alive when, sums over a part of it, and how it depends
// on one task. What has been asked is remembered, so that panels and canvases that show the same share it.
//
//   Study study(evaluation, cluster);
//   study.timeline({});                                  // made once
//   study.alive(0, {from, to})->owners;
//   study.task(0, "compute", from, to)->slack;
//
// Several threads may ask at once. Times are nanoseconds.
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "app/workbench/tensor_facts.h"
#include "app/workbench/time_sums.h"
#include "app/workbench/timeline.h"
#include "app/workbench/traffic.h"
#include "planner/evaluate/evaluate.h"
#include "planner/simulate/closer_look.h"

namespace planscope::session {

// The newest few answers, by question.
template <class Key, class Value>
class Remembered {
 public:
  // Made without a lock: two who ask at once for what is new may both make it, and get the same.
  template <class Make>
  Value get(const Key& key, Make&& make) {
    if (std::optional<Value> known = find(key)) return *known;
    Value made = make();
    if (std::optional<Value> known = find(key)) return *known;
    const std::lock_guard lock(mutex_);
    list_.emplace_front(key, made);
    if (list_.size() > most) list_.pop_back();
    return made;
  }
  std::optional<Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (auto it = list_.begin(); it != list_.end(); ++it)
      if (it->first == key) {
        list_.splice(list_.begin(), list_, it);
        return it->second;
      }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most = 4;
  std::mutex mutex_;
  std::list<std::pair<Key, Value>> list_;
};

struct StudiedTask {
  std::string what;
  Task task;
  Nanoseconds start = 0, end = 0;
  std::optional<Nanoseconds> slack, step_without, step_without_all;  // none: the simulation refuses (it says why)
  std::string problem;
};

// As people know it: an instruction of a run of a segment, with the operators that it computes from the first to
// the last.
std::string task_name(const Evaluation&, const SlotBlock&, int instruction);

class Study {
 public:
  Study(std::shared_ptr<const Evaluation>, std::shared_ptr<const Cluster>);

  // The step with memory by kind, and single operators within the window where it is too long for all of them.
  std::shared_ptr<const DetailedSimulation> simulation(std::optional<Window>) const;
  std::shared_ptr<const viz::TimelineModel> timeline(std::optional<Window>) const;
  std::shared_ptr<const Result<AliveMoment>> alive(int device_class, Window) const;
  std::shared_ptr<const TimeSums> sums(Window) const;
  std::shared_ptr<const TrafficFacts> traffic(const TrafficBrush&) const;
  std::shared_ptr<const Result<TensorFacts>> tensor(const std::string& name, const TensorQuestion&) const;
  // What a class does on a stream from then to then; nothing: there is no such block. Without what it costs.
  std::optional<StudiedTask> find_task(int device_class, const std::string& stream, Window) const;
  // With its slack, and the step without its time: the step is simulated several times. Null: there is no such block.
  std::shared_ptr<const StudiedTask> task(int device_class, const std::string& stream, Window) const;
  // By how much a task may begin later without a longer step; the step is simulated several times.
  Result<Nanoseconds> slack(const Task& t) const { return look().slack(t); }
  // As task(), if it has been asked for; null: not yet.
  std::shared_ptr<const StudiedTask> known_task(int device_class, const std::string& stream, Window) const;

  const Evaluation& evaluation() const { return *evaluation_; }

 private:
  using Span = std::optional<std::pair<Nanoseconds, Nanoseconds>>;
  const CloserLook& look() const;
  bool detailed() const;

  const std::shared_ptr<const Evaluation> evaluation_;
  const std::shared_ptr<const Cluster> cluster_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const CloserLook> look_;
  mutable Remembered<Span, std::shared_ptr<const DetailedSimulation>> simulations_;
  mutable Remembered<Span, std::shared_ptr<const viz::TimelineModel>> timelines_;
  mutable Remembered<std::pair<Nanoseconds, Nanoseconds>, std::shared_ptr<const TimeSums>> sums_;
  mutable Remembered<TrafficBrush, std::shared_ptr<const TrafficFacts>> traffics_;
  mutable Remembered<std::pair<std::string, TensorQuestion>, std::shared_ptr<const Result<TensorFacts>>> tensors_;
  mutable Remembered<std::pair<int, std::pair<Nanoseconds, Nanoseconds>>, std::shared_ptr<const Result<AliveMoment>>> alive_;
  mutable Remembered<std::pair<std::pair<int, std::string>, std::pair<Nanoseconds, Nanoseconds>>, std::shared_ptr<const StudiedTask>> tasks_;
};

}  // namespace planscope::session
