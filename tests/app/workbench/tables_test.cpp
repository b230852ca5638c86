// The sample plans that leave devices, sizes and splits open are completed from their rows alone, without the answers that
// stand in them, and as well as those or better.
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
  const Result<Judged> written = judge(found.graph(), *plan::parse_plan(text), found.cluster, found.cache);
  REQUIRE(written.ok());
  CHECK(found.judged().simulation.step_us() <= written->simulation.step_us() * 1.0000001);
}
