// A step of 1,024 micro-batches costs at most twice the memory of one of 16: the Program has as many instructions, and the
// most that is alive at any time while it is made, verified and simulated at most doubles. (A timeline has a block for each
// slot, so simulating alone grows.) Blocks are counted by their usable size.
//
//   PLANSCOPE_LARGE=llama3_405b.pt2 build/release/tests/engine_scale_test -s "[.large]"      figures of a large model
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <new>

#include "engine/graph/import.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/program/program_json.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"

namespace {
std::atomic<std::int64_t> live = 0, peak = 0;
}  // namespace

void* operator new(std::size_t size) {
  void* block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  const std::int64_t now = live += static_cast<std::int64_t>(malloc_usable_size(block));
  std::int64_t most = peak;
  while (now > most && !peak.compare_exchange_weak(most, now)) continue;
  return block;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept {
  live -= static_cast<std::int64_t>(malloc_usable_size(block));
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

using namespace planscope;

namespace {

// The most that `work` has alive at once, beyond what was alive before.
template <class Work>
std::int64_t most(const Work& work) {
  const std::int64_t before = live;
  peak = before;
  work();
  return peak - before;
}

struct Cost {
  std::size_t instructions = 0, text = 0;
  std::int64_t materialize = 0, verify = 0, simulate = 0;
  std::int64_t together = 0;  // at any time
  double seconds = 0;         // of materialize
};

Cost measure(const Graph& g, const std::string& declared, int micro_batches) {
  const Cluster cluster = *read_cluster("dgx-h100x512");
  const plan::Plan plan = *plan::parse_plan(declared + "axis mb=" + std::to_string(micro_batches) +
                                            "\nlet L = model.layers[*]\nlet S = cut L into |pipe|\n"
                                            "trans * batch by mb, data\nuse tp(L, tensor)\nassign S[i] to pipe=i\n"
                                            "use 1f1b(S)\n");
  Cost c;
  Result<Materialized> m;
  const std::int64_t before = live;
  const auto begin = std::chrono::steady_clock::now();
  c.materialize = most([&] { m = materialize(g, plan, cluster); });
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  for (const Segment& s : m->program.segments) c.instructions += s.instructions.size();
  c.text = to_json(m->program).size();
  const std::int64_t made = live - before;
  c.verify = most([&] { CHECK(verify(*m->graph, m->program).verdict == Verdict::equivalent); });
  c.simulate = most([&] { CHECK(simulate(*m->graph, m->program, cluster).ok()); });
  c.together = std::max({c.materialize, made + c.verify, made + c.simulate});
  return c;
}

Graph open(const std::string& path) {
  Result<Model> m = import_model(path);
  REQUIRE(m.ok());
  return *make_graph(std::make_shared<const Model>(std::move(*m.value))).value;
}

void compare(const Cost& few, const Cost& many) {
  const auto ratio = [](auto a, auto b) { return static_cast<double>(b) / static_cast<double>(a); };
  CAPTURE(few.materialize, many.materialize, few.verify, many.verify, few.simulate, many.simulate);
  CAPTURE(few.together, many.together, few.seconds, many.seconds);
  CHECK(many.instructions == few.instructions);
  CHECK(ratio(few.text, many.text) <= 1.1);
  CHECK(ratio(few.materialize, many.materialize) <= 2);
  CHECK(ratio(few.together, many.together) <= 2);
  CHECK(ratio(few.simulate, many.simulate) <= 8);  // of 64 times as many slots
}

}  // namespace

TEST_CASE("a thousand micro-batches cost at most twice the memory of sixteen") {
  const Graph g = open("sample_models/llama3_8b.pt2");
  const std::string grid = "devices 16 as pipe=4 data=2 tensor=2\nmodel batch=2048 seq=1024\n";
  compare(measure(g, grid, 16), measure(g, grid, 1024));
}

// Masks and counts of all micro-batches come before the first loss: as many as that wait for as many.
TEST_CASE("sixteen times as many micro-batches cost at most twenty times the memory") {
  const Graph g = open("sample_models/llama_tiny.pt2");
  const auto of = [&](int n) {
    return measure(g, "devices 2 as pipe=2 data=1 tensor=1\nmodel batch=" + std::to_string(n) + "\n", n);
  };
  const Cost few = of(1024), many = of(16384);
  CAPTURE(few.materialize, many.materialize, few.verify, many.verify, few.simulate, many.simulate);
  CHECK(many.instructions == few.instructions);
  CHECK(many.materialize <= 20 * few.materialize);
  CHECK(many.verify <= 20 * few.verify);
  CHECK(many.simulate <= 20 * few.simulate);
}

TEST_CASE("so they do for a large model", "[.large]") {
  const char* path = std::getenv("PLANSCOPE_LARGE");
  REQUIRE(path != nullptr);
  const Graph g = open(path);
  const std::string grid = "devices 4096 as pipe=16 data=32 tensor=8\nmodel batch=32768 seq=1024\n";
  compare(measure(g, grid, 16), measure(g, grid, 1024));
}
