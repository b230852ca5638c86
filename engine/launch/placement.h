#pragma once
// Which cores each rank computes on. With a core or more for each rank, they get equal, disjoint runs of cores; with
// fewer, the ranks are single-threaded, pinned in turn, and the trial is marked: its times say nothing about a machine
// on which every rank has its own core.
//
//   place_ranks(4, {0, 1})  ->  {.cores = {{0}, {1}, {0}, {1}}, .threads = 1, .oversubscribed = true}
#include <vector>

namespace planscope {

struct RankPlacement {
  std::vector<std::vector<int>> cores;  // of each rank
  int threads = 1;                      // of each rank
  bool oversubscribed = false;
  bool operator==(const RankPlacement&) const = default;
};

RankPlacement place_ranks(int ranks, const std::vector<int>& cores);

std::vector<int> available_cores();  // those that this process may run on; never empty

}  // namespace planscope
