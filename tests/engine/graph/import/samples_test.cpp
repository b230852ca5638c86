// The sample models, imported.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/import.h"

using namespace planscope;

namespace {

Model open(const std::string& name) {
  Result<Model> model = import_model("sample_models/" + name + ".pt2");
  INFO(to_string(model.diagnostics));
  REQUIRE(model.value);
  CHECK(model.diagnostics.empty());
  return *model;
}

int count(const Model& model, const std::string& target) {
  return static_cast<int>(
      std::count_if(model.nodes.begin(), model.nodes.end(), [&](const Node& n) { return n.target == target; }));
}

const Value* find_value(const Model& model, const std::string& name) {
  auto value = std::find_if(model.values.begin(), model.values.end(), [&](const Value& v) { return v.name == name; });
  return value == model.values.end() ? nullptr : &*value;
}

std::int64_t parameters(const Model& model) {
  std::int64_t total = 0;
  for (const Value& value : model.values)
    if (value.kind == ValueKind::parameter) total += element_count(value.sizes);
  return total;
}

// What every imported model keeps.
void check_closed(const Model& model) {
  std::vector<bool> made(model.values.size(), false);
  for (std::size_t id = 0; id < made.size(); ++id) made[id] = model.values[id].kind != ValueKind::computed;
  std::map<std::string, int> names;
  for (const Node& node : model.nodes) {
    for_each_tensor(node, [&](ValueId id) { CHECK(made[static_cast<std::size_t>(id)]); });
    for (ValueId id : node.outputs) {
      CHECK_FALSE(made[static_cast<std::size_t>(id)]);
      made[static_cast<std::size_t>(id)] = true;
    }
    CHECK(node.target.find("_.") == std::string::npos);
    CHECK(++names[node.name()] == 1);
  }
  REQUIRE(model.loss >= 0);
  CHECK(model.values[static_cast<std::size_t>(model.loss)].sizes.empty());
}

}  // namespace

TEST_CASE("GPT-2") {
  Model model = open("gpt2_tiny");
  check_closed(model);
  const Value* head = find_value(model, "lm_head.weight");
  REQUIRE(head);
  CHECK(head->aliases == std::vector<std::string>{"transformer.wte.weight"});
  CHECK(find_value(model, "transformer.h.0.attn.c_attn.weight"));
  CHECK(count(model, "planscope::pick") == 1);
  CHECK(count(model, "planscope::opaque") == 0);
  CHECK(model.unused_parameters.empty());
  CHECK(std::all_of(model.weights.begin(), model.weights.end(), [](const Weight& w) { return w.bytes > 0; }));
}

TEST_CASE("Llama reads keys and values once a group") {
  Model model = open("llama_tiny");
  check_closed(model);
  CHECK(count(model, "planscope::attention") > 0);
  for (const Node& node : model.nodes)
    if (node.target == "planscope::attention") CHECK(int_argument(node, "groups").value() > 1);
  CHECK(count(model, "aten::index.Tensor") == 0);
  auto rotary = [](const Node& n) { return n.module == "model.rotary_emb"; };
  CHECK(std::any_of(model.nodes.begin(), model.nodes.end(), rotary));
  for (const Node& node : model.nodes)
    if (rotary(node)) CHECK(node.no_grad);
}

TEST_CASE("T5 has one embedding under all its names") {
  Model model = open("t5_tiny");
  check_closed(model);
  const Value* head = find_value(model, "lm_head.weight");
  REQUIRE(head);
  CHECK(head->aliases ==
        std::vector<std::string>{"decoder.embed_tokens.weight", "encoder.embed_tokens.weight", "shared.weight"});
}

TEST_CASE("Full-size models have no weights") {
  Model llama = open("llama3_8b");
  CHECK(parameters(llama) == 8'030'261'248);
  CHECK(read_weight(llama, llama.weights.front().value).has_errors());
  Model gpt2 = open("gpt2_1.5b");
  check_closed(gpt2);
  CHECK(parameters(gpt2) == 1'557'611'200);
  CHECK(find_value(gpt2, "lm_head.weight")->aliases == std::vector<std::string>{"transformer.wte.weight"});
}

TEST_CASE("Weights are read in row-major order") {
  Model model = open("gpt2_tiny");
  for (const Weight& weight : model.weights) {
    const Value& value = model.values[static_cast<std::size_t>(weight.value)];
    auto bytes = read_weight(model, weight.value);
    REQUIRE(bytes.ok());
    CHECK(static_cast<std::int64_t>(bytes->size()) == element_count(value.sizes) * byte_size(value.dtype));
    if (value.name != "transformer.ln_f.weight") continue;
    float first = 0;
    std::memcpy(&first, bytes->data(), sizeof first);
    CHECK(first == 1.0f);  // as it is initialized
  }
}
