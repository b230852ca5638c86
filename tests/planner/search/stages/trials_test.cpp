// What is known of a plan's lines from plans that rows refused, against making each plan anew.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "engine/base/text.h"
#include "planner/search/stages/space.h"
#include "planner/search/stages/trials.h"
#include "tests/planner/search/stages/samples.h"

using namespace planscope;
using namespace planscope::stages;
using planscope::testing::cluster;
using planscope::testing::rows;
using planscope::testing::sample;
using planscope::testing::shape_of;

namespace {

std::vector<Configuration> configurations(const ModelShape& shape) {
  std::vector<Configuration> out;
  for (const std::int64_t tensor : {1, 2, 4})
    for (const std::int64_t pipe : divisors(8 / tensor))
      for (const std::int64_t micro_batch : {1, 2})
        for (const int zero : {0, 2})
          for (const bool whole : {false, true}) {
            const std::int64_t data = 8 / tensor / pipe;
            if (pipe > shape.unit_count() || (zero > 0 && data == 1) || (whole && tensor == 1)) continue;
            Configuration c{pipe, data, tensor, 32 / data / micro_batch, micro_batch, tensor > 1 && !whole, zero,
                            {},   {},   true};
            c.vocabulary = !whole;
            c.stages.assign(static_cast<std::size_t>(pipe), shape.unit_count() / static_cast<int>(pipe));
            c.stages[0] += shape.unit_count() % static_cast<int>(pipe);
            c.recompute.assign(c.stages.size(), 0);
            out.push_back(std::move(c));
          }
  return out;
}

// About splits: of all plans alike, and such as mean one thing in some plans and another in others.
std::vector<std::string> candidates() {
  return {"forbid trans * batch by data",
          "forbid trans * batch by mb",
          "forbid trans model.layers[0].mlp.gate_proj out by tensor",
          "forbid trans model.layers[*].mlp.down_proj in by tensor",
          "forbid trans model.layers[1].mlp.down_proj none by tensor",
          "forbid trans * seq by tensor",
          "forbid trans L[0] batch by data",
          "forbid trans lm_head vocab by tensor",
          "forbid trans S[0] seq by tensor",
          "forbid trans L[0:|pipe|] batch by data",
          "forbid trans * seq by tensor where |tensor| >= 4",
          "let first = S[0]\nforbid trans first batch by mb",
          "require |tensor| <= 4"};
}

}  // namespace

TEST_CASE("lines that a row forbids break it in every plan that has them") {
  const Graph graph = sample("llama_tiny");
  const Cluster c = cluster("dgx-a100x1");
  ModelShape shape = shape_of(graph);
  shape.batch_size = 32;
  const std::vector<Configuration> all = configurations(shape);
  std::mt19937 random(3);
  int known = 0, without_size = 0;
  for (int round = 0; round < 12; ++round) {
    std::vector<std::string> chosen;
    for (const std::string& row : candidates())
      if (random() % 3 == 0) chosen.push_back(row);
    Settings settings{.global_batch = 32};
    settings.rows = rows(join(chosen, "\n") + "\n");
    Rules rules(settings.rows);
    MaterializeCache cache;
    REQUIRE(rules.read((*cache.at(graph, {}).value)->info, shape).empty());
    const Deadline deadline(600);
    const Asked asked{rules.all(), true, &deadline};
    Trials learning(graph, c, shape, settings, rules, cache);
    std::vector<Configuration> mixed = all;
    std::shuffle(mixed.begin(), mixed.end(), random);
    for (std::size_t i = 0; i < mixed.size() / 2; ++i) learning.tried(mixed[i], asked);
    for (const Configuration& of : all) {
      INFO(join(chosen, "\n") << "\n" << script(shape, of));
      const std::vector<int> broken = learning.broken_by_lines(of, rules.all());
      Trials anew(graph, c, shape, settings, rules, cache);
      const std::set<int>& breaks = anew.tried(of, asked).broken;
      for (const int row : broken) CHECK(breaks.contains(row));
      known += static_cast<int>(broken.size());
      without_size += std::count_if(broken.begin(), broken.end(), [&](int row) {
        return rules.line(row).text.find("S[0]") != std::string::npos ||
               rules.line(row).text.find('|') != std::string::npos || rules.line(row).text.find("first") == 13;
      });
    }
  }
  CHECK(known > 200);
  CHECK(without_size == 0);  // what depends on sizes and stages is known of no other plan
}
