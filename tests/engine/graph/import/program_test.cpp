// What the reader makes of regions, sub-graphs, sizes that depend on data and absent results.
#include <catch2/catch.hpp>
#include <functional>

#include "engine/graph/canonical/canonical.h"
#include "engine/graph/functional/purify.h"
#include "engine/graph/print.h"
#include "engine/graph/pt2/graph_reader.h"
#include "engine/graph/pt2/names.h"
#include "tests/engine/graph/import/program_text.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

std::string read(const ProgramText& program, const std::vector<std::string>& results) {
  Result<RawModel> raw = read_program(program.program(results), "x.pt2");
  if (!raw.ok()) return to_string(raw.diagnostics);
  for (Node& node : raw->model.nodes) node.call = -1;
  number_nodes(raw->model);
  std::string text;
  for (const Node& node : raw->model.nodes) text += print(raw->model, node) + "\n";
  return to_string(raw.diagnostics) + text;
}

// A region of autocast around what `fill` writes; operands x and y.
std::string under_autocast(const std::string& device, const std::string& on, int type_of_y, const std::string& operands_on,
                           const std::function<std::vector<std::string>(GraphText&)>& fill) {
  GraphText region;
  region.input("a", f32, "4,4", operands_on);
  region.input("b", type_of_y, "4,4", operands_on);
  const std::vector<std::string> made = fill(region);
  ProgramText program;
  program.input("x", f32, "4,4", operands_on);
  program.input("y", type_of_y, "4,4", operands_on);
  program.node("torch.ops.higher_order.wrap_with_autocast",
               {{"", "{\"as_string\": \"" + device + "\"}"},
                {"", "{\"as_scalar_type\": 13}"},
                {"", "{\"as_bool\": " + on + "}"},
                {"", "{\"as_bool\": false}"},
                {"", GraphText::graph("region", region.text(made))},
                {"", GraphText::tensor("x")},
                {"", GraphText::tensor("y")}},
               {program.result("z", f32, "4,4", operands_on)});
  return read(program, {"z"});
}

std::vector<std::string> product(GraphText& g) {
  g.node("torch.ops.aten.mm.default", {{"self", g.tensor("a")}, {"mat2", g.tensor("b")}}, {g.result("c", bf16, "4,4")});
  return {"c"};
}

const std::string rest = ", non_blocking=false, copy=false, memory_format=none)\n";

}  // namespace

TEST_CASE("a product under autocast has operands of the low type") {
  CHECK(under_autocast("cpu", "true", f32, "cpu", product) ==
        ":to#0 %2: bfloat16[4,4] = aten::to.dtype(self=%0, dtype=bfloat16" + rest +
            ":to#1 %3: bfloat16[4,4] = aten::to.dtype(self=%1, dtype=bfloat16" + rest +
            ":mm#0 %4: bfloat16[4,4] = aten::mm(self=%2, mat2=%3)\n");
  CHECK(under_autocast("cpu", "true", bf16, "cpu", product) ==
        ":to#0 %2: bfloat16[4,4] = aten::to.dtype(self=%0, dtype=bfloat16" + rest +
            ":mm#0 %3: bfloat16[4,4] = aten::mm(self=%2, mat2=%1)\n");
}

TEST_CASE("a region that is switched off, or of another device, casts nothing") {
  const std::string plain = ":mm#0 %2: bfloat16[4,4] = aten::mm(self=%0, mat2=%1)\n";
  CHECK(under_autocast("cpu", "false", f32, "cpu", product) == plain);
  CHECK(under_autocast("cuda", "true", f32, "cpu", product) == plain);
  CHECK(under_autocast("cpu", "true", f64, "cuda", product) == plain);
}

TEST_CASE("losses under autocast are computed in float32, joins in the widest type") {
  const auto joined = [](GraphText& g) -> std::vector<std::string> {
    g.node("torch.ops.aten.cat.default", {{"tensors", g.tensors({"a", "b"})}}, {g.result("c", f32, "8,4")});
    return {"c"};
  };
  const auto loss = [](GraphText& g) -> std::vector<std::string> {
    g.node("torch.ops.aten.mse_loss.default", {{"self", g.tensor("a")}, {"target", g.tensor("b")}},
           {g.result("c", f32, "")});
    return {"c"};
  };
  CHECK(under_autocast("cpu", "true", bf16, "cpu", joined) ==
        ":to#0 %2: float32[4,4] = aten::to.dtype(self=%1, dtype=float32" + rest +
            ":cat#0 %3: float32[8,4] = aten::cat(tensors=[%0, %2], dim=0)\n");
  CHECK(under_autocast("cpu", "true", bf16, "cpu", loss) ==
        ":to#0 %2: float32[4,4] = aten::to.dtype(self=%1, dtype=float32" + rest +
            ":mse_loss#0 %3: float32[] = aten::mse_loss(self=%0, target=%2, reduction=1)\n");
}

TEST_CASE("float64 stays as it is under autocast") {
  CHECK(under_autocast("cpu", "true", f64, "cpu", product) ==
        ":to#0 %2: bfloat16[4,4] = aten::to.dtype(self=%0, dtype=bfloat16" + rest +
            ":mm#0 %3: bfloat16[4,4] = aten::mm(self=%2, mat2=%1)\n");
}

TEST_CASE("a checkpointed region is read in place") {
  GraphText region;
  region.input("a", f32, "4");
  region.node("torch.ops.aten.relu.default", {{"self", region.tensor("a")}}, {region.result("b", f32, "4")});
  ProgramText program;
  program.input("x", f32, "4");
  program.node("torch.ops.higher_order.tag_activation_checkpoint",
               {{"", GraphText::graph("region", region.text({"b"}))}, {"", program.tensor("x")}},
               {program.result("y", f32, "4")});
  CHECK(read(program, {"y"}) == ":relu#0 %1: float32[4] = aten::relu(self=%0)\n");
}

TEST_CASE("branches and loops keep their sub-graphs") {
  const auto branch = [](const std::string& target) {
    GraphText g;
    g.input("a", f32, "4");
    g.node("torch.ops.aten." + target + ".default", {{"self", g.tensor("a")}}, {g.result("b", f32, "4")});
    return GraphText::graph("branch", g.text({"b"}));
  };
  ProgramText program;
  program.input("p", boolean, "");
  program.input("x", f32, "4");
  program.node("torch.ops.higher_order.cond",
               {{"", program.tensor("p")},
                {"", branch("relu")},
                {"", branch("bernoulli")},
                {"", program.tensors({"x"})}},
               {program.result("y", f32, "4")});
  CHECK(read(program, {"y"}) == ":cond#0 %2: float32[4] = planscope::cond(predicate=%0, operands=[%1]) random\n");
  Result<RawModel> raw = read_program(program.program({"y"}), "x.pt2");
  REQUIRE(raw.value);
  REQUIRE(raw->bodies.size() == 1);
  const std::vector<RawModel>& bodies = raw->bodies.at(0);
  REQUIRE(bodies.size() == 2);
  CHECK(bodies[0].model.nodes.at(0).target == "aten::relu");
  CHECK(bodies[1].model.nodes.at(0).target == "aten::bernoulli");
  CHECK(bodies[1].model.inputs == std::vector<ValueId>{0});
  CHECK(bodies[1].model.outputs == std::vector<ValueId>{1});
}

TEST_CASE("a sub-graph with other operands than its call is no branch") {
  GraphText two;
  two.input("a", f32, "4");
  two.input("b", f32, "4");
  ProgramText program;
  program.input("p", boolean, "");
  program.input("x", f32, "4");
  program.node("torch.ops.higher_order.cond",
               {{"", program.tensor("p")},
                {"", GraphText::graph("one", two.text({"a"}))},
                {"", GraphText::graph("two", two.text({"b"}))},
                {"", program.tensors({"x"})}},
               {program.result("y", f32, "4")});
  const std::string text = read(program, {"y"});
  CHECK(text.find("planscope::opaque") != std::string::npos);
  CHECK(text.find("a sub-graph has other operands than its call") != std::string::npos);
}

namespace {

// Rows of x where the mask is set, and their sum with what `size` says.
std::string picked(const std::string& most, const std::string& size) {
  ProgramText program;
  program.input("x", f32, "4,8,16");
  program.input("mask", boolean, "4,8");
  if (!most.empty()) program.range("u0", most);
  program.node("torch.ops.aten.index.Tensor", {{"self", program.tensor("x")}, {"indices", program.tensors({"mask"})}},
               {program.result("rows", f32, "u0,16")});
  program.node("torch.ops.aten.view.default",
               {{"self", program.tensor("rows")}, {"size", R"({"as_ints": [-1]})"}},
               {program.result("flat", f32, size)});
  Result<RawModel> raw = read_program(program.program({"flat"}), "x.pt2");
  if (!raw.ok()) return to_string(raw.diagnostics);
  Model& model = raw->model;
  model.nodes.at(1).call = -1;
  return print(model, model.nodes.at(1)) + (model.values.back().bounded.empty() ? "" : " bounded");
}

}  // namespace

TEST_CASE("a size that depends on data is as large as can be") {
  const std::string flat = "Mul(Integer(16), Symbol('u0', integer=True))";
  CHECK(picked("32", flat) == ":view#0 %3: float32[512] = aten::view(self=%2, size=[-1]) bounded");
  CHECK(picked("9223372036854775806", flat) == ":view#0 %3: float32[512] = aten::view(self=%2, size=[-1]) bounded");
  CHECK(picked("512", flat) == picked("", flat));  // a mask has no more than its elements
}

TEST_CASE("a size without any bound is told") {
  ProgramText program;
  program.input("x", f32, "4");
  program.node("torch.ops.aten.repeat_interleave.Tensor", {{"repeats", program.tensor("x")}},
               {program.result("y", f32, "u0")});
  CHECK(read(program, {"y"}) ==
        "x.pt2: a size depends on data and has no upper bound; the sizes of \"y\" have Symbol('u0', integer=True); say how "
        "large it can be (torch._check(n <= 1024)) in the model, and export it again\n");
}

TEST_CASE("a number that depends on data is told") {
  ProgramText program;
  program.input("x", f32, "8");
  program.range("u0", "8");
  program.node("torch.ops.aten.slice.Tensor",
               {{"self", program.tensor("x")},
                {"dim", R"({"as_int": 0})"},
                {"start", R"({"as_int": 0})"},
                {"end", R"x({"as_sym_int": {"as_expr": {"expr_str": "Symbol('u0', integer=True)", "hint": null}}})x"}},
               {program.result("y", f32, "u0")});
  Result<RawModel> raw = read_program(program.program({"y"}), "x.pt2");
  REQUIRE(raw.value);
  CHECK(raw->model.data_numbers == std::vector<std::string>{"aten::slice.Tensor"});
}

TEST_CASE("what torch.vmap maps is told, once") {
  ProgramText program;
  program.input("x", f32, "4,16");
  program.input("y", f32, "4,16");
  const auto mapped = [&](const std::string& from, const std::string& to) {
    program.node("torch._functorch.predispatch._add_batch_dim",
                 {{"self", GraphText::tensor(from)}, {"batch_dim", "{\"as_int\": 0}"}, {"level", "{\"as_int\": 1}"}},
                 {program.result(to, f32, "16")});
  };
  mapped("x", "a");
  mapped("y", "b");
  program.node("torch.ops.aten.relu.default", {{"self", GraphText::tensor("a")}}, {program.result("c", f32, "16")});
  const std::string text = read(program, {"b", "c"});
  const std::size_t told = text.find("warning: torch.vmap: the file has what torch.vmap maps as it is for one element");
  REQUIRE(told != std::string::npos);
  CHECK(text.find("warning", told + 1) == std::string::npos);
  CHECK(text.find("run_decompositions({})") != std::string::npos);
}

TEST_CASE("absent results have values without elements") {
  ProgramText program;
  program.input("x", f32, "4");
  program.node("torch.ops.own.two.default", {{"x", program.tensor("x")}},
               {program.result("y", f32, "4"), R"({"as_optional_tensor": {"as_none": true}})", R"({"as_int": 3})",
                program.result("z", f32, "2")});
  CHECK(read(program, {"y", "z"}) ==
        ":two#0 %1: float32[4], %2: other[0], %3: other[0], %4: float32[2] = own::two(x=%0)\n");
}
