#include "engine/runtime/worker.h"

#include <ATen/Parallel.h>

#include "engine/base/text.h"
#include "engine/launch/profile_job.h"
#include "engine/launch/trial_job.h"
#include "engine/launch/turns.h"
#include "engine/runtime/comparison.h"
#include "engine/runtime/counting_allocator.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/job_files.h"
#include "engine/runtime/link_timing.h"
#include "engine/runtime/operator_timing.h"
#include "engine/runtime/process_usage.h"
#include "engine/runtime/reference.h"
#include "engine/runtime/run_record.h"
#include "engine/runtime/transport_choice.h"

namespace planscope {

namespace {

// The rank was asked to stop in the middle of a step.
struct Stopped {};

// Floating results of operators that do not say their type follow the default one.
void use(Precision precision) {
  c10::set_default_dtype(precision == Precision::float64 ? caffe2::TypeMeta::Make<double>()
                                                         : caffe2::TypeMeta::Make<float>());
}

// For the launcher: one line a diagnostic, none empty.
std::string reason(const std::vector<Diagnostic>& why) {
  std::vector<std::string> lines;
  for (const Diagnostic& d : why) lines.push_back(to_string(d));
  return join(lines, "\n");
}

class Worker {
 public:
  Worker(ControlChannel& channel, TrialJob job, const Graph& graph, GivenInputs given)
      : channel_(channel), job_(std::move(job)), graph_(graph), given_(std::move(given)) {
    optimizer_ = default_settings(*optimizer_kind(job_.optimizer));
  }

  // Both precisions, written to the file that the trial's ranks read.
  bool make_reference() {
    at::set_num_threads(1);  // the file must not depend on the number of cores
    int all = job_.steps + 1;
    std::int64_t step = -1;  // its first operator begins it
    const auto progress = [&](std::int64_t number, const std::string& what) {
      if (channel_.stop_requested()) throw Stopped{};
      if (number == 0) channel_.at_step(++step, all, static_cast<std::int64_t>(graph_.ops.size()));
      channel_.working(number, what);
    };
    const Lags lags(job_.lags.begin(), job_.lags.end());
    std::map<Precision, ReferenceRun> runs;
    for (const auto& [precision, steps] : {std::pair{Precision::float64, job_.steps}, std::pair{Precision::model, 1}}) {
      use(precision);
      TensorSource source(graph_, job_.seed, precision, given_);
      runs[precision] = run_reference(graph_, source, {precision, job_.seed, false, true}, optimizer_, steps, lags, progress);
    }
    ReferenceRun& exact = runs[Precision::float64];
    // AdamW divides by it: from 1e-17 to a whole step takes three updates, and no loss shows it before.
    if (optimizer_.kind == OptimizerKind::adamw && job_.steps > 3 && has_rounding(exact)) {
      all += job_.steps;
      use(Precision::float64);
      TensorSource source(graph_, job_.seed, Precision::float64, given_);
      exact.rounding =
          loss_rounding(graph_, source, {Precision::float64, job_.seed, false, true}, optimizer_, exact, lags, progress);
    }
    const auto problems = write_reference(
        job_.reference, {{Precision::float64, &exact}, {Precision::model, &runs[Precision::model]}});
    if (problems.empty()) return true;
    channel_.fail(-1, reason(problems), FailureOrigin::own);
    return false;
  }

  bool make_record() {
    at::set_num_threads(1);
    const auto progress = [this](std::int64_t number, const std::string& what) {
      if (channel_.stop_requested()) throw Stopped{};
      channel_.working(number, what);
    };
    const auto problems = write_run_record(graph_, given_, job_, [](Precision p) { use(p); }, progress);
    if (problems.empty()) return true;
    channel_.fail(-1, reason(problems), FailureOrigin::own);
    return false;
  }

  void run_trial(const Program& program) {
    const ChosenTransport chosen = make_transport(channel_, {});
    Transport& transport = *chosen.transport;
    report_.transport = chosen.name;
    const Site site(graph_, program, channel_.rank());
    transport.prepare(site.all_groups());
    std::optional<ReferenceFile> reference;
    if (job_.check) {
      Result<ReferenceFile> opened = ReferenceFile::open(job_.reference);
      if (!opened.ok()) throw std::runtime_error(reason(opened.diagnostics));
      reference = std::move(*opened);
      exact_pass(site, transport, *reference);
    }
    measured_pass(site, transport, reference ? &*reference : nullptr);
    channel_.report(print(report_));
  }

 private:
  ExecutorOptions options(Precision precision, std::optional<int> steps) const {
    return {{precision, job_.seed, false, true}, optimizer_, job_.check, steps};
  }

  void exact_pass(const Site& site, Transport& transport, const ReferenceFile& reference) {
    use(Precision::float64);
    TensorSource source(graph_, job_.seed, Precision::float64, given_);
    Executor executor(site, transport, source, options(Precision::float64, job_.steps));
    Comparison comparison(graph_, reference, Precision::float64);
    for (int step = 0; step < job_.steps; ++step) {
      channel_.at_step(step, all_steps(), executor.instructions());
      executor.step(observer(-1, "exact step " + of_all(step)));
      if (executor.loss()) comparison.loss(step, *executor.loss());
    }
    channel_.working(executor.instructions(), "comparing with the one-device run");
    comparison.gradients(executor.parameters());
    comparison.parameters(executor.parameters(), optimizer_, job_.steps);
    report_.errors.push_back(comparison.worst());
    report_.compared += comparison.compared();
  }

  void measured_pass(const Site& site, Transport& transport, const ReferenceFile* reference) {
    use(Precision::model);
    release_unused_blocks();
    const Bytes before = resident_bytes();
    std::optional<Turns> turns = open_turns();
    TensorSource source(graph_, job_.seed, Precision::model, given_);
    Executor executor(site, transport, source, options(Precision::model, std::nullopt));
    for (int step = -1; step < job_.steps; ++step) {
      channel_.at_step(all_steps() - job_.steps + step, all_steps(), executor.instructions());
      if (turns && !turns->take([this] { return channel_.stop_requested(); })) throw Stopped{};
      if (step < 0 || !executor.overlaps()) transport.world().barrier("start of a step");
      reset_peak_bytes();
      reset_peak_resident();
      const Microseconds begin = channel_.now(), used = processor_time();
      executor.step(observer(step, step < 0 ? "warm-up" : "step " + of_all(step)));
      const Microseconds end = channel_.now(), used_then = processor_time();
      if (!job_.turn_to.empty()) transport.world().barrier("end of a turn");
      if (turns) turns->give();
      if (executor.loss() && step + 1 < job_.steps) report_.losses.push_back(*executor.loss());
      if (step < 0) {
        compare_first(executor, reference);
        executor.forget_gradients();
        continue;
      }
      report_.steps.push_back(end - begin);
      report_.cpu.push_back(used_then - used);
      report_.peak.count = std::max(report_.peak.count, peak_bytes());
      report_.resident.count = std::max(report_.resident.count, peak_resident_bytes().count - before.count);
    }
    if (executor.overlaps()) transport.world().barrier("end of the training");  // others may read what was sent
    report_.seeded.assign(source.seeded().begin(), source.seeded().end());
    report_.inputs = given_.from;
    report_.inputs_note = given_.note;
  }

  // The first rank takes the turns; the others meet it at the start of each step.
  std::optional<Turns> open_turns() const {
    if (job_.turn_from.empty() || channel_.rank() != 0) return std::nullopt;
    Result<Turns> turns = Turns::open(job_.turn_from, job_.turn_to);
    if (!turns.ok()) throw std::runtime_error(reason(turns.diagnostics));
    return std::move(*turns);
  }

  void compare_first(const Executor& executor, const ReferenceFile* reference) {
    if (reference == nullptr) return;
    Comparison comparison(graph_, *reference, Precision::model);
    if (executor.loss()) comparison.loss(0, *executor.loss());
    comparison.gradients(executor.parameters());
    report_.errors.push_back(comparison.worst());
    report_.compared += comparison.compared();
  }

  // Of both passes, with the one to warm up.
  int all_steps() const { return (job_.check ? job_.steps : 0) + 1 + job_.steps; }

  std::string of_all(int step) const { return std::to_string(step + 1) + " of " + std::to_string(job_.steps); }

  // Tells where the rank is; from step 0 on also records spans.
  ExecutionObserver observer(int step, const std::string& where) {
    ExecutionObserver o;
    o.begin = [this, step, where](std::int64_t number, const Segment&, const Instruction&, const std::string& what) {
      if (channel_.stop_requested()) throw Stopped{};
      channel_.working(number, where + ", " + what);
      if (step >= 0) begun_ = channel_.now();
    };
    if (step < 0) return o;
    o.end = [this, step](std::int64_t number, const Segment&, const Instruction& i) {
      const std::string kind(i.code == Code::issue || i.code == Code::local ? to_string(i.move.kind)
                                                                            : to_string(i.code));
      report_.spans.push_back({step, number, kind, begun_, channel_.now() - begun_});
    };
    return o;
  }

  ControlChannel& channel_;
  TrialJob job_;
  const Graph& graph_;
  GivenInputs given_;
  OptimizerSettings optimizer_;
  RankReport report_;
  Microseconds begun_;
};

bool measure_operators(ControlChannel& channel, const ProfileJob& job, const Graph& graph, const Program& program) {
  use(Precision::model);
  const auto stop = [&] {
    channel.working(-1, "measuring");
    return channel.stop_requested();
  };
  const auto report = [&](const OperatorMeasurement& m) { channel.report(print(m)); };
  time_operators(graph, program, job, stop, report);
  if (channel.stop_requested()) throw Stopped{};
  return true;
}

bool run_profile(ControlChannel& channel) {
  const auto refuse = [&](const std::vector<Diagnostic>& why) {
    return channel.fail(-1, reason(why), FailureOrigin::own), false;
  };
  const Result<ProfileJob> job = parse_profile_job(channel.job());
  if (!job.ok()) return refuse(job.diagnostics);
  if (job->task == ProfileTask::links) {
    const ChosenTransport chosen = make_transport(channel, {});
    time_links(chosen.transport->world(), [&](const LinkMeasurement& m) {
      if (channel.rank() == 0) channel.report(print(m));
    });
    chosen.transport->world().barrier("end");
    return true;
  }
  channel.working(-1, "reading the model");
  const Result<Graph> graph = read_graph(job->model, job->sizes);
  if (!graph.ok()) return refuse(graph.diagnostics);
  const Result<Program> program = read_program(job->program, *graph);
  if (!program.ok()) return refuse(program.diagnostics);
  return measure_operators(channel, *job, *graph, *program);
}

bool run_job(ControlChannel& channel) {
  if (is_profile_job(channel.job())) return run_profile(channel);
  const auto refuse = [&](const std::vector<Diagnostic>& why) {
    return channel.fail(-1, reason(why), FailureOrigin::own), false;
  };
  channel.working(-1, "reading the model");
  Result<TrialJob> job = parse_trial_job(channel.job());
  if (!job.ok()) return refuse(job.diagnostics);
  if (!optimizer_kind(job->optimizer)) {
    return refuse({error("there is no optimizer '" + job->optimizer + "'", "", "sgd or adamw")});
  }
  // Whoever waits at the address that a file names could be anybody: what joins writes no files.
  if (job->task == TrialTask::reference && channel.joined())
    return refuse({error("a process that joins makes no one-device run", "it would write a file")});
  Result<Graph> graph = read_graph(job->model, job->sizes);
  if (!graph.ok()) return refuse(graph.diagnostics);
  Result<GivenInputs> given = read_inputs(*graph, job->inputs);
  if (!given.ok()) return channel.fail(-1, reason(given.diagnostics), FailureOrigin::input), false;
  Worker worker(channel, *job, *graph, std::move(*given));
  if (job->task == TrialTask::reference) return worker.make_reference();
  if (job->task == TrialTask::record) return worker.make_record();
  Result<Program> program = read_program(job->program, *graph);
  if (!program.ok()) return refuse(program.diagnostics);
  if (program->device_count != channel.ranks()) {
    return refuse({error("the plan is for " + std::to_string(program->device_count) + " devices",
                         std::to_string(channel.ranks()) + " processes were started")});
  }
  worker.run_trial(*program);
  return true;
}

}  // namespace

int run_worker(ControlChannel& channel) {
  install_counting_allocator();
  at::set_num_threads(channel.threads());
  at::set_num_interop_threads(1);
  try {
    if (!run_job(channel)) return 1;
    channel.done();
    return 0;
  } catch (const Stopped&) {
    return 0;
  } catch (const DamagedFile& e) {
    channel.fail(-1, e.what(), FailureOrigin::input);
  } catch (const ExecutionError& e) {
    channel.fail(e.instruction(), e.what(), FailureOrigin::own);
  } catch (const TransportError& e) {
    channel.fail(-1, e.what(), e.origin());
  } catch (const c10::Error& e) {
    channel.fail(-1, e.what_without_backtrace(), FailureOrigin::own);
  } catch (const std::exception& e) {
    channel.fail(-1, e.what(), FailureOrigin::own);
  }
  return 1;
}

}  // namespace planscope
