#include "engine/runtime/operator_timing.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "tests/support/model_builder.h"

using namespace planscope;

namespace {

Materialized made(const Graph& graph, const std::string& plan) {
  Cluster c;
  c.kinds[0].type = {"process", {std::int64_t{1} << 40}, {{"float32", 1e12}}, 1e11, {2}};
  c.levels = {{"link", 2, {1}, 1e10, 1}};
  Result<Materialized> m = materialize(graph, *plan::parse_plan(plan, "a.plan"), c);
  INFO(to_string(m.diagnostics));
  REQUIRE(m.ok());
  return std::move(*m);
}

ProfileJob all_operators(const Materialized& m) {
  ProfileJob job;
  for (std::size_t p = 0; p < m.program.pieces.size(); ++p) {
    const Piece& piece = m.program.pieces[p];
    for (std::size_t k = 0; k < piece.ops.size(); ++k) {
      const Op& op = m.graph->ops[static_cast<std::size_t>(piece.ops[k].op)];
      job.items.push_back({static_cast<int>(p), static_cast<int>(k), false});
      bool wanted = false;
      for (const Operand& o : op.inputs)
        wanted = wanted || m.graph->tensors[static_cast<std::size_t>(o.tensor)].gradient;
      if (piece.gradient && op.backward && wanted)
        job.items.push_back({static_cast<int>(p), static_cast<int>(k), true});
    }
  }
  return job;
}

std::vector<OperatorMeasurement> measure(
    const Materialized& m, const ProfileJob& job, const std::function<bool()>& stop = [] { return false; }) {
  at::set_num_threads(1);
  std::vector<OperatorMeasurement> out;
  time_operators(*m.graph, m.program, job, stop, [&](const OperatorMeasurement& o) { out.push_back(o); });
  return out;
}

}  // namespace

TEST_CASE("every operator of a transformer has a time, whole and in shards", "[profile]") {
  testing::TransformerSizes sizes;
  sizes.layers = 1;
  for (const char* plan : {"devices 1\n", "devices 2 as data=2\ntrans * batch by data\n",
                           "devices 2 as tensor=2\ntrans layers[*].mlp.up out by tensor\n"}) {
    const Materialized m = made(testing::transformer(sizes), plan);
    const ProfileJob job = all_operators(m);
    const auto times = measure(m, job);
    REQUIRE(times.size() == job.items.size());
    int nothing = 0;
    for (const OperatorMeasurement& t : times) {
      INFO(plan << m.graph
                       ->node(
                           m.program.pieces[static_cast<std::size_t>(job.items[static_cast<std::size_t>(t.item)].piece)]
                               .ops[static_cast<std::size_t>(job.items[static_cast<std::size_t>(t.item)].op)]
                               .op)
                       .name());
      CHECK(t.problem == "");
      CHECK(t.repeats >= 5);
      CHECK(t.time.count < 1e5);
      // A backward that is no slower than an empty run of autograd may come out as 0.
      nothing += t.time.count <= 0;
    }
    CHECK(nothing < static_cast<int>(times.size()) / 4);
  }
}

TEST_CASE("more work takes longer", "[profile]") {
  testing::ModelBuilder b;
  const ValueId x = b.input("x", {64, 256});
  const ValueId small = b.linear("small", x, 8, false);
  const ValueId large = b.linear("large", b.linear("middle", small, 1024, false), 1024, false);
  const Materialized m = made(b.graph(b.cross_entropy(large, b.input("labels", {64}, DType::i64))), "devices 1\n");
  ProfileJob job;
  for (std::size_t p = 0; p < m.program.pieces.size(); ++p)
    for (std::size_t k = 0; k < m.program.pieces[p].ops.size(); ++k) {
      const std::string& module = m.graph->node(m.program.pieces[p].ops[k].op).module;
      if (module == "small" || module == "large")
        job.items.push_back({static_cast<int>(p), static_cast<int>(k), false});
    }
  REQUIRE(job.items.size() == 2);
  job.memory = {{4096, 0}, {64 << 20, 0}, {4096, 8}, {64 << 20, 8}};
  const auto times = measure(m, job);
  REQUIRE(times.size() == 6);
  CHECK(times[1].time.count > 4 * times[0].time.count);   // 512 times the operations
  CHECK(times[3].time.count > 20 * times[2].time.count);  // 16,384 times the bytes; other work may disturb
  CHECK(times[5].time.count > 20 * times[4].time.count);  // updates
}

TEST_CASE("what cannot run is told, and the rest is measured; a stop ends it", "[profile]") {
  testing::TransformerSizes sizes;
  sizes.layers = 1;
  const Materialized m = made(testing::transformer(sizes), "devices 1\n");
  ProfileJob job;
  job.items = {{1000, 0, false}, {0, 0, false}};
  const auto times = measure(m, job);
  REQUIRE(times.size() == 2);
  CHECK(times[0].item == 0);
  CHECK_FALSE(times[0].problem.empty());
  CHECK(times[1].time.count > 0);
  CHECK(measure(m, all_operators(m), [] { return true; }).empty());
}
