#include "planner/search/schedule/improve.h"

#include <algorithm>
#include <queue>
#include <random>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Precedences between the tasks of all rounds.
struct Instances {
  explicit Instances(const Problem& p) : next(p.tasks.size() * at(p.rounds)), waits(next.size(), 0) {
    for (const Edge& e : p.edges)
      for (int n = std::max(0, -e.distance); n < p.rounds && n + e.distance < p.rounds; ++n) {
        const int after = e.to * p.rounds + n + e.distance;
        next[at(e.from * p.rounds + n)].push_back(after);
        ++waits[at(after)];
      }
  }
  std::vector<std::vector<int>> next;
  std::vector<int> waits;
};

// By key, as far as precedences allow.
std::vector<int> order_by(const Instances& all, const std::vector<std::int64_t>& key) {
  using Entry = std::pair<std::int64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> waits = all.waits, out;
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (waits[i] == 0) ready.emplace(key[i], static_cast<int>(i));
  while (!ready.empty()) {
    const int i = ready.top().second;
    ready.pop();
    out.push_back(i);
    for (int n : all.next[at(i)])
      if (--waits[at(n)] == 0) ready.emplace(key[at(n)], n);
  }
  return out;
}

}  // namespace

Timeline improved(const Problem& p, Timeline best, std::int64_t bound, int tries, const Deadline& deadline) {
  constexpr std::int64_t kPlacements = 2'000'000;
  const auto size = static_cast<std::int64_t>(best.start.size());
  tries = static_cast<int>(std::min<std::int64_t>(tries, kPlacements / std::max<std::int64_t>(1, size)));
  const Instances all(p);
  std::mt19937_64 random(1);
  std::int64_t length = makespan(p, best);
  for (int i = 0; i < tries && length > bound && !deadline.expired(); ++i) {
    const std::int64_t most = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
    std::vector<std::int64_t> key = best.start;
    for (std::int64_t& k : key)
      if (random() % 4 == 0) k += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) - most / 2;
    const std::optional<Timeline> packed = pack(p, order_by(all, key));
    if (!packed) continue;
    Timeline t = squeezed(p, *packed);
    const std::int64_t now = makespan(p, t);
    if (now > length) continue;
    length = now;
    best = std::move(t);
  }
  return best;
}

}  // namespace planscope::schedule
