// What counts as equal to the one-device run: float64 decides, and the model's types may differ by what they round away.
#include "engine/runtime/comparison.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

constexpr TensorId kMatrix = 0, kBias = 1;

Graph graph_of(const char* type, const char* activation = "neg") {
  const std::string t(type);
  const Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
      "parameter %0 matrix: " + t + "[2,2]\nparameter %1 bias: " + t + "[1]\n:add#0 %2: " + t +
      "[2,2] = aten::add.Tensor(self=%0, other=%1, alpha=1)\n:sum#0 %3: " + t +
      "[] = aten::sum.dim_IntList(self=%2, dim=[0, 1], keepdim=false, dtype=none)\n:" + activation + "#0 %4: " + t + "[] = aten::" + activation + "(self=%3)\nloss %4\n")));
  REQUIRE(graph.value);
  return *graph;
}

struct Gradients {
  double matrix = 0, bias = 0, loss = 1;
};

ReferenceRun run_of(const Gradients& g, at::ScalarType type) {
  ReferenceRun run;
  run.losses = {g.loss};
  run.gradients[kMatrix] = at::full({2, 2}, g.matrix, type);
  run.gradients[kBias] = at::full({1}, g.bias, type);
  return run;
}

// The comparison of `held` with the one-device runs in the given precision.
TrialError compared(const Gradients& exact, const Gradients& in_model, const Gradients& held, Precision precision,
                    const char* type = "float32") {
  const Graph graph = graph_of(type);
  const at::ScalarType own = scalar_type(graph.model->values[0].dtype, precision);
  const std::string path = std::filesystem::temp_directory_path() / ("comparison" + std::to_string(::getpid()));
  const ReferenceRun first = run_of(exact, at::kDouble), second = run_of(in_model, scalar_type(graph.model->values[0].dtype));
  REQUIRE(write_reference(path, {{Precision::float64, &first}, {Precision::model, &second}}).empty());
  const Result<ReferenceFile> file = ReferenceFile::open(path);
  std::filesystem::remove(path);
  REQUIRE(file.ok());
  Comparison comparison(graph, *file, precision);
  comparison.loss(0, held.loss);
  std::vector<ParameterBlock> blocks(2);
  blocks[0].tensor = kMatrix, blocks[0].first_gradient = at::full({2, 2}, held.matrix, own);
  blocks[1].tensor = kBias, blocks[1].first_gradient = at::full({1}, held.bias, own);
  for (ParameterBlock& b : blocks) b.region = whole_region(graph, b.tensor);
  comparison.gradients(blocks);
  CHECK(comparison.compared() == 3);
  return comparison.worst();
}

// Whether `held` is equal to the one-device runs.
bool equal(const Gradients& exact, const Gradients& in_model, const Gradients& held, Precision precision,
           const char* type = "float32") {
  const TrialError worst = compared(exact, in_model, held, precision, type);
  return worst.error <= worst.allowed;
}

// Where the one-device run, and the trial with it, holds no number.
std::string not_finite(const Gradients& both) { return compared(both, both, both, Precision::float64).not_finite; }

constexpr Precision kExact = Precision::float64, kModel = Precision::model;

}  // namespace

TEST_CASE("a gradient that is truly zero is rounding in any types") {
  const Gradients exact{0.5, 3e-18}, rounded{0.5, 2e-9};
  CHECK(equal(exact, rounded, {0.5, -1e-18}, kExact));
  CHECK(equal(exact, rounded, {0.5, -3e-9}, kModel));
  CHECK(equal(exact, {0.5, 0}, {0.5, 3e-9}, kModel));  // in one order the terms cancel
  CHECK_FALSE(equal(exact, rounded, {0.5, 1e-3}, kModel));
  CHECK_FALSE(equal(exact, rounded, {0.5, 1e-12}, kExact));
}

TEST_CASE("where every gradient is zero, the loss says what rounding is") {
  CHECK(equal({1e-17, 2e-17}, {1e-9, 0}, {-1e-17, 1e-17}, kExact));
  CHECK(equal({1e-17, 2e-17}, {1e-9, 0}, {0, 4e-8}, kModel));
  CHECK_FALSE(equal({1e-17, 2e-17}, {1e-9, 0}, {0, 1e-11}, kExact));
  CHECK_FALSE(equal({1e-17, 2e-17}, {1e-9, 0}, {0, 1e-3}, kModel));
}

TEST_CASE("what float64 shows to be rounding may be off in the model's types") {
  const Gradients exact{0.5, 0.25, 2}, rounded{0.501, 0.25, 2.001};
  CHECK(equal(exact, rounded, {0.503, 0.25, 2.002}, kModel));
  CHECK_FALSE(equal(exact, rounded, {0.6, 0.25, 2}, kModel));     // far beyond it
  CHECK_FALSE(equal(exact, rounded, {0.5, 0.2503, 2}, kModel));   // another class, which is exact
  CHECK_FALSE(equal(exact, rounded, {0.501, 0.25, 2.1}, kModel));
}

TEST_CASE("a real fault is always told") {
  const Gradients exact{0.5, 0.25, 2}, rounded{0.9, 0.9, 5};  // types that can say nothing
  CHECK_FALSE(equal(exact, rounded, {0.5 * (1 + 1e-3), 0.25, 2}, kExact));
  CHECK_FALSE(equal(exact, rounded, {0.5, 0.25 * (1 + 1e-8), 2}, kExact));
  CHECK_FALSE(equal(exact, rounded, {0.5, 0.25, 2 * (1 + 1e-3)}, kExact));
  CHECK_FALSE(equal(exact, exact, {0.5 * (1 + 1e-3), 0.25, 2}, kModel));
  CHECK_FALSE(equal(exact, exact, {std::nan(""), 0.25, 2}, kModel));
}

TEST_CASE("where the one-device run holds no number, it is reported that nothing can be compared") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  CHECK(not_finite({0.5, 0.25, 2}).empty());
  CHECK(not_finite({0.5, 0.25, nan}) == "loss");
  CHECK(not_finite({0.5, infinite, 2}) == "bias");
  CHECK(not_finite({nan, 0.25, infinite}) == "loss");
}

TEST_CASE("gradients of complex parameters are compared by absolute value") {
  const Gradients exact{0.5, 0.25};
  CHECK(equal(exact, exact, {0.5, 0.25}, kExact, "complex64"));
  CHECK_FALSE(equal(exact, exact, {0.5, -0.25}, kExact, "complex64"));
}

TEST_CASE("a loss may be off by what its rounding was measured to be, and by no more") {
  const Graph graph = graph_of("float64");
  const std::string path = std::filesystem::temp_directory_path() / ("comparison" + std::to_string(::getpid()));
  ReferenceRun run = run_of({0.5, 0.25, 1}, at::kDouble);
  run.losses = {1, 1, 1};
  run.rounding = {0, 1e-8};
  REQUIRE(write_reference(path, {{Precision::float64, &run}}).empty());
  const Result<ReferenceFile> file = ReferenceFile::open(path);
  std::filesystem::remove(path);
  REQUIRE(file.ok());
  const auto equal = [&](int step, double loss) {
    Comparison comparison(graph, *file, Precision::float64);
    comparison.loss(step, loss);
    return comparison.worst().error <= comparison.worst().allowed;
  };
  CHECK(equal(1, 1 + 5e-8));
  CHECK_FALSE(equal(1, 1 + 1e-6));
  CHECK_FALSE(equal(0, 1 + 5e-8));  // before the first update
  CHECK_FALSE(equal(2, 1 + 5e-8));  // not measured
}

TEST_CASE("a gradient that is what rounding leaves of zero is seen, and one that is exactly zero is none") {
  CHECK(has_rounding(run_of({0.5, 3e-18}, at::kDouble)));
  CHECK_FALSE(has_rounding(run_of({0.5, 0}, at::kDouble)));
  CHECK_FALSE(has_rounding(run_of({0.5, 1e-9}, at::kDouble)));
}

TEST_CASE("rounding is a small part of a loss that is well conditioned") {
  // 1, whatever the parameters are.
  const Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
      "parameter %0 w: float64[8]\n"
      ":mean#0 %1: float64[1] = aten::mean.dim(self=%0, dim=[0], keepdim=true, dtype=none)\n"
      ":sub#0 %2: float64[8] = aten::sub.Tensor(self=%0, other=%1, alpha=1)\n"
      ":mul#0 %3: float64[8] = aten::mul.Tensor(self=%2, other=%2)\n"
      ":mean#1 %4: float64[1] = aten::mean.dim(self=%3, dim=[0], keepdim=true, dtype=none)\n"
      ":div#0 %5: float64[8] = aten::div.Tensor(self=%3, other=%4)\n"
      ":mean#2 %6: float64[] = aten::mean.dim(self=%5, dim=[0], keepdim=false, dtype=none)\nloss %6\n")));
  REQUIRE(graph.value);
  const auto rounding = [&](OptimizerKind kind) {
    constexpr int steps = 6;
    TensorSource source(*graph, 1, Precision::float64);
    const ShardOptions options{Precision::float64, 1};
    const OptimizerSettings optimizer = default_settings(kind);
    const ReferenceRun run = run_reference(*graph, source, options, optimizer, steps);
    TensorSource again(*graph, 1, Precision::float64);
    const std::vector<double> out = loss_rounding(*graph, again, options, optimizer, run);
    REQUIRE(out.size() == steps);
    CHECK(std::is_sorted(out.begin(), out.end()));
    return out;
  };
  CHECK(rounding(OptimizerKind::sgd).back() < 1e-12);
  CHECK(rounding(OptimizerKind::adamw).front() < 1e-12);
}

TEST_CASE("AdamW makes more of rounding where a gradient is zero, and of nothing else") {
  const Graph graph = graph_of("float64");
  const std::string path = std::filesystem::temp_directory_path() / ("comparison" + std::to_string(::getpid()));
  ReferenceRun run = run_of({0.5, 0, 1}, at::kDouble);
  run.parameters[kMatrix] = at::full({2, 2}, 1.0, at::kDouble);
  run.parameters[kBias] = at::full({1}, 1.0, at::kDouble);
  REQUIRE(write_reference(path, {{Precision::float64, &run}, {Precision::model, &run}}).empty());
  const Result<ReferenceFile> file = ReferenceFile::open(path);
  std::filesystem::remove(path);
  REQUIRE(file.ok());
  const auto equal = [&](double matrix, double bias, OptimizerKind kind, int steps) {
    std::vector<ParameterBlock> blocks(2);
    blocks[0].tensor = kMatrix, blocks[0].first_gradient = at::full({2, 2}, 0.5 + 1e-15, at::kDouble);
    blocks[1].tensor = kBias, blocks[1].first_gradient = at::full({1}, 1e-14, at::kDouble);
    blocks[0].value = at::full({2, 2}, matrix, at::kDouble), blocks[1].value = at::full({1}, bias, at::kDouble);
    for (ParameterBlock& b : blocks) b.region = whole_region(graph, b.tensor);
    Comparison comparison(graph, *file, Precision::float64);
    comparison.parameters(blocks, default_settings(kind), steps);
    return comparison.worst().error <= comparison.worst().allowed;
  };
  CHECK(equal(1, 1 + 6e-9, OptimizerKind::adamw, 1));
  CHECK_FALSE(equal(1, 1 + 6e-9, OptimizerKind::sgd, 1));
  CHECK_FALSE(equal(1 + 6e-9, 1, OptimizerKind::adamw, 1));
  CHECK_FALSE(equal(1, 1 + 1e-6, OptimizerKind::adamw, 1));
  // What the parameter is off by after a step is the next gradient, which is divided by its own size again.
  CHECK(equal(1, 1 + 1e-4, OptimizerKind::adamw, 3));
  CHECK_FALSE(equal(1, 1 + 1e-4, OptimizerKind::sgd, 3));
  CHECK_FALSE(equal(1 + 6e-9, 1, OptimizerKind::adamw, 3));
  CHECK_FALSE(equal(1, 1 + 0.1, OptimizerKind::adamw, 3));
}

TEST_CASE("an element on the other side of a jump is rounding where float64 agrees") {
  const auto equal = [](double off, const char* activation) {
    const Graph graph = graph_of("float32", activation);
    const std::string path = std::filesystem::temp_directory_path() / ("comparison" + std::to_string(::getpid()));
    ReferenceRun run = run_of({0.5, 0.25, 1}, at::kFloat);
    REQUIRE(write_reference(path, {{Precision::float64, &run}, {Precision::model, &run}}).empty());
    const Result<ReferenceFile> file = ReferenceFile::open(path);
    std::filesystem::remove(path);
    REQUIRE(file.ok());
    std::vector<ParameterBlock> blocks(1);
    blocks[0].tensor = kMatrix, blocks[0].region = whole_region(graph, kMatrix);
    blocks[0].first_gradient = at::full({2, 2}, 0.5, at::kFloat);
    blocks[0].first_gradient.flatten().slice(0, 0, 1).add_(off);
    Comparison comparison(graph, *file, Precision::model);
    comparison.gradients(blocks);
    return comparison.worst().error <= comparison.worst().allowed;
  };
  CHECK(equal(0.009, "relu"));
  CHECK_FALSE(equal(0.02, "relu"));
  CHECK_FALSE(equal(0.009, "neg"));
}

TEST_CASE("where the one-device run has no number, the same is equal and a number is not") {
  const double none = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const Gradients lost{none, infinite, none};
  for (const Precision p : {Precision::float64, Precision::model}) {
    CHECK(equal(lost, lost, lost, p));
    CHECK_FALSE(equal(lost, lost, {1, infinite, none}, p));
    CHECK_FALSE(equal(lost, lost, {none, infinite, 1}, p));
    CHECK_FALSE(equal({1, 1, 1}, {1, 1, 1}, {none, 1, 1}, p));
  }
}
