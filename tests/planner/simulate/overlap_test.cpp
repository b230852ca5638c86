// Communication behind computation: what materialize() issues early and waits for late is hidden in the simulation.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "engine/program/bucket.h"
#include "engine/program/materialize.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/simulate.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

constexpr TransformerSizes kWide{
    .batch = 32, .seq = 256, .hidden = 1024, .heads = 8, .kv_heads = 8, .ffn = 4096, .layers = 4};
const std::string kData = "devices 4 as data=4\ntrans * batch by data\n";

Materialized made(const std::string& text) {
  Result<Materialized> m = materialize(transformer(kWide), *plan::parse_plan(text), *read_cluster("dgx-h100x2"));
  INFO(text << to_string(m.diagnostics));
  REQUIRE(m.ok());
  return std::move(*m);
}

ClassTimeline simulated(const Materialized& m, const Program& p) {
  const Result<Simulation> s = simulate(*m.graph, p, *read_cluster("dgx-h100x2"));
  INFO(to_string(s.diagnostics));
  REQUIRE(s.ok());
  return s->classes[0];
}

bool is_parameter(const Materialized& m, ProgramValueId v) {
  const TensorId t = m.program.values[static_cast<std::size_t>(v)].tensor;
  return std::any_of(m.graph->parameters.begin(), m.graph->parameters.end(),
                     [&](const Parameter& p) { return p.tensor == t; });
}

bool reduces(const Materialized& m, const Instruction& i) {
  return i.code == Code::issue && m.program.values[static_cast<std::size_t>(i.in[0])].role == Role::gradient &&
         is_parameter(m, i.in[0]);
}

// Where instructions of a kind stand in the segments of a phase.
template <class F>
std::vector<int> positions(const Program& p, Phase phase, F&& wanted) {
  std::vector<int> out;
  for (const Segment& s : p.segments)
    for (int i = 0; s.phase == phase && i < static_cast<int>(s.instructions.size()); ++i)
      if (wanted(s.instructions[static_cast<std::size_t>(i)])) out.push_back(i);
  return out;
}

// The same with every wait behind its issue.
Program blocking(Program p) {
  for (Segment& s : p.segments) {
    std::vector<Instruction> out;
    for (Instruction& i : s.instructions) {
      if (i.code == Code::wait) continue;
      const bool issue = i.code == Code::issue;
      Instruction wait;
      wait.code = Code::wait;
      wait.out = i.out;
      out.push_back(std::move(i));
      if (issue) out.push_back(std::move(wait));
    }
    s.instructions = std::move(out);
  }
  return p;
}

}  // namespace

TEST_CASE("gradients are reduced while backward goes on and waited for by the update") {
  for (const char* zero : {"", "trans update(*) dim0 by data\n"}) {
    const Materialized m = made(kData + zero);
    const auto issued = positions(m.program, Phase::backward, [&](const Instruction& i) { return reduces(m, i); });
    const auto computed =
        positions(m.program, Phase::backward, [](const Instruction& i) { return i.code == Code::backward; });
    REQUIRE(issued.size() > 4);
    CHECK(std::count_if(issued.begin(), issued.end(), [&](int i) { return i < computed.back(); }) > 2);
    std::vector<ProgramValueId> sums;
    for (const Segment& s : m.program.segments)
      for (const Instruction& i : s.instructions)
        if (reduces(m, i)) sums.insert(sums.end(), i.out.begin(), i.out.end());
    const auto waits_for_one = [&](const Instruction& i) {
      return i.code == Code::wait && std::find(sums.begin(), sums.end(), i.out[0]) != sums.end();
    };
    CHECK(positions(m.program, Phase::backward, waits_for_one).empty());
    CHECK(!positions(m.program, Phase::update, waits_for_one).empty());
  }
}

TEST_CASE("what is hidden behind backward is no longer exposed") {
  const Materialized m = made(kData);
  const ClassTimeline hidden = simulated(m, m.program), open = simulated(m, blocking(m.program));
  CHECK(hidden.collective == open.collective);
  CHECK(2 * hidden.idle.communication < open.idle.communication);
}

TEST_CASE("small gradients share a message of a bucket's size at most") {
  const Materialized m = made(kData);
  std::size_t most = 0;
  for (const Segment& s : m.program.segments)
    for (const Instruction& i : s.instructions) {
      if (!reduces(m, i)) continue;
      std::int64_t bytes = 0;
      for (const ProgramValueId v : i.in) bytes += value_bytes(*m.graph, m.program, v).count;
      CHECK(i.in.size() == i.out.size());
      CHECK((bytes <= kBucketBytes || i.in.size() == 1));
      most = std::max(most, i.in.size());
    }
  CHECK(most > 2);
}
