// What an operation takes over Gloo and over shared memory, side by side, for 2 and 4 ranks of this host: the median of
// the slowest rank's times. Not a test; run it on a quiet machine:
//
//   build/release/bin/planscope-bench-transport [RANKS…]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include "engine/launch/launcher.h"
#include "engine/runtime/gloo_transport.h"
#include "engine/runtime/shm_transport.h"

using namespace planscope;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t sizes[] = {16, 16 << 10, 1 << 20, 64 << 20};  // bytes

// Times of `action` on this rank, each from a common start.
double median_us(Communicator& world, int repeats, const std::function<void()>& action) {
  std::vector<double> times;
  for (int k = 0; k < repeats + 2; ++k) {
    world.barrier("start");
    const Clock::time_point begin = Clock::now();
    action();
    const at::Tensor slowest =
        at::full({1}, std::chrono::duration<double, std::micro>(Clock::now() - begin).count(), at::kDouble);
    world.all_reduce(slowest, Reduction::max, "slowest")->wait();
    if (k >= 2) times.push_back(slowest.item<double>());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// There and back, several times: one way.
double ping_us(Communicator& world, std::int64_t bytes, int repeats) {
  const at::Tensor t = at::zeros({bytes}, at::kByte);
  constexpr int rounds = 5;
  return median_us(world, repeats,
                   [&] {
                     for (int k = 0; k < rounds && world.rank() < 2; ++k) {
                       const int other = 1 - world.rank();
                       if (world.rank() == 0) world.send(t, other, 1, "ping")->wait();
                       world.receive(t, other, 1, "ping")->wait();
                       if (world.rank() == 1) world.send(t, other, 1, "ping")->wait();
                     }
                   }) /
         (2 * rounds);
}

// One line a figure: `KIND|BYTES|MICROSECONDS`.
std::string measure(Communicator& world) {
  std::ostringstream out;
  const std::int64_t n = world.size();
  for (const std::int64_t bytes : sizes) {
    const int repeats = bytes > 2 << 20 ? 5 : 40;
    const at::Tensor a = at::zeros({bytes / 4}), part = at::zeros({bytes / 4 / n}), b = at::zeros({bytes / 4});
    const auto line = [&](const char* kind, double us) { out << kind << "|" << bytes << "|" << us << "\n"; };
    line("send", ping_us(world, bytes, repeats));
    line("all_reduce", median_us(world, repeats, [&] { world.all_reduce(a, Reduction::sum, "sum")->wait(); }));
    line("all_gather", median_us(world, repeats, [&] { world.all_gather(a, part, "gather")->wait(); }));
    line("reduce_scatter",
         median_us(world, repeats, [&] { world.reduce_scatter(part, a, Reduction::sum, "scatter")->wait(); }));
    line("all_to_all", median_us(world, repeats, [&] { world.all_to_all(b, a, "exchange")->wait(); }));
  }
  return out.str();
}

int run_rank() {
  auto connected = ControlChannel::connect(control_fd_of_child);
  if (!connected.ok()) return 2;
  ControlChannel& channel = **connected;
  at::set_num_threads(1);
  try {
    const std::unique_ptr<Transport> transport =
        channel.job() == "gloo" ? make_gloo_transport(channel, {}) : std::move(*make_shm_transport(channel, {}));
    const std::string lines = measure(transport->world());
    if (channel.rank() == 0) channel.report(lines);
    channel.done();
    return 0;
  } catch (const TransportError& e) {
    channel.fail(-1, e.what(), e.origin());
    return 1;
  }
}

struct Figure {
  std::string kind;
  std::int64_t bytes;
  double us;
};

std::vector<Figure> run_ranks(const std::string& program, int ranks, const std::string& transport) {
  LaunchSpec spec{.program = program, .ranks = ranks, .job = transport};
  std::istringstream lines;
  LaunchEvents events;
  events.on_report = [&](int, const std::string& text) { lines.str(text); };
  PosixProcesses processes;
  const LaunchResult result = launch(spec, events, std::atomic<bool>(false), processes, SystemClock());
  if (result.failure) std::fprintf(stderr, "%s: %s\n", transport.c_str(), result.failure->reason.c_str());
  std::vector<Figure> figures;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find('|'), second = line.find('|', first + 1);
    figures.push_back({line.substr(0, first), std::stoll(line.substr(first + 1)), std::stod(line.substr(second + 1))});
  }
  return figures;
}

void print(int ranks, const std::vector<Figure>& gloo, const std::vector<Figure>& shared) {
  std::printf("%d ranks          bytes      Gloo us    shared us     ratio   Gloo GB/s  shared GB/s\n", ranks);
  for (std::size_t k = 0; k < std::min(gloo.size(), shared.size()); ++k) {
    const double bytes = static_cast<double>(gloo[k].bytes);
    std::printf("%-14s %9lld %12.1f %12.1f %9.1f %11.2f %12.2f\n", gloo[k].kind.c_str(),
                static_cast<long long>(gloo[k].bytes), gloo[k].us, shared[k].us, gloo[k].us / shared[k].us,
                bytes / gloo[k].us / 1e3, bytes / shared[k].us / 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> counts;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--control-fd") return run_rank();
    counts.push_back(std::atoi(argv[k]));
  }
  if (counts.empty()) counts = {2, 4};
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  for (const int ranks : counts) print(ranks, run_ranks(program, ranks, "gloo"), run_ranks(program, ranks, "shm"));
}
