// What is gone to by its name.
#include "app/session/locator.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "app/session/choices.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("the locator finds layers by number, parameters and inputs, and its commands select them") {
  Session s({.cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  const std::vector<Target> all = targets(s.state());
  const auto of = [&](const std::string& title) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Target& t) { return t.title == title; });
    return found == all.end() ? Target{} : *found;
  };
  CHECK(of("transformer.h.3").about == "layer");
  CHECK(of("transformer.h.0.mlp.c_fc.weight").about == "parameter × 4");
  CHECK(of("transformer.h.1.mlp.c_fc.weight").title.empty());  // equal layers once
  CHECK(of("input_ids").about == "input");
  for (const Target& t : all) {
    INFO(t.title << ": " << t.command);
    if (t.about != "layer" && t.about != "input" && !t.about.starts_with("parameter")) continue;
    must(s, t.command);
    REQUIRE(s.state().selected);
    CHECK(s.state().selected->problem.empty());
  }
  const Result<Done> misspelt = run(s, "select tensor=transformer.h.2.mlp.c_fc.weigth");
  REQUIRE_FALSE(misspelt.ok());
  CHECK(to_string(misspelt.diagnostics).find("did you mean 'transformer.h.2.mlp.c_fc.weight'?") != std::string::npos);
  const std::vector<Choice> offered = choices(s.state(), "select", "tensor");
  CHECK(std::any_of(offered.begin(), offered.end(), [](const Choice& c) { return c.value == "input_ids"; }));
  must(s, of("transformer.h.3").command);
  const std::vector<OpId> operators = s.state().selected->operators;
  REQUIRE_FALSE(operators.empty());
  const State now = s.state();
  for (const OpId op : operators) CHECK(now.document()->model->graph.node(op).module.starts_with("transformer.h.3"));
}
