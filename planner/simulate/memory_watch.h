#pragma once
// Looks at the memory of one device class while it is played: first every moment at which it changes, then, played
// again, what is alive at one of them and from when to when.
//
//   MemoryWatch all;                          // play(…, {.memory = &all, .device_class = 3})
//   const std::size_t fullest = all.fullest(from, to);
//   MemoryWatch one(fullest);                 // play(…, {.memory = &one, .device_class = 3})
//   one.alive();
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "planner/simulate/steps.h"

namespace planscope {

class MemoryWatch {
 public:
  struct Moment {
    Nanoseconds time = 0;
    std::int64_t bytes = 0;
    int slot = -1, instruction = -1;  // that begins then; -1: something ends
  };
  struct Alive {
    Owner of;
    MemoryKind kind = MemoryKind::activations;
    std::int64_t bytes = 0;
    std::optional<Nanoseconds> from, to;  // none: before the first moment; beyond the last one
  };

  explicit MemoryWatch(std::optional<std::size_t> wanted = {}) : wanted_(wanted) {}

  void change(const MemoryChange&, std::optional<Nanoseconds> time);
  // After changes, with what the instruction that begins then takes and gives back while it runs (at_work.h).
  void moment(const Moment&, const std::vector<MemoryChange>& at_work);

  const std::vector<Moment>& moments() const { return moments_; }
  // The first moment with most bytes within the times, the one that holds at `from` too.
  std::size_t fullest(Nanoseconds from, Nanoseconds to) const;
  std::vector<Alive> alive() const;  // at the wanted moment

 private:
  struct Entry {
    std::int64_t now = 0, then = 0;  // then: at the wanted moment
    std::optional<Nanoseconds> from, to;
    bool over = false;  // has ended after the wanted moment
  };

  std::optional<std::size_t> wanted_;
  std::vector<Moment> moments_;
  bool taken_ = false;
  std::map<std::pair<Owner, MemoryKind>, Entry> entries_;
};

}  // namespace planscope
