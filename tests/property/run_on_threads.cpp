#include "tests/property/run_on_threads.h"

#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>

#include <thread>

#include "engine/runtime/comparison.h"
#include "engine/runtime/executor.h"
#include "tests/property/thread_transport.h"

namespace planscope::testing {

namespace {

constexpr std::uint64_t kSeed = 7;

class Rank {
 public:
  Rank(const Graph& graph, const Program& program, const ReferenceFile& reference, ThreadHub& hub, int rank)
      : graph_(graph), program_(program), hub_(hub), rank_(rank), comparison_(graph, reference, Precision::float64) {}

  void run(int steps) {
    try {
      train(steps);
    } catch (const std::exception& e) {
      failure_ = "rank " + std::to_string(rank_) + ": " + e.what();
      hub_.fail(failure_);
    }
    hub_.leave();
  }

  const std::string& failure() const { return failure_; }
  const Comparison& comparison() const { return comparison_; }
  std::vector<std::pair<SegmentId, int>> order;

 private:
  void train(int steps) {
    ThreadTransport transport(hub_, rank_);
    const Site site(graph_, program_, rank_);
    TensorSource source(graph_, kSeed, Precision::float64);
    Executor executor(site, transport, source,
                      {{Precision::float64, kSeed}, default_settings(OptimizerKind::adamw), true, steps});
    for (int step = 0; step < steps; ++step) {
      ExecutionObserver watch;
      if (step == (executor.overlaps() ? 1 : 0))  // a whole period
        watch.begin = [this](std::int64_t, const Segment& s, const Instruction& i, const std::string&) {
          order.emplace_back(static_cast<SegmentId>(&s - program_.segments.data()),
                             static_cast<int>(&i - s.instructions.data()));
        };
      executor.step(watch);
      if (executor.loss()) comparison_.loss(step, *executor.loss());
    }
    comparison_.gradients(executor.parameters());
    comparison_.parameters(executor.parameters(), default_settings(OptimizerKind::adamw), steps);
  }

  const Graph& graph_;
  const Program& program_;
  ThreadHub& hub_;
  int rank_;
  Comparison comparison_;
  std::string failure_;
};

}  // namespace

void write_one_device_run(const Graph& graph, const Program& program, const std::string& path, int steps) {
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::set_num_threads(1);
  TensorSource source(graph, kSeed, Precision::float64);
  Lags lags;
  for (const Relaxation& r : program.relaxations) lags.emplace_back(r.op, r.lag);
  const ReferenceRun run =
      run_reference(graph, source, {Precision::float64, kSeed}, default_settings(OptimizerKind::adamw), steps, lags);
  const auto problems = write_reference(path, {{Precision::float64, &run}});
  if (!problems.empty()) throw std::runtime_error(to_string(problems));
}

ThreadRun run_on_threads(const Graph& graph, const Program& program, const std::string& reference, int steps) {
  Result<ReferenceFile> file = ReferenceFile::open(reference);
  ThreadRun out;
  if (!file.ok()) {
    out.failure = to_string(file.diagnostics);
    return out;
  }
  const int n = static_cast<int>(program.device_count);
  ThreadHub hub(n);
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r) ranks.push_back(std::make_unique<Rank>(graph, program, *file, hub, r));
  for (auto& r : ranks) threads.emplace_back([&rank = *r, steps] { rank.run(steps); });
  for (std::thread& t : threads) t.join();
  for (const auto& r : ranks) {
    if (out.failure.empty()) out.failure = r->failure();
    out.compared += r->comparison().compared();
    if (r->comparison().worst().error >= out.error) {
      out.error = r->comparison().worst().error;
      out.tensor = r->comparison().worst().tensor;
    }
    out.orders.push_back(std::move(r->order));
  }
  return out;
}

}  // namespace planscope::testing
