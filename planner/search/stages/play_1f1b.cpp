// How long a pipeline in the order 1F1B takes.
#include <algorithm>
#include <vector>

#include "planner/search/stages/partition.h"

namespace planscope::stages {
namespace {

// The pipeline in rows: in row m stage s runs the forward that lies as many micro-batches ahead as there are stages behind it, and
// then the backward of micro-batch m. All that a row depends on is when the row before it ended.
class Pipeline {
 public:
  explicit Pipeline(const std::vector<StageTime>& times)
      : times_(&times), forward_(times.size(), 0), backward_(times.size(), 0), ended_(times.size(), 0) {}

  void run_row(std::int64_t m, std::int64_t micro_batches) {
    const auto n = static_cast<std::int64_t>(times_->size());
    for (std::int64_t s = n - 1; s >= 0; --s) {  // the last one first: `forward_` of the stage before is still the last row's
      const std::int64_t ahead = m + n - 1 - s;
      if (ahead < 0 || ahead >= micro_batches) continue;
      const auto u = static_cast<std::size_t>(s);
      const std::int64_t ready = s == 0 ? 0 : forward_[u - 1];
      forward_[u] = ended_[u] = std::max(ended_[u], ready) + (*times_)[u].forward_ns;
    }
    if (m < 0) return;
    for (std::int64_t s = n - 1; s >= 0; --s) {
      const auto u = static_cast<std::size_t>(s);
      const std::int64_t ready = s + 1 == n ? forward_[u] : backward_[u + 1];
      backward_[u] = ended_[u] = std::max(ended_[u] + (*times_)[u].again_ns, ready) + (*times_)[u].backward_ns;
    }
  }

  // By how much everything in `later` is later than here; -1: by different times.
  std::int64_t shift_to(const Pipeline& later) const {
    const std::int64_t shift = later.ended_[0] - ended_[0];
    for (std::size_t s = 0; s < ended_.size(); ++s)
      if (later.ended_[s] - ended_[s] != shift || later.forward_[s] - forward_[s] != shift) return -1;
    return shift;
  }

  void move(std::int64_t by) {
    for (std::vector<std::int64_t>* ends : {&forward_, &backward_, &ended_})
      for (std::int64_t& end : *ends) end += by;
  }

  std::int64_t end() const { return *std::max_element(ended_.begin(), ended_.end()); }

 private:
  const std::vector<StageTime>* times_;
  std::vector<std::int64_t> forward_, backward_, ended_;  // of each stage: the last forward, the last backward, either
};

}  // namespace

// While every stage has a forward and a backward in each row, rows repeat after a while, so many of them later by so much; these
// are not played (a step of a max-plus linear system: Baccelli, Cohen, Olsder, Quadrat, Synchronization and Linearity, 1992). The
// row to compare with is taken anew at powers of two (R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 1980).
std::int64_t play_1f1b(const std::vector<StageTime>& times, std::int64_t micro_batches) {
  const auto n = static_cast<std::int64_t>(times.size());
  Pipeline pipeline(times);
  for (std::int64_t m = 1 - n; m <= 0; ++m) pipeline.run_row(m, micro_batches);
  Pipeline kept = pipeline;
  std::int64_t m = 1, kept_at = 0;
  for (std::int64_t length = 1; m <= micro_batches - n; ++m) {
    pipeline.run_row(m, micro_batches);
    const std::int64_t shift = kept.shift_to(pipeline);
    if (shift >= 0) {
      const std::int64_t times_more = (micro_batches - n - m) / (m - kept_at);
      pipeline.move(times_more * shift);
      m += 1 + times_more * (m - kept_at);
      break;
    }
    if (m - kept_at < length) continue;
    kept = pipeline;
    kept_at = m;
    length *= 2;
  }
  for (; m < micro_batches; ++m) pipeline.run_row(m, micro_batches);
  return pipeline.end();
}

}  // namespace planscope::stages
