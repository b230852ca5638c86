#include <algorithm>

#include "planner/search/stages/partition.h"

namespace planscope::stages {

// Along 1F1B's order of tasks, stage by stage, what comes before is known when micro-batches are taken in turn: forward of
// micro-batch m at stage s comes behind backward m - (n - s) there.
std::int64_t play_1f1b(const std::vector<StageTime>& times, std::int64_t micro_batches) {
  const auto n = static_cast<std::int64_t>(times.size());
  std::vector<std::int64_t> forward(static_cast<std::size_t>(n * micro_batches), -1), backward = forward;
  std::vector<std::int64_t> now(times.size(), 0), done(times.size(), 0);  // by stage; done: tasks
  const auto index = [&](std::int64_t s, std::int64_t m) { return static_cast<std::size_t>(s * micro_batches + m); };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t s = 0; s < n; ++s) {
      const auto u = static_cast<std::size_t>(s);
      const std::int64_t ahead = std::min(micro_batches, n - s);
      for (; done[u] < 2 * micro_batches; ++done[u], moved = true) {
        // First `ahead` forwards, then backward and forward in turn, then the backwards that are left.
        const std::int64_t k = done[u], paired = ahead + 2 * (micro_batches - ahead);
        const bool back = k >= ahead && (k >= paired || (k - ahead) % 2 == 0);
        const std::int64_t m = k < ahead     ? k
                               : k >= paired ? k - micro_batches
                               : back        ? (k - ahead) / 2
                                             : ahead + (k - ahead) / 2;
        const std::int64_t ready = back ? (s + 1 == n ? forward[index(s, m)] : backward[index(s + 1, m)])
                                        : (s == 0 ? 0 : forward[index(s - 1, m)]);
        if (ready < 0) break;
        const StageTime& t = times[u];
        now[u] = back ? std::max(now[u] + t.again_ns, ready) + t.backward_ns : std::max(now[u], ready) + t.forward_ns;
        (back ? backward : forward)[index(s, m)] = now[u];
      }
    }
  }
  return *std::max_element(now.begin(), now.end());
}

}  // namespace planscope::stages
