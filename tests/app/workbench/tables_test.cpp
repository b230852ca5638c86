// The sample plans that leave devices, sizes and splits open are completed from their rows alone, without the answers that
// stand in them, and as well as those or better.
#include <algorithm>

#include "engine/base/text.h"
#include "tests/app/workbench/sample.h"

using namespace planscope;

namespace {

std::string without_answers(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n'))
    if (!line.starts_with("auto ")) out += line + "\n";
  return out;
}

}  // namespace

TEST_CASE("tables with open devices, sizes and splits are completed from their rows") {
  const char* name = GENERATE("gpt2_tiny-table2", "gpt2_tiny-table3", "gpt2_tiny-table6", "gpt2_tiny-staged-spmd",
                              "llama_tiny-table3", "llama_tiny-table5");
  INFO(name);
  const std::string model = split(name, '-').front(), text = sample_plan(name);
  Sample found(model, without_answers(text), "local");
  CHECK(found.settled.status == CompletionStatus::complete);
  const Result<Evaluation> written = evaluate(found.graph(), *plan::parse_plan(text), found.cluster, found.cache);
  REQUIRE(written.ok());
  CHECK(found.judged().simulation.step_us() <= written->simulation.step_us() * 1.0000001);
}

namespace {

std::int64_t peak(const Simulation& s) {
  std::int64_t out = 0;
  for (const ClassTimeline& c : s.classes) out = std::max(out, c.peak.bytes());
  return out;
}

}  // namespace

TEST_CASE("an open order is no longer than a known schedule, and none where memory is short", "[slow]") {
  struct Case {
    std::string model, cut;
    std::vector<std::string> known;
  };
  const std::vector<std::string> usual = {"use 1f1b(S)", "use gpipe(S)", "use ready()",
                                          "order b(S[i])[m] < f(S[i])[m+1+n-i] where n = |S|"};
  const Case& c =
      GENERATE_COPY(Case{"gpt2_tiny", "transformer.h[*] into 3", usual},
                    Case{"evoformer_tiny", "evoformer.blocks[*] into 1,2,1", {"use table7(S)", "use gpipe(S)"}});
  const std::string text = "devices 3 as pipe=3\nmodel batch=6\naxis mb=6\nlet S = cut " + c.cut +
                           "\ntrans * batch by mb\nassign S[i] to pipe=i\n";
  Sample free(c.model, text + "order ?\n", "local");
  Cluster slow = free.cluster;
  slow.levels[0].latency = Microseconds{50};
  slow.levels[0].bandwidth = 1e9;
  for (const Cluster& cluster : {free.cluster, slow})
    for (const std::string& line : c.known) {
      const Result<Evaluation> known = evaluate(free.graph(), *plan::parse_plan(text + line + "\n"), cluster, free.cache);
      REQUIRE(known.ok());
      const std::string row = "require memory(all) <= " + std::to_string(peak(known->simulation)) + "\n";
      for (const std::string& rows : {std::string(), row}) {
        INFO(c.model << ", " << line << ", " << rows);
        const Result<Settled> found = settle(free.graph(), *plan::parse_plan(text + rows + "order ?\n"), cluster,
                                             free.cache, {.time_limit_s = 60}, free.stop);
        REQUIRE(found.ok());
        REQUIRE(found->judged);
        CHECK(found->judged->simulation.step_us() <= known->simulation.step_us() * 1.0000001);
      }
    }
}
