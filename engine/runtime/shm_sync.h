#pragma once
// The two things that processes need to talk through shared memory without a lock: a bell to sleep on, and a ring of
// messages from one process to one other. Both live in shared memory that was zero before and are constructed there
// once; both stay usable for the others when a process dies in the middle of any of their functions.
//
//   Bell: a counter of events that one process waits for and all others ring. Ringing costs a system call only if the
//   owner sleeps and enough has happened. The waiter looks at what it waits for between rings() and wait(), so that no
//   ring is lost:
//
//     for (;;) {
//       const std::uint32_t seen = bell.rings();
//       if (everything_is_there()) break;
//       bell.wait(seen, /*count=*/1, std::chrono::milliseconds(50));
//     }
//
//   Ring: one writer, one reader, first in first out, `capacity` messages.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace planscope {

class Bell {
 public:
  void ring();
  std::uint32_t rings() const { return rings_.load(std::memory_order_seq_cst); }  // what came before it is visible

  // Sleeps until there are `count` more rings than `seen`, or the limit passes; may return earlier. False: it slept the
  // whole time. Only the owner calls it.
  bool wait(std::uint32_t seen, std::uint32_t count, std::chrono::milliseconds limit);

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> wake_at_{0};
  std::atomic<std::uint32_t> asleep_{0};
};

template <class T, std::uint32_t capacity>
class Ring {
  static_assert((capacity & (capacity - 1)) == 0, "positions wrap around");

 public:
  bool push(const T& message) {  // false: full
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == capacity) return false;
    slots_[end % capacity] = message;
    end_.store(end + 1, std::memory_order_release);
    return true;
  }
  bool pop(T& message) {  // false: empty
    const std::uint32_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    message = slots_[begin % capacity];
    begin_.store(begin + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(64) std::atomic<std::uint32_t> end_{0};    // the writer's
  alignas(64) std::atomic<std::uint32_t> begin_{0};  // the reader's
  alignas(64) std::array<T, capacity> slots_{};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace planscope
