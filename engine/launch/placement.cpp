#include "engine/launch/placement.h"

#include <sched.h>

namespace planscope {

RankPlacement place_ranks(int ranks, const std::vector<int>& cores) {
  RankPlacement placement;
  const std::size_t n = static_cast<std::size_t>(ranks);
  placement.oversubscribed = n > cores.size();
  const std::size_t each = placement.oversubscribed ? 1 : cores.size() / n;
  placement.threads = static_cast<int>(each);
  for (std::size_t r = 0; r < n; ++r) {
    std::vector<int>& own = placement.cores.emplace_back();
    for (std::size_t k = 0; k < each; ++k) own.push_back(cores[(r * each + k) % cores.size()]);
  }
  return placement;
}

std::vector<int> available_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int c = 0; c < CPU_SETSIZE; ++c) {
      if (CPU_ISSET(c, &set)) cores.push_back(c);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

}  // namespace planscope
