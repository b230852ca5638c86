#include "engine/runtime/shm_sync.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace planscope {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

// Counters wrap around.
bool reached(std::uint32_t count, std::uint32_t goal) { return static_cast<std::int32_t>(count - goal) >= 0; }

}  // namespace

// Either the ringer sees that the owner sleeps, or the owner, which says so before it looks at the counter for the last
// time, sees the ring: all four accesses have one order (seq_cst).
void Bell::ring() {
  const std::uint32_t now = rings_.fetch_add(1, std::memory_order_seq_cst) + 1;
  if (asleep_.load(std::memory_order_seq_cst) == 0) return;
  if (reached(now, wake_at_.load(std::memory_order_relaxed))) futex(rings_, FUTEX_WAKE, INT_MAX, nullptr);
}

bool Bell::wait(std::uint32_t seen, std::uint32_t count, std::chrono::milliseconds limit) {
  const std::uint32_t goal = seen + count;
  wake_at_.store(goal, std::memory_order_relaxed);
  asleep_.store(1, std::memory_order_seq_cst);
  timespec time{limit.count() / 1000, (limit.count() % 1000) * 1000000};
  bool in_time = true;
  for (;;) {
    const std::uint32_t now = rings_.load(std::memory_order_seq_cst);
    if (reached(now, goal)) break;
    if (futex(rings_, FUTEX_WAIT, now, &time) == 0 || errno == EINTR) break;
    if (errno == ETIMEDOUT) {
      in_time = false;
      break;
    }
  }  // EAGAIN: it rang meanwhile
  asleep_.store(0, std::memory_order_relaxed);
  return in_time;
}

}  // namespace planscope
