#include "app/workbench/why.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "app/workbench/equal_layers.h"
#include "tests/app/workbench/sample.h"

namespace planscope {
namespace {

const ChoiceAnswer& choice(const OperatorAnswer& a, const std::string& about) {
  const auto found = std::find_if(a.choices.begin(), a.choices.end(), [&](const auto& c) { return c.about == about; });
  REQUIRE(found != a.choices.end());
  return *found;
}

Why asked(Sample& sample, const std::string& operators, const WhySettings& settings = {}) {
  const BasePlan base = sample.base();
  Result<Why> w = why(base, operators, settings);
  INFO(to_string(w.diagnostics));
  REQUIRE(w.ok());
  return std::move(*w.value);
}

TEST_CASE("a statement decides, and the line of its template is told") {
  Sample sample("llama_tiny", "devices 4 as data=2 tensor=2\ntrans * batch by data\nuse tp(model.layers[*], tensor)\n");
  const Why w = asked(sample, "model.layers.1.mlp.up_proj");
  REQUIRE(w.answers.size() == 1);
  CHECK(w.answers[0].operators == "model.layers[*].mlp.up_proj");
  CHECK(w.answers[0].count == 4);
  CHECK(w.answers[0].asked == 1);
  const ChoiceAnswer& data = choice(w.answers[0], "data");
  CHECK(data.does == "batch");
  CHECK(data.by.line == StatementRef{2, "a.plan", "trans * batch by data"});
  CHECK(data.by.template_line.empty());
  const ChoiceAnswer& tensor = choice(w.answers[0], "tensor");
  CHECK(tensor.does == "out");
  CHECK(tensor.by.line == StatementRef{3, "a.plan", "use tp(model.layers[*], tensor)"});
  CHECK_FALSE(tensor.by.template_line.empty());
  CHECK(tensor.alternatives.size() == 4);  // batch, seq, in, none
}

TEST_CASE("a sibling with another decision is another answer") {
  Sample sample("llama_tiny",
                "devices 2 as tensor=2\nuse tp(model.layers[*], tensor)\n"
                "trans model.layers[0].mlp.up_proj none by tensor\n");
  const Why w = asked(sample, "model.layers[*].mlp.up_proj", {"tensor"});
  REQUIRE(w.answers.size() == 2);
  CHECK(w.answers[0].operators == "model.layers[0].mlp.up_proj");
  CHECK(w.answers[1].operators == "model.layers[1:4].mlp.up_proj");
  CHECK(choice(w.answers[0], "tensor").does == "none");
  CHECK(choice(w.answers[1], "tensor").does == "out");
}

TEST_CASE("places on part of an axis are alternatives too") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-axis-range"));
  const Why w = asked(sample, "transformer.h[2].mlp.c_fc:addmm", {"place"});
  const ChoiceAnswer& c = choice(w.answers.at(0), "place");
  CHECK(c.does == "pipe=[3]");
  std::vector<std::string> statements;
  for (const Tried& t : c.alternatives) {
    INFO(t.statement << ": " << t.reason);
    CHECK(plan::parse_statement(t.statement).ok());
    statements.push_back(t.statement);
  }
  std::sort(statements.begin(), statements.end());
  CHECK(statements == std::vector<std::string>{"assign transformer.h[2].mlp.c_fc:addmm to pipe=2",
                                               "assign transformer.h[2].mlp.c_fc:addmm to pipe=[0:2]"});
}

TEST_CASE("what follows names what was compared") {
  Sample sample("llama_tiny", "devices 2 as tensor=2\nuse tp(model.layers[*], tensor)\n");
  const Why w = asked(sample, "model.layers.0.mlp.act_fn", {"tensor"});
  REQUIRE(w.answers.size() == 1);
  const ChoiceAnswer& c = choice(w.answers[0], "tensor");
  CHECK(c.does == "ffn");
  CHECK_FALSE(c.by.line);
  REQUIRE(c.by.compared.size() == 2);
  CHECK(c.by.compared[0].chosen);
  CHECK(c.by.compared[0].bytes == 0);
  CHECK(c.by.compared[1].factors.empty());
  CHECK(c.by.compared[1].bytes > 0);
}

TEST_CASE("a line of the planner says so, with the next best") {
  Sample sample("llama_tiny", "devices 2 as tensor=2\ntrans model.layers[*].mlp.up_proj out|in|none by tensor\n");
  const Why w = asked(sample, "model.layers[*].mlp.up_proj", {"tensor"});
  const ChoiceAnswer& c = choice(w.answers.at(0), "tensor");
  CHECK(c.by.automatic);
  REQUIRE(c.by.line);
  CHECK(c.by.line->line == 2);
  CHECK(c.by.line->text == "auto trans model.layers[*].mlp.up_proj " + c.does + " by tensor");
  for (const Tried& t : c.alternatives)
    if (t.verdict == EditVerdict::cheaper) CHECK(t.statement.find(" out ") == t.statement.npos);  // it had that choice
}

TEST_CASE("an axis that the planner gave one index is told with its line") {
  Sample sample("llama_tiny",
                "devices 2 as data=?d tensor=?t where ?d * ?t = 2\ntrans * batch by data\n"
                "use tp(model.layers[*], tensor)\nrequire ?t < 2\n");
  const Why w = asked(sample, "model.layers[*].mlp.up_proj", {"tensor"});
  const ChoiceAnswer& c = choice(w.answers.at(0), "tensor");
  CHECK(c.does == "none");
  CHECK(c.by.automatic);
  REQUIRE(c.by.line);
  CHECK(c.by.line->text == "auto require ?t = 1");
  CHECK(c.alternatives.empty());
}

TEST_CASE("parameters are asked about by their phase") {
  Sample sample("llama_tiny", "devices 2 as data=2\ntrans * batch by data\ntrans update(*) dim0 by data\n");
  const Why w = asked(sample, "update(model.layers[*].mlp.up_proj)", {"data"});
  REQUIRE(w.answers.size() == 1);
  const ChoiceAnswer& c = choice(w.answers[0], "data");
  CHECK(c.does == "dim0");
  CHECK(c.by.line->line == 3);
  REQUIRE(c.alternatives.size() == 2);
  for (const Tried& t : c.alternatives) CHECK(t.statement.starts_with("trans update(model.layers[*].mlp.up_proj) "));
}

TEST_CASE("places, what waits for backward and order") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-1f1b"));
  const Why w = asked(sample, "transformer.h[1].mlp.c_fc:addmm");
  const ChoiceAnswer& place = choice(w.answers.at(0), "place");
  CHECK(place.does == "pipe=1");
  CHECK(place.by.line->text == "assign S[i] to pipe=i");
  REQUIRE(place.alternatives.size() == 3);
  for (const Tried& t : place.alternatives)
    CHECK(t.statement.starts_with("assign transformer.h[1].mlp.c_fc:addmm to pipe="));
  CHECK(choice(w.answers[0], "backward").does == "keep");
  CHECK(choice(w.answers[0], "order").by.line->text == "use 1f1b(S)");
  CHECK(choice(w.answers[0], "pipe").alternatives.empty());
}

TEST_CASE("a question that names nothing is refused") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-data-tensor"));
  const BasePlan base = sample.base();
  const std::pair<std::string, std::string> cases[] = {
      {"mlp.c_fd", "mlp.c_fd: 'mlp.c_fd' matches no module. Did you mean 'mlp.c_fc' (4 units)?"},
      {"b(transformer.h[0])",
       "b(transformer.h[0]): this is no selection of operators; name operators as a plan does, or update(…), grad(…) "
       "or "
       "fetch(…) of them"}};
  for (const auto& [question, answer] : cases) {
    const Result<Why> w = why(base, question, {});
    REQUIRE(w.diagnostics.size() == 1);
    CHECK(to_string(w.diagnostics[0]) == answer);
  }
  CHECK(why(base, "lm_head", {"nope"}).has_errors());
}

TEST_CASE("a selection names its operators and no others") {
  const Result<OpenModel> m = open_model("sample_models/swin_tiny.pt2", nullptr);
  REQUIRE(m.ok());
  const plan::ModelInfo info = model_info(m->graph);
  const std::vector<int> classes = equal_layers(info);
  const int count = 1 + *std::max_element(classes.begin(), classes.end());
  for (int c = 0; c < count; ++c) {
    std::vector<int> ops;
    for (int o = 0; o < static_cast<int>(classes.size()); ++o)
      if (classes[static_cast<std::size_t>(o)] == c) ops.push_back(o);
    const std::string row = "forbid assign " + selection_of(info, ops) + " to all\n";
    INFO(row);
    const Result<plan::Decisions> d = plan::bind(*plan::parse_plan("devices 1\n" + row, ""), info);
    REQUIRE(d->forbids.size() == 1);
    std::vector<int> named;
    for (const plan::ForbiddenPlace& f : d->forbids[0].places) named.push_back(f.row);
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    CHECK(named == ops);
  }
}

}  // namespace
}  // namespace planscope
