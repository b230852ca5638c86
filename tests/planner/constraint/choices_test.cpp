// Folding of equal choices and paths that select them again.
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "planner/constraint/choices.h"
#include "tests/planner/constraint/judge.h"

using namespace planscope;
using namespace planscope::constraint;

TEST_CASE("paths that differ in numbers are one path where the numbers fill a box") {
  using Paths = std::vector<std::string>;
  CHECK(merged_paths({"m.layers.0.mlp", "m.layers.1.mlp", "m.layers.2.mlp"}) == Paths{"m.layers[0:3].mlp"});
  CHECK(merged_paths({"m.layers.3.mlp"}) == Paths{"m.layers[3].mlp"});
  CHECK(merged_paths({"m.layers.0", "m.layers.2", "m.layers.3"}) == Paths{"m.layers[0]", "m.layers[2:4]"});
  CHECK(merged_paths({"a.0.b.0", "a.0.b.1", "a.1.b.0", "a.1.b.1"}) == Paths{"a[0:2].b[0:2]"});
  CHECK(merged_paths({"a.0.b.0", "a.0.b.1", "a.1.b.0"}) == Paths{"a[0].b[0:2]", "a[1].b[0]"});
  CHECK(merged_paths({"S[2]", "S[1]"}) == Paths{"S[1:3]"});
  CHECK(merged_paths({"lm_head", "model.norm"}) == Paths{"lm_head", "model.norm"});
}

TEST_CASE("layers fold into one choice, modules do not") {
  const plan::ModelInfo model = testing::model_of("llama layers=8");
  const plan::Plan p = *plan::parse_plan(
      "devices 4 as tensor=4\nlet L = model.layers[*]\ntrans L.mlp.{gate,up}_proj out|in|none by tensor\n"
      "trans L recompute|keep\ntrans update(L.mlp) dim0|none by tensor\nforbid trans L.mlp.up_proj none by tensor\n");
  const plan::Decisions d = *plan::bind(p, model);
  const std::vector<Choice> choices = fold_choices(d, model);
  REQUIRE(choices.size() == 6);  // gate, up; update of gate, up, down; recompute
  CHECK(choices[0].rows.size() == 8);
  CHECK(choices[0].words == std::vector<std::string>{"out", "in", "none"});
  int forbidden = 0;
  for (const Choice& c : choices)
    for (const auto& lines : c.forbidden_by) forbidden += lines == std::vector<int>{6} ? 1 : 0;
  CHECK(forbidden == 1);
}

TEST_CASE("layers that a known plan treats differently are choices of their own") {
  const plan::ModelInfo model = testing::model_of("llama layers=8");
  const plan::Decisions d = *plan::bind(
      *plan::parse_plan("devices 4 as tensor=4\ntrans model.layers[*].mlp.up_proj out|in by tensor\n"), model);
  const Now now = [&](const plan::Decisions&, const plan::OpenChoice& o) -> std::string {
    const std::string& module = model.operators[static_cast<std::size_t>(o.row)].module;
    return module == "model.layers.2.mlp.up_proj" ? "in" : module == "model.layers.3.mlp.up_proj" ? "none" : "out";
  };
  const std::vector<Choice> choices = fold_choices(d, model, nullptr, now);
  REQUIRE(choices.size() == 3);
  CHECK((choices[0].rows.size() == 6 && choices[0].now == 0));
  CHECK((choices[1].rows.size() == 1 && choices[1].now == 1));
  CHECK((choices[2].rows.size() == 1 && choices[2].now == -1));
}
