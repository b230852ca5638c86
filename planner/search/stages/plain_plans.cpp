#include "planner/search/stages/plain_plans.h"

#include <algorithm>

#include "planner/search/stages/space.h"

namespace planscope::stages {
namespace {

// The largest divisor of a number that is no larger than another.
std::int64_t largest_divisor(std::int64_t of, std::int64_t most) {
  std::int64_t out = 1;
  for (const std::int64_t d : divisors(of))
    if (d <= most) out = d;
  return out;
}

class Plain {
 public:
  Plain(const ModelShape& shape, std::int64_t devices, bool all_axes)
      : shape_(shape), devices_(devices), all_axes_(all_axes) {}

  // With everything kept, and with as little kept as can be.
  void add(std::int64_t pipe, std::int64_t tensor) {
    if (devices_ % (pipe * tensor) != 0 || shape_.batch_size % (devices_ / pipe / tensor) != 0) return;
    Configuration c;
    c.pipe = pipe;
    c.data = devices_ / pipe / tensor;
    c.tensor = tensor;
    c.sequence = tensor > 1 && shape_.sequence;
    c.all_axes = all_axes_;
    const int layers = shape_.unit_count();
    for (std::int64_t s = 0; s < pipe && layers > 0; ++s)
      c.stages.push_back(static_cast<int>(layers * (s + 1) / pipe - layers * s / pipe));
    c.recompute.assign(c.stages.size(), 0);
    const std::int64_t samples = shape_.batch_size / c.data;
    if (pipe == 1) add(c, 1, samples, false);
    if (pipe == 1 && c.data > 1) add(with_zero(c, 1), 1, samples, false);
    const Configuration lean = with_zero(c, pipe == 1 ? 3 : 1);
    if (samples > 1) add(lean, samples, 1, false);
    add(lean, samples, 1, true);
  }

  std::vector<Configuration> take() { return std::move(out_); }

 private:
  static Configuration with_zero(Configuration c, int zero) {
    c.zero = c.data > 1 ? zero : 0;
    return c;
  }
  void add(Configuration c, std::int64_t micro_batches, std::int64_t micro_batch, bool again) {
    c.micro_batches = micro_batches;
    c.micro_batch = micro_batch;
    if (again) c.recompute = c.stages;
    if (std::find(out_.begin(), out_.end(), c) == out_.end()) out_.push_back(std::move(c));
  }

  const ModelShape& shape_;
  const std::int64_t devices_;
  const bool all_axes_;
  std::vector<Configuration> out_;
};

}  // namespace

std::vector<Configuration> plain_plans(const ModelShape& shape, std::int64_t devices, std::int64_t unit,
                                       bool all_axes) {
  Plain plans(shape, devices, all_axes);
  plans.add(1, 1);
  if (shape.unit_count() == 0) return plans.take();
  const std::int64_t group = largest_divisor(devices, unit);
  if (group > 1) plans.add(1, group);
  for (const std::int64_t tensor : {std::int64_t{1}, group}) {
    const std::int64_t stages = largest_divisor(devices / tensor, shape.unit_count());
    if (stages > 1) plans.add(stages, tensor);
  }
  return plans.take();
}

}  // namespace planscope::stages
