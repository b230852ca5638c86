#include "planner/search/schedule/improve.h"

#include <algorithm>
#include <random>

namespace planscope::schedule {
Timeline improved(const Problem& p, Timeline best, std::int64_t bound, int tries, const Deadline& deadline) {
  constexpr std::int64_t kPlacements = 2'000'000;
  constexpr std::int64_t kWork = 25;  // of one task, in all that a try takes
  const auto size = static_cast<std::int64_t>(best.start.size());
  tries = static_cast<int>(std::min<std::int64_t>(tries, kPlacements / std::max<std::int64_t>(1, size)));
  const Orders orders(p);
  std::mt19937_64 random(1);
  std::int64_t length = makespan(p, best);
  for (int i = 0; i < tries && length > bound && !deadline.expired(); ++i) {
    deadline.count(kWork * size);
    const std::int64_t most = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
    std::vector<std::int64_t> key = best.start;
    for (std::int64_t& k : key)
      if (random() % 4 == 0) k += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) - most / 2;
    const std::optional<Timeline> packed = pack(p, orders.by(key), &deadline);
    if (!packed) continue;
    Timeline t = squeezed(p, *packed, &deadline);
    const std::int64_t now = makespan(p, t);
    if (now > length) continue;
    length = now;
    best = std::move(t);
  }
  return best;
}

}  // namespace planscope::schedule
