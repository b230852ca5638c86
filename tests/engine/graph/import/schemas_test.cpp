#include <catch2/catch.hpp>

#include "engine/graph/canonical/canonical.h"
#include "engine/graph/print.h"
#include "engine/graph/pt2/json.h"
#include "engine/graph/pt2/names.h"
#include "engine/graph/schemas.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

TEST_CASE("Schemas have names, types, defaults and what is written") {
  auto add = find_schema("aten::add_.Tensor");
  REQUIRE(add);
  REQUIRE(add->arguments.size() == 3);
  CHECK(add->arguments[0].name == "self");
  CHECK(add->arguments[0].written);
  CHECK(add->arguments[2].type == TypeKind::scalar);
  CHECK(to_string(*add->arguments[2].initial) == "1");

  auto split = find_schema("aten::split.Tensor");
  REQUIRE(split);
  CHECK(split->view);
  CHECK(split->output_list);
  CHECK_FALSE(split->arguments[0].written);

  auto conv = find_schema("aten::conv2d");
  REQUIRE(conv);
  CHECK(to_string(*conv->arguments[3].initial) == "[1, 1]");
  CHECK(to_string(*find_schema("aten::pad")->arguments[2].initial) == "\"constant\"");
  CHECK(to_string(*find_schema("aten::randperm")->arguments[1].initial) == "int64");
  CHECK(find_schema("aten::batch_norm")->arguments.size() == 9);
  CHECK(find_schema("aten::native_layer_norm")->outputs == 3);
  CHECK_FALSE(find_schema("aten::no_such_operator"));
}

TEST_CASE("A node that a pass has made is checked against the schema of its operator") {
  const auto told = [](const std::string& node) {
    const Model m = testing::read_model_text("input %0 x: float32[4]\n:f#0 %1: float32[4] = " + node + "\noutput %1\n");
    const std::vector<Diagnostic> all = check_arguments(m);
    return all.empty() ? "" : all[0].why;
  };
  CHECK(told("aten::add.Tensor(self=%0, other=%0, alpha=1)") == "");
  CHECK(told("aten::add.Tensor(self=%0, other=%0)") == "");
  CHECK(told("aten::pow.Scalar(self=%0, exponent=2)") == "aten::pow.Scalar: argument \"self\" is of another type");
  CHECK(told("aten::add.Tensor(self=%0, other=2)") == "aten::add.Tensor: argument \"other\" is of another type");
  CHECK(told("aten::add.Tensor(self=%0, alpha=1)") == "aten::add.Tensor: argument \"other\" is left out");
  CHECK(told("aten::add.Tensor(self=%0)") == "aten::add.Tensor: argument \"other\" is left out");
  CHECK(told("aten::relu(self=%0, by=1)") == "aten::relu: it has no argument \"by\"");
}

TEST_CASE("Module paths and their calls") {
  ModuleCall call = innermost_module(
      "L__self__,,__main__.W;L__self__model.h.0,model.h.0,a.b.Block;L__self__model.h.0.drop@2,model.h.0.drop,torch.nn."
      "Dropout");
  CHECK(call.path == "model.h.0.drop");
  CHECK(call.type == "Dropout");
  CHECK(call.call == 2);
  CHECK(innermost_module("k,L['self']._modules['h']._modules['0'],x.Y").path == "h.0");
  CHECK(innermost_module("").path.empty());
  CHECK(innermost_module("no commas").type.empty());
}

TEST_CASE("Operator names and source lines") {
  CHECK(operator_name("torch.ops.aten.linear.default") == "aten::linear");
  CHECK(operator_name("torch.ops.aten.add.Tensor") == "aten::add.Tensor");
  CHECK(operator_name("_operator.add") == "_operator.add");
  CHECK(short_name("aten::masked_fill_.Scalar") == "masked_fill");
  CHECK(short_name("aten::__and__.Tensor") == "__and__");
  CHECK(source_line(
            "  File \"/a/b/model.py\", line 12, in forward\n    x = 1\n  File \"/a/c/attn.py\", line 7, in f\n") ==
        "attn.py:7");
  CHECK(source_line("no frames").empty());
  const std::string model = "  File \"/a/b/model.py\", line 12, in forward\n    x = self.up(x)\n";
  const std::string torch = "  File \"/a/lib/site-packages/torch/nn/modules/linear.py\", line 134, in forward\n    return F.linear(x)\n";
  CHECK(source_line(model + torch) == "model.py:12");
  CHECK(source_line(model + torch + torch) == "model.py:12");
  CHECK(source_line(torch) == "linear.py:134");
  CHECK(source_line("File \"/a/b.py\", line 3\nFile \"cut") == "b.py:3");
}

TEST_CASE("Call numbers, and modules as scripts write them") {
  auto node = [](std::string module, int call) {
    Node n;
    n.module = std::move(module);
    n.call = call;
    return n;
  };
  Model model;
  model.nodes = {node("net.a-b", 0), node("net.b", 0), node("net.b", 1), node("", 0), node("e", 0)};
  tidy_names(model);
  CHECK(model.nodes[0].module == "net.'a-b'");
  CHECK(model.nodes[0].call == -1);
  CHECK(model.nodes[1].call == 0);
  CHECK(model.nodes[2].call == 1);
  CHECK(model.nodes[3].module.empty());
  CHECK(model.nodes[4].module == "e");  // the only one of its depth keeps its name
}

TEST_CASE("JSON with bare non-finite numbers") {
  auto document = JsonDocument::parse(R"({"a": [NaN, -Infinity, "Infinity", 1], "b": "say \"NaN\""})");
  REQUIRE(document.ok());
  auto numbers = document->root()["a"].elements();
  REQUIRE(numbers.size() == 4);
  CHECK(numbers[0].number() != numbers[0].number());
  CHECK(*numbers[1].number() < 0);
  CHECK(*numbers[2].number() > 1e300);
  CHECK(document->root()["b"].text() == "say \"NaN\"");
  CHECK(document->root()["c"]["d"].missing());
  CHECK_FALSE(JsonDocument::parse("{").ok());
}
