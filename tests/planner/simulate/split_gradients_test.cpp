// Gradients that are exchanged as soon as they are there (ZeRO-2 and 3): when the device waits for them, and what is alive
// meanwhile.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/simulate.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr TransformerSizes kFourLayers{
    .batch = 32, .seq = 256, .hidden = 1024, .heads = 8, .kv_heads = 8, .ffn = 4096, .layers = 4};

Materialized made(const std::string& text, const TransformerSizes& sizes = kFourLayers) {
  Result<Materialized> m = materialize(transformer(sizes), *plan::parse_plan(text), *read_cluster("dgx-h100x2"));
  INFO(text << to_string(m.diagnostics));
  REQUIRE(m.ok());
  return std::move(*m);
}

ClassTimeline simulated(const Materialized& m) {
  const Result<Simulation> s = simulate(*m.graph, m.program, *read_cluster("dgx-h100x2"));
  INFO(to_string(s.diagnostics));
  REQUIRE(s.ok());
  return s->classes[0];
}

std::string plan_of(const std::string& micro_batches, int zero, const std::string& order) {
  return "devices 4 as data=4\naxis mb=" + micro_batches + "\ntrans * batch by mb, data\nuse zero(" +
         std::to_string(zero) + ", *, data)\nlet L = layers[*]\n" + order;
}
const std::string kPrefetch = "use prefetch(L, 1)\n";

// One exchange of a run of the backward pass.
struct Exchange {
  int backwards = 0;  // that ran before it
  std::int64_t bytes = 0;
  std::int64_t given = 0;      // bytes by its backward up to it
  std::int64_t later = 0;      // by later backwards when it was waited for
  std::int64_t all_later = 0;  // … of its micro-batch, ever
  std::vector<ProgramValueId> out;
  bool waited = false;
};

// All exchanges of a step, in order. Micro-batches run one after the other.
std::vector<Exchange> exchanges(const Materialized& m) {
  const Program& p = m.program;
  std::vector<Exchange> out;
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> of_index;
  int backwards = 0;
  std::int64_t given = 0;
  for (const SlotRun& slot : slots(p.classes[0])) {
    const Segment& s = p.segments[at(slot.segment)];
    for (const Instruction& i : s.instructions) {
      if (i.code == Code::backward) ++backwards, given = 0;
      if (i.code == Code::wait)
        for (Exchange& e : out)
          if (!e.waited && e.out == i.out) e.waited = true;
      if (i.code != Code::issue || i.last || s.phase != Phase::backward ||
          p.values[at(i.in[0])].role != Role::gradient || i.move.kind != MoveKind::reduce_scatter)
        continue;
      const std::int64_t bytes =
          std::accumulate(i.in.begin(), i.in.end(), std::int64_t{0},
                          [&](std::int64_t n, auto v) { return n + value_bytes(*m.graph, p, v).count; });
      for (const std::size_t k : of_index[slot.index]) {
        Exchange& e = out[k];
        if (e.backwards == backwards) continue;
        e.all_later += bytes;
        if (!e.waited) e.later += bytes;
      }
      given += bytes;
      of_index[slot.index].push_back(out.size());
      out.push_back({backwards, bytes, given, 0, 0, i.out, false});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("an exchange is waited for behind backwards that give as many bytes as its own") {
  for (const std::string& plan : {plan_of("2", 2, ""), plan_of("2", 3, kPrefetch), plan_of("1", 3, kPrefetch)}) {
    INFO(plan);
    const Materialized m = made(plan);
    const std::vector<Exchange> all = exchanges(m);
    REQUIRE(all.size() > 8);
    std::int64_t largest = 0;
    int hidden = 0;
    for (const Exchange& e : all) largest = std::max(largest, e.given);
    for (const Exchange& e : all) {
      CHECK(e.waited);
      CHECK(e.later >= std::min(e.given, e.all_later));
      CHECK(e.later <= e.given + 2 * largest);
      hidden += e.all_later >= e.given;
    }
    CHECK(2 * hidden > static_cast<int>(all.size()));
  }
}

TEST_CASE("the whole gradients of few backwards are alive at once where they are split") {
  const TransformerSizes few_tokens{
      .batch = 4, .seq = 16, .hidden = 512, .heads = 8, .kv_heads = 8, .ffn = 2048, .layers = 12};
  const Materialized m = made(plan_of("1", 3, kPrefetch), few_tokens);
  std::int64_t whole = 0;
  for (const Exchange& e : exchanges(m)) whole += e.bytes;
  CHECK(simulated(m).peak[MemoryKind::gradients] < whole / 3);
}

TEST_CASE("rows with an index speak of all tasks where there is one index") {
  const Materialized m = made(plan_of("1", 3, kPrefetch));
  std::vector<std::string> order;
  for (const SlotRun& slot : slots(m.program.classes[0])) order.push_back(m.program.segments[at(slot.segment)].name);
  const auto place = [&](const std::string& name) {
    const auto found = std::find(order.begin(), order.end(), name);
    INFO(name);
    REQUIRE(found != order.end());
    return found - order.begin();
  };
  for (int i = 0; i + 1 < 4; ++i) {
    const std::string here = "layers[" + std::to_string(i) + "]", next = "layers[" + std::to_string(i + 1) + "]";
    CHECK(place("fetch(f(" + next + "))") < place("f(" + here + ")"));
    CHECK(place("fetch(b(" + here + "))") < place("b(" + next + ")"));
  }
}
