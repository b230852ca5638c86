#include "engine/runtime/link_timing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

namespace planscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLeast = 1 << 10, kMost = 64 << 20;
constexpr int kWarmUp = 2, kRounds = 5;

double median_us(Communicator& world, int repeats, const std::function<void()>& action) {
  std::vector<double> times;
  for (int k = 0; k < repeats + kWarmUp; ++k) {
    world.barrier("start");
    const Clock::time_point begin = Clock::now();
    action();
    const double took = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    const at::Tensor slowest = at::full({1}, took, at::kDouble);
    world.all_reduce(slowest, Reduction::max, "slowest")->wait();
    if (k >= kWarmUp) times.push_back(slowest.item<double>());
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// There and back between the first two ranks, several times.
void ping(Communicator& world, const at::Tensor& t) {
  if (world.rank() > 1) return;
  const int me = world.rank(), other = world.members()[static_cast<std::size_t>(1 - me)];
  for (int k = 0; k < kRounds; ++k) {
    if (me == 0) world.send(t, other, 1, "ping")->wait();
    world.receive(t, other, 1, "ping")->wait();
    if (me == 1) world.send(t, other, 1, "ping")->wait();
  }
}

}  // namespace

std::vector<LinkMeasurement> time_links(Communicator& world) {
  std::vector<LinkMeasurement> out;
  for (std::int64_t bytes = kLeast; bytes <= kMost; bytes *= 4) {
    const int repeats = bytes > 1 << 20 ? 9 : 41;
    const at::Tensor t = at::zeros({bytes / 4});
    out.push_back({"send", {bytes}, {median_us(world, repeats, [&] { ping(world, t); }) / (2 * kRounds)}});
    out.push_back({"all_reduce", {bytes}, {median_us(world, repeats, [&] {
                     world.all_reduce(t, Reduction::sum, "sum")->wait();
                   })}});
  }
  return out;
}

}  // namespace planscope
