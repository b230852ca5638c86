// FLOPs of products, each as torch.utils.flop_counter of torch 2.13 counts the same operator.
#include <catch2/catch.hpp>

#include "engine/graph/graph.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

double flops(const std::string& text) {
  const Result<Graph> g = make_graph(std::make_shared<const Model>(testing::read_model_text(text)));
  REQUIRE(g.value);
  double sum = 0;
  for (const Op& op : g->ops) sum += op.flops;
  return sum;
}

double convolved(const std::string& weight, const std::string& output, const std::string& call) {
  return flops("input %0 x: float32[2,4,9,7]\nparameter %1 w: float32" + weight + "\n:conv#0 %2: float32" + output +
               " = aten::" + call + "\noutput %2\n");
}

double multiplied(const std::vector<std::string>& operands, const std::string& output, const std::string& equation) {
  std::string text, list;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    text += "input %" + std::to_string(i) + " x" + std::to_string(i) + ": float32" + operands[i] + "\n";
    list += (i ? ", %" : "%") + std::to_string(i);
  }
  const std::string result = "%" + std::to_string(operands.size());
  return flops(text + ":einsum#0 " + result + ": float32" + output + " = aten::einsum(equation=\"" + equation +
               "\", tensors=[" + list + "], path=none)\noutput " + result + "\n");
}

double recurrent(const std::string& name, const std::vector<std::string>& parameters, bool both) {
  std::string text = "input %0 x: float32[3,5,6]\ninput %1 h: float32[2,3,10]\n", list;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += "parameter %" + std::to_string(i + 2) + " p" + std::to_string(i) + ": float32" + parameters[i] + "\n";
    list += (i ? ", %" : "%") + std::to_string(i + 2);
  }
  const std::string result = "%" + std::to_string(parameters.size() + 2);
  return flops(text + ":rnn#0 " + result + ": float32[3,5," + (both ? "20" : "10") + "], %" +
               std::to_string(parameters.size() + 3) + ": float32[2,3,10] = aten::" + name +
               ".input(input=%0, hx=%1, params=[" + list + "], has_biases=false, num_layers=2, dropout=0., train=true, " +
               "bidirectional=" + (both ? "true" : "false") + ", batch_first=true)\noutput " + result + "\n");
}

}  // namespace

TEST_CASE("a convolution costs what its windows cover") {
  CHECK(convolved("[8,4,3,3]", "[2,8,5,4]",
                  "conv2d(input=%0, weight=%1, bias=none, stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=1)") ==
        23040);
  CHECK(convolved("[8,2,3,3]", "[2,8,5,4]",
                  "conv2d(input=%0, weight=%1, bias=none, stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=2)") ==
        11520);
  CHECK(convolved("[4,1,3,3]", "[2,4,7,5]",
                  "conv2d(input=%0, weight=%1, bias=none, stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=4)") ==
        5040);
  CHECK(convolved("[4,6,3,3]", "[2,6,19,15]",
                  "conv_transpose2d.input(input=%0, weight=%1, bias=none, stride=[2, 2], padding=[0, 0], "
                  "output_padding=[0, 0], groups=1, dilation=[1, 1])") == 54432);
  CHECK(convolved("[4,3,3,3]", "[2,6,19,15]",
                  "conv_transpose2d.input(input=%0, weight=%1, bias=none, stride=[2, 2], padding=[0, 0], "
                  "output_padding=[0, 0], groups=2, dilation=[1, 1])") == 27216);
}

TEST_CASE("the first convolution of ResNet-50 costs 0.24 billion multiplications a picture of two") {
  const double f = flops(
      "input %0 x: float32[2,3,224,224]\nparameter %1 w: float32[64,3,7,7]\n:conv2d#0 %2: float32[2,64,112,112] = "
      "aten::conv2d(input=%0, weight=%1, bias=none, stride=[2, 2], padding=[3, 3], dilation=[1, 1], "
      "groups=1)\noutput %2\n");
  CHECK(f == 2.0 * 2 * 112 * 112 * 64 * 3 * 7 * 7);
  CHECK(f == 472055808);
}

TEST_CASE("an equation of several operands costs its products, two operands after the other") {
  CHECK(multiplied({"[3,5,7]", "[7,11]"}, "[3,5,11]", "bij,jk->bik") == 2310);
  CHECK(multiplied({"[2,3,4]", "[2,3,5]"}, "[2,4,5]", "bij,bik->bjk") == 240);
  CHECK(multiplied({"[2,3,4]", "[4,5]"}, "[2,3,5]", "...j,jk->...k") == 240);
}

TEST_CASE("a recurrent net costs its gates at every step") {
  CHECK(recurrent("gru", {"[30,6]", "[30,10]", "[30,10]", "[30,10]"}, false) == 32400);
  CHECK(recurrent("rnn_tanh", {"[10,6]", "[10,10]", "[10,10]", "[10,10]"}, false) == 10800);
  CHECK(recurrent("gru",
                  {"[30,6]", "[30,10]", "[30,6]", "[30,10]", "[30,20]", "[30,10]", "[30,20]", "[30,10]"},
                  true) == 82800);
}
