#include <catch2/catch.hpp>
#include <set>

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
  const std::string file = GENERATE("experts", "index", "random", "products", "convolution", "windows", "recurrent",
                                    "losses", "misfit", "complex", "values", "norms");
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

namespace {

// The node by itself: what it reads is given, floating operands as trained parameters.
Model alone(const Model& model, const Node& node) {
  Model out = model;
  out.nodes = {node};
  out.loss = -1;
  out.outputs.clear();
  out.inputs.clear();
  out.mutations.clear();
  for (Value& v : out.values) {
    if (v.kind != ValueKind::computed) continue;
    v.kind = ValueKind::parameter;
    v.requires_grad = true;
  }
  for (const ValueId id : node.outputs)
    if (id >= 0) out.values[static_cast<std::size_t>(id)].kind = ValueKind::computed;
  return out;
}

// Other values of an argument's kind.
std::vector<Argument> others(const Argument& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return {!*flag};
  if (const auto* number = std::get_if<std::int64_t>(&value)) return {*number + 1};
  if (const auto* real = std::get_if<double>(&value)) return {*real + 0.25};
  if (std::holds_alternative<None>(value)) return {true, std::int64_t{1}, 0.5, DType::f64};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    std::vector<Argument> out;
    for (std::size_t i = 0; i < list->size(); ++i) {
      std::vector<std::int64_t> changed = *list;
      ++changed[i];
      out.emplace_back(changed);
    }
    return out;
  }
  return {};
}

}  // namespace

TEST_CASE("a rule with other argument values is right, or the operator is whole") {
  const std::string name = GENERATE("gpt2_tiny", "t5_tiny", "swin_tiny", "mixtral_tiny");
  const Result<Model> model = import_model("sample_models/" + name + ".pt2");
  REQUIRE(model.ok());
  std::set<std::string> targets;
  int tried = 0, whole = 0;
  for (const Node& node : model->nodes) {
    if (!targets.insert(node.target).second || node.random) continue;
    for (std::size_t a = 0; a < node.arguments.size(); ++a)
      for (const Argument& value : others(node.arguments[a].value)) {
        Node changed = node;
        changed.arguments[a].value = value;
        const Result<Graph> graph = make_graph(std::make_shared<const Model>(alone(*model, changed)));
        REQUIRE(graph.value);
        ++tried;
        if (!graph->ops[0].known && ++whole > 0) continue;
        for (const AuditFinding& f : audit_rules(*graph).failed) {
          INFO(node.target << " with another " << node.arguments[a].name << ": " << f.factor << ": " << f.what);
          CHECK(f.error == 0);  // what does not run is no rule's fault
        }
      }
  }
  CHECK(tried > 30);
  CHECK(whole > 0);
}

TEST_CASE("what backward reads and a rule does not say is found") {
  CHECK(failure("aten::relu", [](Op& op) { op.saves.clear(); }).find("saves: gradient of self") == 0);
  CHECK(failure("planscope::lse", [](Op& op) { op.saves = {0}; }).find("saves: gradient of self") == 0);
}

TEST_CASE("each factor is cut in three ways, and two factors at once") {
  const Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
      "parameter %0 x: float32[6,4]\nparameter %1 w: float32[4,5]\n"
      ":mm#0 %2: float32[6,5] = aten::mm(self=%0, mat2=%1)\noutput %2\n")));
  REQUIRE(graph.value);
  const AuditReport report = audit_rules(*graph);
  CHECK(text(report.failed) == "");
  CHECK(report.tested == 3 * 3 + 3 + 2 + 1);  // factors, pairs of them, linear sets, what backward reads
}

namespace {

// Attention whose mask shows keys up to `diagonal` behind their query.
Graph masked_attention(const std::string& condition) {
  Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
      "parameter %0 q: float32[2,4,8,6]\n"
      ":arange#0 %1: int64[8] = aten::arange(end=8, dtype=int64, layout=none, device=none, pin_memory=none)\n"
      ":view#0 %2: int64[8,1] = aten::view(self=%1, size=[8, 1])\n"
      ":add#0 %3: int64[8,1] = aten::add.Scalar(self=%2, other=0, alpha=1)\n"
      ":le#0 %4: bool[8,8] = " + condition + "\n"
      ":attention#0 %5: float32[2,4,8,6], %6: float32[2,4,8] = planscope::attention(query=%0, key=%0, value=%0, "
      "attn_mask=%4, scale=0.4, is_causal=false, groups=1)\n"
      "output %5\n")));
  REQUIRE(graph.value);
  return *graph;
}

}  // namespace

TEST_CASE("a mask that is taken for causal is computed") {
  Graph causal = masked_attention("aten::le.Tensor(self=%1, other=%2)");
  CHECK(text(audit_rules(causal).failed) == "");
  Graph other = masked_attention("aten::ge.Tensor(self=%1, other=%2)");
  for (Factor& f : other.ops.back().factors)
    if (f.kind == FactorKind::softmax)
      for (int k = 0; k < static_cast<int>(other.ops.back().factors.size()); ++k)
        if (other.ops.back().factors[static_cast<std::size_t>(k)].name == "queries") f.until = k;
  CHECK(text(audit_rules(other).failed).find("shows keys behind their query") != std::string::npos);
}

TEST_CASE("numbers that are none, and operands without a derivative, are no false alarms") {
  const auto failed = [](const std::string& model) {
    const Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(model)));
    REQUIRE(graph.value);
    return text(audit_rules(*graph).failed);
  };
  CHECK(failed("input %0 x: int64[6,4]\ninput %1 y: int64[6,4]\n"
               ":div#0 %2: float32[6,4] = aten::div.Tensor(self=%0, other=%1)\noutput %2\n") == "");
  CHECK(failed("parameter %0 x: float32[6,4]\nparameter %1 y: float32[6,4]\nparameter %2 w: float32[6,4]\n"
               ":binary_cross_entropy#0 %3: float32[6,4] = aten::binary_cross_entropy(self=%0, target=%1, weight=%2, "
               "reduction=0)\noutput %3\n") == "");
}
