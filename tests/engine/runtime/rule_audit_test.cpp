#include <catch2/catch.hpp>

#include "../program/tiny_experts.h"
#include "engine/graph/import.h"
#include "engine/runtime/rule_audit.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

std::string text(const std::vector<AuditFinding>& findings) {
  std::string out;
  for (const AuditFinding& f : findings) out += f.op + " " + f.factor + ": " + f.what + "\n";
  return out;
}

Graph open(const std::string& path) {
  Result<Model> model = import_model(path);
  INFO(to_string(model.diagnostics));
  REQUIRE(model.ok());
  Result<Graph> graph = make_graph(std::make_shared<const Model>(std::move(*model)));
  REQUIRE(graph.ok());
  return *graph;
}

// The first failure after `spoil` has changed every operator with the target.
std::string failure(const std::string& target, const std::function<void(Op&)>& spoil,
                    Graph graph = tiny::tiny_graph(1)) {
  int changed = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.node(static_cast<OpId>(i)).target != target) continue;
    spoil(graph.ops[i]);
    ++changed;
  }
  REQUIRE(changed > 0);
  const AuditReport report = audit_rules(graph);
  return report.failed.empty() ? "" : report.failed[0].factor + ": " + report.failed[0].what;
}

}  // namespace

TEST_CASE("every rule of the sample models agrees with its operator") {
  const std::string name = GENERATE("gpt2_tiny", "llama_tiny", "t5_tiny", "mixtral_tiny", "bert_tiny", "swin_tiny",
                                    "evoformer_tiny", "gpt2_dropout_tiny");
  const AuditReport report = audit_rules(open("sample_models/" + name + ".pt2"));
  CHECK(text(report.failed) == "");
  CHECK(report.signatures > 30);
  CHECK(report.tested > 3 * report.signatures);
  for (const AuditFinding& f : report.skipped) CHECK(!f.what.empty());
}

TEST_CASE("the rules of the text cases agree with their operators") {
  const std::string file = GENERATE("experts", "index", "random", "products");
  int tested = 0;
  for (const testing::TextCase& c : testing::read_cases("tests/cases/rules/" + file + ".test")) {
    INFO(file << ": " << c.name);
    Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(c.input)));
    REQUIRE(graph.value);
    const AuditReport report = audit_rules(*graph);
    CHECK(text(report.failed) == "");
    tested += report.tested;
  }
  CHECK(tested > 5);
}

TEST_CASE("the hand-made models have right rules") {
  CHECK(text(audit_rules(tiny::tiny_graph(1)).failed) == "");
  CHECK(text(audit_rules(tiny::tiny_experts()).failed) == "");
}

TEST_CASE("a wrong rule is found") {
  CHECK(failure("aten::linear", [](Op& op) {
          for (Factor& f : op.factors) f.kind = f.kind == FactorKind::sum ? FactorKind::free : f.kind;
        }) == "in part 0 by 2: output 0");
  CHECK(failure("planscope::lse", [](Op& op) {
          for (Factor& f : op.factors) f.kind = f.kind == FactorKind::merge ? FactorKind::sum : f.kind;
        }) == "vocab part 0 by 2: output 0");
  CHECK(failure("aten::relu", [](Op& op) { op.linear = {{0}}; }) == "linear {self}: output 0");
  CHECK(failure("planscope::pick", [](Op& op) { op.shard = ShardForm::same; }).find("vocab part 0 by 2") == 0);
  const auto other_key = [](Op& op) {
    for (Factor& f : op.factors) f.key = f.key < 0 ? -1 : op.outputs[0].tensor;
  };
  CHECK(failure("planscope::grouped_mm", other_key, tiny::tiny_experts()) == "expert part 0 by 2: output 0");
}

TEST_CASE("an operator without a rule is listed") {
  Graph graph = tiny::tiny_graph(1);
  graph.ops[0].known = false;
  const AuditReport report = audit_rules(graph);
  REQUIRE(report.skipped.size() >= 1);
  CHECK(report.skipped[0].what == "has no rule: replicated");
}
