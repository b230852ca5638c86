// Sums over parts of a step, and what is alive in it, against the simulation and against each other.
#include "app/workbench/time_sums.h"

#include <algorithm>

#include "app/workbench/timeline.h"
#include "planner/simulate/closer_look.h"
#include "tests/app/workbench/sample_plans.h"

using namespace planscope;

namespace {

bool overlaps(const Evaluation& e) { return most_ahead(e.made.program) > 0; }

// From the drawn blocks: time of a kind within the window, in nanoseconds.
double drawn(const viz::Lane& lane, const Window& w, const std::function<bool(viz::BlockKind)>& is) {
  double sum = 0;
  for (const viz::Stream& s : lane.streams) {
    if (s.kind == viz::StreamKind::communication) continue;
    if (s.kind == viz::StreamKind::compute && lane.streams.size() > 1 && lane.streams[1].kind == viz::StreamKind::operators) continue;
    for (const viz::Block& b : s.blocks) {
      if (!is(b.kind)) continue;
      const double from = std::max(b.start.value * 1000, static_cast<double>(w.from)), to = std::min(b.end().value * 1000, static_cast<double>(w.to));
      sum += std::max(0.0, to - from);
    }
  }
  return sum;
}

void check_sums(const Evaluation& e, const Cluster& cluster) {
  const Graph& graph = *e.made.graph;
  const Program& program = e.made.program;
  SimulationOptions options = e.options;
  options.gaps = true;
  const CloserLook look(graph, program, cluster, options);
  const DetailedSimulation d = *look.window(std::nullopt);
  const Nanoseconds step = d.simulation.step_ns;
  CHECK(step == e.simulation.step_ns);
  const auto sums = [&](Nanoseconds from, Nanoseconds to) { return time_sums(graph, program, cluster, d.simulation, {from, to}); };
  const TimeSums all = sums(0, step), left = sums(0, step / 3), right = sums(step / 3, step);
  // The same of a window of a step that is too long for single operators.
  const Window part{step / 5, step / 2};
  options.detail_limit = 0;
  const DetailedSimulation w = *CloserLook(graph, program, cluster, options).window(part);
  const TimeSums of_window = time_sums(graph, program, cluster, w.simulation, part), of_all = sums(part.from, part.to);
  CHECK(viz::first_problem(timeline(graph, program, w.simulation, {.cluster = &cluster, .kinds = &w.kinds, .window = part})).empty());
  for (std::size_t c = 0; c < all.classes.size(); ++c) {
    CHECK(of_window.classes[c].work == of_all.classes[c].work);
    CHECK(of_window.classes[c].idle == of_all.classes[c].idle);
    CHECK(of_window.classes[c].communication.size() == of_all.classes[c].communication.size());
  }
  const viz::TimelineModel picture = timeline(graph, program, d.simulation, {.cluster = &cluster, .kinds = &d.kinds});
  CHECK(viz::first_problem(picture).empty());
  for (std::size_t c = 0; c < all.classes.size(); ++c) {
    const ClassTimeline& t = d.simulation.classes[c];
    INFO(program.classes[c].name);
    const ClassSums& s = all.classes[c];
    for (std::size_t k = 0; k < s.work.size(); ++k) CHECK(left.classes[c].work[k] + right.classes[c].work[k] == s.work[k]);
    for (std::size_t k = 0; k < s.idle.size(); ++k) CHECK(left.classes[c].idle[k] + right.classes[c].idle[k] == s.idle[k]);
    if (!overlaps(e)) {
      CHECK(s.work_sum() == t.compute);
      CHECK(s.work_sum() + s.idle_sum() == step);
      CHECK(left.classes[c].work_sum() + left.classes[c].idle_sum() == step / 3);
      CHECK(s.idle[static_cast<std::size_t>(IdleCause::communication)] == t.idle.communication);
      CHECK(s.idle[static_cast<std::size_t>(IdleCause::imbalance)] == t.idle.imbalance);
      CHECK(s.idle[static_cast<std::size_t>(IdleCause::data)] == t.idle.data);
      double sent = 0;
      for (const CommunicationSum& m : s.communication) sent += m.sent_bytes;
      double simulated = 0;
      for (const Traffic& m : t.traffic) simulated += m.sent;
      CHECK(sent == Approx(simulated));
    }
    const ClassSums& of_part = of_all.classes[c];
    CHECK(static_cast<double>(of_part.idle_sum()) == Approx(drawn(picture.lanes[c], part, viz::is_idle)).margin(1));
    CHECK(static_cast<double>(of_part.work_sum()) == Approx(drawn(picture.lanes[c], part, [](viz::BlockKind k) { return !viz::is_idle(k); })).margin(1));
    // What is alive at the peak is the peak.
    const Result<AliveMoment> peak = look.alive(static_cast<int>(c), {0, step});
    REQUIRE(peak.ok());
    if (!overlaps(e)) CHECK(peak->memory == t.peak);
    std::int64_t bytes = 0;
    for (const AliveOwner& o : peak->owners) bytes += o.bytes;
    CHECK(bytes == peak->memory.bytes());
    REQUIRE(d.kinds[c].size() == t.memory.size());
    for (std::size_t k = 0; k < t.memory.size(); ++k) REQUIRE(d.kinds[c][k].bytes() == t.memory[k].bytes);
  }
}

}  // namespace

TEST_CASE("sums over parts of a step are exact for every sample plan, and what is alive sums to the memory") {
  for_each_sample_plan(check_sums);
}

TEST_CASE("a gap that begins within a task and ends within the next one is drawn between them alone") {
  const Evaluated s("t5_tiny", *read_file("sample_models/plans/t5_tiny-table6.plan").value, "local");
  SimulationOptions options = s.evaluation.options;
  options.gaps = true;
  const Result<Simulation> with_gaps = simulate(s.graph(), s.program(), s.cluster, options);
  REQUIRE(with_gaps.ok());
  CHECK(viz::first_problem(timeline(s.graph(), s.program(), *with_gaps)) == "");
}

TEST_CASE("messages between stages are links from a send to what waits for it") {
  const Evaluated s("llama_tiny",
                    "devices 4 as pipe=4\nmodel batch=8\naxis mb=4\nlet S = cut model.layers[*] into 4\ntrans * batch by mb\n"
                    "assign S[i] to pipe=i\nuse 1f1b(S)\n",
                    "dgx-h100x1");
  const viz::TimelineModel t = timeline(s.graph(), s.program(), s.evaluation.simulation);
  REQUIRE(t.links.size() >= 2 * 3 * 4);  // forward and backward, over three borders, of four micro-batches
  for (const viz::Link& l : t.links) {
    const viz::Block &from = t.at(l.from), &to = t.at(l.to);
    CHECK(l.from.lane != l.to.lane);
    CHECK(from.end() <= to.start + viz::Microseconds{1e-6});
    CHECK(from.micro_batch == to.micro_batch);
    if (from.kind == to.kind) CHECK(std::abs(l.from.lane - l.to.lane) == 1);
  }
}
