// Pipeline schedules in units of one stage's forward pass, against what is published: idle time and micro-batches in
// flight of plans as users write them, simulated.
//
// The model is a chain of equal products; everything else, communication included, takes no time.
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/simulate/simulate.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

constexpr std::int64_t kUnit = 1'000'000;  // nanoseconds

Graph chain(int layers, std::int64_t batch) {
  ModelBuilder b;
  const ValueId ids = b.input("input_ids", {batch, 8}, DType::i64), labels = b.input("labels", {batch, 8}, DType::i64);
  ValueId x = b.embedding("embed", ids, 32, 32);
  for (int i = 0; i < layers; ++i) x = b.linear("layers." + std::to_string(i), x, 32, false);
  return b.graph(b.cross_entropy(x, labels));
}

// Products take one unit in each direction (`backward_units` for both gradients together), the rest nothing.
SimulationOptions unit_costs(const Graph& g, const Program& p, double layers_per_unit, double backward_units) {
  SimulationOptions out;
  for (Efficiency& e : out.costs.efficiency) e = {1e12, 1e12};
  for (const Piece& piece : p.pieces) {
    for (const PieceOp& o : piece.ops) {
      if (g.node(o.op).kind != "linear") continue;
      for (const bool backward : {false, true})
        out.costs.profiles["process"].samples[profile_key(g, o, DType::f32, backward)] = {
            {shapes_key(g, p, piece, o, backward), 1, kUnit / 1e3 / layers_per_unit * (backward ? backward_units : 1)}};
    }
  }
  return out;
}

struct Schedule {
  double makespan = 0;       // units
  std::vector<double> idle;  // per device class, units
  std::vector<int> in_flight;
  int warnings = 0;  // of materialize
};

// The most forward runs whose saved operands wait for their last backward.
int most_in_flight(const Program& p, const DeviceClass& c) {
  int now = 0, most = 0;
  const bool apart =
      std::any_of(p.segments.begin(), p.segments.end(), [](const Segment& s) { return s.phase == Phase::weight; });
  for (const SlotRun& run : slots(c, 4 * (1 + most_ahead(p)))) {
    const Segment& s = p.segments[static_cast<std::size_t>(run.segment)];
    if (s.name.find("S[") == s.name.npos) continue;
    now += s.phase == Phase::forward ? 1 : s.phase == (apart ? Phase::weight : Phase::backward) ? -1 : 0;
    most = std::max(most, now);
  }
  return most;
}

Schedule schedule(const std::string& text, int layers, std::int64_t batch, double layers_per_unit = 1,
                  double backward_units = 1) {
  Cluster cluster = *read_cluster("local", {.devices = 16});
  cluster.kinds[0].type.launch = {};
  for (Level& l : cluster.levels) l.latency = {}, l.bandwidth = 1e30;
  const Result<Materialized> made = materialize(chain(layers, batch), *plan::parse_plan(text), cluster);
  INFO(text << to_string(made.diagnostics));
  REQUIRE(made.ok());
  const Result<Simulation> s = simulate(*made->graph, made->program, cluster,
                                        unit_costs(*made->graph, made->program, layers_per_unit, backward_units));
  INFO(to_string(s.diagnostics));
  REQUIRE(s.ok());
  Schedule out;
  out.warnings = static_cast<int>(made.diagnostics.size());
  const auto units = [](Nanoseconds n) { return std::round(static_cast<double>(n) / kUnit * 100) / 100; };
  out.makespan = units(s->step_ns);
  for (std::size_t c = 0; c < s->classes.size(); ++c) {
    out.idle.push_back(units(s->step_ns - s->classes[c].compute));
    out.in_flight.push_back(most_in_flight(made->program, made->program.classes[c]));
  }
  return out;
}

std::string pipeline(int devices, int micro_batches) {
  return "devices " + std::to_string(devices) + " as pipe=" + std::to_string(devices) +
         "\naxis mb=" + std::to_string(micro_batches) + "\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb\n";
}
std::string staged(int devices, int micro_batches) {
  return pipeline(devices, micro_batches) + "assign S[i] to pipe=i\n";
}

using Units = std::vector<double>;
using Counts = std::vector<int>;

}  // namespace

TEST_CASE("GPipe and 1F1B: (p-1) of (m+p-1) slots are idle; 1F1B holds p-i micro-batches, GPipe all") {
  const Schedule all = schedule(staged(4, 8) + "use gpipe(S)\n", 4, 8),
                 one = schedule(staged(4, 8) + "use 1f1b(S)\n", 4, 8);
  CHECK(all.makespan == 22);
  CHECK(all.idle == Units(4, 6));
  CHECK(all.in_flight == Counts{8, 8, 8, 8});
  CHECK(one.makespan == 22);
  CHECK(one.idle == Units(4, 6));
  CHECK(one.in_flight == Counts{4, 3, 2, 1});
}

TEST_CASE("stages without an order are warned of") {
  CHECK(schedule(staged(4, 8), 4, 8).warnings == 1);
  CHECK(schedule(staged(4, 8) + "use gpipe(S)\n", 4, 8).warnings == 0);
}

TEST_CASE("interleaved 1F1B with two stages a device: half the bubble, 3 of 19") {
  const Schedule s = schedule(
      "devices 4 as pipe=4\naxis mb=8\nlet S = cut layers[*] into 2*|pipe|\ntrans * batch by mb\nuse interleaved(S, "
      "pipe, mb)\n",
      8, 8);
  CHECK(s.makespan == 38);
  CHECK(s.idle == Units(4, 6));
}

TEST_CASE("Chimera: two directions on four devices, 2 of 10, 2 of 18, 2 of 34") {
  const std::string directions =
      "assign S[i][mb=m] to pipe=i where m % 2 = 0\nassign S[i][mb=m] to pipe=|S|-1-i where m % 2 = 1\n";
  for (const int m : {4, 8, 16}) {
    const Schedule s = schedule(pipeline(4, m) + directions, 4, m);
    INFO(m);
    CHECK(s.makespan == 2 * m + 2);
    CHECK(s.idle == Units(4, 2));
    CHECK(s.warnings == 0);  // by turns of directions is what list scheduling makes of it
  }
}

TEST_CASE("zero bubble: H1 is idle for p-1 slots and holds p micro-batches; H2 holds 2p-1") {
  const Schedule h1 = schedule(staged(4, 12) + "use zb_h1(S)\n", 4, 12, 1, 2),
                 h2 = schedule(staged(4, 12) + "use zb_h2(S)\n", 4, 12, 1, 2);
  CHECK(h1.makespan == 12 * 3 + 3);
  CHECK(h1.idle == Units(4, 3));
  CHECK(h1.in_flight == Counts{4, 4, 4, 4});
  CHECK(h2.in_flight == Counts{7, 7, 7, 7});
}

TEST_CASE("PipeDream: overlapping steps leave nothing idle; stage i holds p-i of them") {
  for (const int n : {2, 4, 8}) {
    const std::string p = std::to_string(n);
    const std::string text =
        "devices " + p + " as pipe=" + p + "\nlet S = cut layers[*] into |pipe|\nassign S[i] to pipe=i\n";
    const Schedule one = schedule(text + "relax fetch(S[i]) lag |S|-1-i\n", n, 8),
                   overlapping = schedule(text + "use pipedream(S)\n", n, 8);
    INFO(n << " stages");
    CHECK(one.makespan == 2 * n);
    CHECK(overlapping.makespan == 2);
    CHECK(overlapping.idle == Units(static_cast<std::size_t>(n), 0));
    Counts held;
    for (int i = 0; i < n; ++i) held.push_back(n - i);
    CHECK(overlapping.in_flight == held);
  }
}

TEST_CASE("overlapping steps: the slowest stage is never idle, the others for what they lack") {
  const Schedule s = schedule(
      "devices 3 as pipe=3\nlet S = cut layers[*] into 1,2,1\nassign S[i] to pipe=i\nuse pipedream(S)\n", 4, 8);
  CHECK(s.makespan == 4);
  CHECK(s.idle == Units{2, 0, 2});
}
