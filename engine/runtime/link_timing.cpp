#include "engine/runtime/link_timing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

namespace planscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWarmUp = 2, kLeastTimes = 3, kMostTimes = 21;
constexpr int kRounds = 3;
constexpr double kMostTime = 200e3;  // microseconds for one kind and size

// A lower quartile: what disturbs a message only makes it longer. All ranks see the same times, and so end together.
double time_us(Communicator& world, const std::function<void()>& action) {
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  };
  const Clock::time_point first = Clock::now();
  std::vector<double> times;
  for (std::size_t k = 0; times.size() < kMostTimes; ++k) {
    world.barrier("start");
    const Clock::time_point begin = Clock::now();
    action();
    const double took = since(begin);
    const at::Tensor slowest = at::tensor({took, since(first)}, at::kDouble);
    world.all_reduce(slowest, Reduction::max, "slowest")->wait();
    if (k >= kWarmUp) times.push_back(slowest[0].item<double>());
    if (times.size() >= kLeastTimes && slowest[1].item<double>() > kMostTime) break;
  }
  const auto quarter = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::nth_element(times.begin(), quarter, times.end());
  return *quarter;
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

void time_links(Communicator& world, const std::function<void(const LinkMeasurement&)>& tell) {
  for (const std::int64_t bytes : link_sizes) {
    const at::Tensor t = at::zeros({bytes / 4}), other = at::zeros_like(t);
    const at::Tensor part = at::zeros({t.numel() / world.size()});
    const auto measure = [&](const char* kind, const std::function<PendingPtr()>& issue) {
      tell({kind, {bytes}, {time_us(world, [&] { issue()->wait(); })}});
    };
    tell({"send", {bytes}, {time_us(world, [&] { ping(world, t); }) / (2 * kRounds)}});
    measure("all_reduce", [&] { return world.all_reduce(t, Reduction::sum, "sum"); });
    measure("all_gather", [&] { return world.all_gather(t, part, "gather"); });
    measure("reduce_scatter", [&] { return world.reduce_scatter(part, t, Reduction::sum, "scatter"); });
    measure("all_to_all", [&] { return world.all_to_all(other, t, "exchange"); });
  }
}

}  // namespace planscope
