// Graphs at other sizes than those of the file.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;

namespace {

// x [4, 8] through one operator to [4, n], and a loss of it.
Graph through(const std::string& target, std::int64_t n) {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {4, 8}), 8, false);
  const ValueId y = b.node("m", target, {{"self", Tensor{x}}}, {4, n});
  return b.graph(b.cross_entropy(b.linear("down", y, 16, false), b.input("labels", {4}, DType::i64)));
}

}  // namespace

TEST_CASE("what an operator without a rule makes at another size is not known") {
  const Graph g = through("mine::op", 8);
  CHECK(resize(g, {{"batch", 4}}).ok());
  const Result<Graph> other = resize(g, {{"batch", 32}});
  REQUIRE_FALSE(other.ok());
  CHECK(to_string(other.diagnostics) ==
        "m:op#0: the sizes do not fit; the operator makes what it made of the exported sizes; it reads 32 where "
        "the "
        "file has 4; export the model with the sizes that you want\n");
}

TEST_CASE("what follows from sizes follows them") {
  const Result<Graph> other = resize(through("aten::relu", 8), {{"batch", 32}});
  INFO(to_string(other.diagnostics));
  REQUIRE(other.ok());
  for (const Op& op : other->ops)
    for (const Operand& o : op.outputs)
      if (other->sizes(o.tensor).size() == 2) CHECK(other->sizes(o.tensor)[0] == 32);
}

TEST_CASE("another scalar output may be the loss") {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8}), labels = b.input("labels", {4}, DType::i64);
  const ValueId first = b.cross_entropy(b.linear("a", x, 8, false), labels);
  const ValueId second = b.cross_entropy(b.linear("b", x, 8, false), labels);
  Model both = *b.model(first);
  both.outputs = {first, second, first};
  both.output_names = {"main", "aux", "again"};
  CHECK(scalar_outputs(both) == std::vector<std::size_t>{0, 1});
  const Result<Graph> g = make_graph(std::make_shared<const Model>(both));
  REQUIRE(g.ok());
  const auto trained = [](const Graph& graph) {
    std::string out;
    for (const Parameter& p : graph.parameters)
      if (p.trained) out += graph.tensor_name(p.tensor) + " ";
    return out;
  };
  CHECK(trained(*g) == "a.weight ");
  const Result<Graph> other = resize(*g, {{"loss", 1}, {"batch", 8}});
  INFO(to_string(other.diagnostics));
  REQUIRE(other.ok());
  CHECK(trained(*other) == "b.weight ");
  CHECK(other->model->loss == second);
  CHECK(other->sizes(x)[0] == 8);
  CHECK(other->digest != resize(*g, {{"batch", 8}})->digest);
  CHECK(to_string(resize(*g, {{"loss", 2}}).diagnostics) == "no scalar output 2; the model has main, aux\n");
}

namespace {

const char* const whole = "aten::sum.dim_IntList";
std::vector<NamedArgument> reduced(ValueId self, std::vector<std::int64_t> dim) {
  return {{"self", Tensor{self}}, {"dim", std::move(dim)}, {"keepdim", false}, {"dtype", None{}}};
}

// A piece of dimension 0; `from_end`: the file counts its start from the end.
ValueId piece(ModelBuilder& b, ValueId of, std::int64_t start, std::int64_t end, bool from_end = false) {
  return b.node(
      "", "aten::slice.Tensor",
      {{"self", Tensor{of}}, {"dim", std::int64_t{0}}, {"start", start}, {"end", end}, {"step", std::int64_t{1}}},
      {end - start, 8}, DType::f32, from_end ? "from_end" : "slice");
}

Graph with_likes(ModelBuilder& b, ValueId loss) {
  Model m = *b.model(loss);
  for (Node& n : m.nodes)
    if (n.kind == "from_end") n.like = std::get<Tensor>(n.arguments[0].value).id;
  return *make_graph(std::make_shared<const Model>(std::move(m)));
}

}  // namespace

TEST_CASE("rows that are rolled by slices follow the batch") {
  for (const bool forward : {true, false}) {
    ModelBuilder b;
    const ValueId h = b.linear("up", b.input("x", {4, 8}), 8, false);
    const ValueId first = forward ? piece(b, h, 1, 4) : piece(b, h, 3, 4, true);
    const ValueId second = forward ? piece(b, h, 0, 1) : piece(b, h, 0, 3);
    const ValueId rolled = b.node(
        "", "aten::cat", {{"tensors", std::vector<Tensor>{{first}, {second}}}, {"dim", std::int64_t{0}}}, {4, 8});
    const ValueId product = b.multiply("", h, rolled);
    const Graph g = with_likes(b, b.node("", whole, reduced(product, {0, 1}), {}));
    const Result<Graph> other = resize(g, {{"batch", 12}});
    INFO(to_string(other.diagnostics));
    REQUIRE(other.ok());
    CHECK(other->sizes(first) == std::vector<std::int64_t>{forward ? 11 : 1, 8});
    CHECK(other->sizes(second) == std::vector<std::int64_t>{forward ? 1 : 11, 8});
    CHECK(other->sizes(rolled) == std::vector<std::int64_t>{12, 8});
  }
}

TEST_CASE("the last rows are as many at any size") {
  ModelBuilder b;
  const ValueId last = piece(b, b.linear("up", b.input("x", {8, 8}), 8, false), 5, 8, true);
  const Graph g = with_likes(b, b.node("", whole, reduced(last, {0, 1}), {}));
  const Result<Graph> other = resize(g, {{"batch", 12}});
  INFO(to_string(other.diagnostics));
  REQUIRE(other.ok());
  CHECK(other->sizes(last) == std::vector<std::int64_t>{3, 8});
}

TEST_CASE("a batch that is joined from as many pieces stays") {
  ModelBuilder b;
  const ValueId h = b.linear("up", b.input("x", {2, 8}), 8, false);
  const ValueId rolled = b.node(
      "", "aten::cat",
      {{"tensors", std::vector<Tensor>{{piece(b, h, 1, 2)}, {piece(b, h, 0, 1)}}}, {"dim", std::int64_t{0}}}, {2, 8});
  const Graph g = b.graph(b.node("", whole, reduced(b.multiply("", h, rolled), {0, 1}), {}));
  CHECK(to_string(resize(g, {{"batch", 12}}).diagnostics) ==
        "'batch' cannot be 12; an operator takes it apart or joins it as 2 pieces, and their number stands in the "
        "file; export "
        "the model with batch=12\n");
}

TEST_CASE("what an operator without a rule makes of numbers alone is not known at another size") {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {4, 8}), 8, false);
  const ValueId rows =
      b.node("m", "mine::rows", {{"high", std::int64_t{8}}, {"size", std::vector<std::int64_t>{4, 8}}}, {4, 8});
  const Graph g = b.graph(b.node("", whole, reduced(b.multiply("", x, rows), {0, 1}), {}));
  CHECK(resize(g, {{"batch", 4}}).ok());
  CHECK(to_string(resize(g, {{"batch", 32}}).diagnostics) ==
        "m:rows#0: the sizes do not fit; the operator makes 4 where 32 would be needed, and its numbers stand in the "
        "file; "
        "export the model with the sizes that you want\n");
}

TEST_CASE("what is normalized over the batch is so over that of the file") {
  ModelBuilder b;
  const ValueId turned = b.permute("", b.linear("up", b.input("x", {4, 8}), 8, false), {1, 0});
  const ValueId normed = b.node(
      "m", "aten::layer_norm", {{"input", Tensor{turned}}, {"normalized_shape", std::vector<std::int64_t>{4}}}, {8, 4});
  const Graph g = b.graph(b.node("", whole, reduced(normed, {0, 1}), {}));
  CHECK(resize(g, {{"batch", 4}}).ok());
  CHECK_FALSE(resize(g, {{"batch", 32}}).ok());
}

TEST_CASE("numbers that may be a size are told") {
  ModelBuilder b;
  const ValueId h = b.linear("up", b.input("x", {4, 8}), 8, false);
  const ValueId sum = b.node("a", whole, reduced(h, {0, 1}), {});
  const ValueId divided =
      b.node("a", "statistics::divide_by_count",
             {{"self", Tensor{sum}}, {"dim", std::vector<std::int64_t>{0}}, {"count", std::int64_t{4}}}, {}, DType::f32,
             "div");
  const ValueId root = b.node("b", "aten::sqrt", {{"self", Tensor{sum}}}, {});
  const ValueId scaled = b.node("b", "aten::mul.Scalar", {{"self", Tensor{root}}, {"other", 0.25}}, {});
  const ValueId other = b.node("c", "aten::mul.Scalar", {{"self", Tensor{root}}, {"other", std::int64_t{5}}}, {});
  const ValueId less = b.node("d", "aten::sub.Scalar",
                              {{"self", Tensor{root}}, {"other", std::log(4.0)}, {"alpha", std::int64_t{1}}}, {});
  Model m = *b.model(b.add("", b.add("", divided, scaled), b.add("", other, less)));
  for (Node& n : m.nodes)
    if (n.kind == "div") n.like = h;
  const Graph g = *make_graph(std::make_shared<const Model>(std::move(m)));
  CHECK(resize(g, {{"batch", 4}}).diagnostics.empty());
  const Result<Graph> larger = resize(g, {{"batch", 12}});
  REQUIRE(larger.ok());
  CHECK(
      to_string(larger.diagnostics) ==
      "warning: a:div#0: it divides by 12 here, where the file has the number 4; what it divides is a sum over 4 "
      "elements in "
      "the file (batch), so the number is taken for theirs; if the number is 4 whatever the size is, export the "
      "model with "
      "batch=12\n"
      "warning: b:mul#0: its number 0.25 stays 0.25; it may be 1/4, where 4 is the size of batch in the file; whether "
      "it is cannot be known; if it is, export the model with batch=12\n"
      "warning: d:sub#0: its number 1.38629 stays 1.38629; it may be log 4, where 4 is the size of batch in the file; "
      "whether it is cannot be known; if it is, export the model with batch=12\n");
}

TEST_CASE("what numbers of the file make is not made with another size") {
  const auto resized = [](const std::string& target, std::vector<NamedArgument> arguments) {
    ModelBuilder b;
    const ValueId x = b.input("x", {4});
    const ValueId made = b.node("", target, std::move(arguments), {4});
    const Graph g = b.graph(b.node("", whole, reduced(b.multiply("", x, made), {0}), {}));
    return to_string(resize(g, {{"batch", 12}}).diagnostics);
  };
  CHECK(resized("aten::linspace", {{"start", 0.0}, {"end", 1.0}, {"steps", std::int64_t{4}}})
            .find("the sizes do not fit") != std::string::npos);
  CHECK(resized("aten::arange.start", {{"start", std::int64_t{4}}, {"end", std::int64_t{8}}})
            .find("may have been a size") != std::string::npos);
  CHECK(resized("aten::arange.start_step",
                {{"start", std::int64_t{3}}, {"end", std::int64_t{-1}}, {"step", std::int64_t{-1}}})
            .find("may have been a size") != std::string::npos);
  CHECK(resized("aten::arange.start", {{"start", std::int64_t{0}}, {"end", std::int64_t{4}}}).empty());
}

TEST_CASE("inputs whose dimensions have one name and different sizes are not made one size") {
  ModelBuilder b;
  const ValueId tokens = b.linear("up", b.input("tokens", {4, 8}), 8, false);
  const ValueId weights = b.input("weights", {3, 8});
  const ValueId sums =
      b.add("", b.node("", whole, reduced(tokens, {0, 1}), {}), b.node("", whole, reduced(weights, {0, 1}), {}));
  const Graph g = b.graph(sums);
  const Result<Graph> larger = resize(g, {{"batch", 12}});
  REQUIRE(larger.ok());
  CHECK(larger->sizes(g.model->inputs[0]) == std::vector<std::int64_t>{12, 8});
  CHECK(larger->sizes(g.model->inputs[1]) == std::vector<std::int64_t>{3, 8});
  CHECK(to_string(larger.diagnostics) ==
        "warning: 'batch' of the input 'weights' stays 3; in the file it is 3 of 'weights' and 4 of 'tokens', so the "
        "two are not "
        "one dimension; if it follows, export the model at the size that you want\n");
  CHECK(resize(g, {{"batch", 4}}).diagnostics.empty());
}

TEST_CASE("the first rows of a table that the file holds follow what they are added to, as far as there are rows") {
  for (const std::int64_t rows : {16, 100}) {  // 16: the rows are also half of the table
    ModelBuilder b;
    const ValueId h = b.linear("up", b.input("x", {4, 8}), 8, false);
    const ValueId table = b.parameter("positions", {rows, 8});
    const ValueId taken = piece(b, table, 0, 4);
    Model m = *b.model(b.node("", whole, reduced(b.add("", h, taken), {0, 1}), {}));
    m.values[static_cast<std::size_t>(table)].kind = ValueKind::buffer;
    const Graph g = *make_graph(std::make_shared<const Model>(std::move(m)));
    const Result<Graph> larger = resize(g, {{"batch", 12}});
    INFO(to_string(larger.diagnostics));
    REQUIRE(larger.ok());
    CHECK(larger->sizes(taken) == std::vector<std::int64_t>{12, 8});
    CHECK(larger->sizes(table) == std::vector<std::int64_t>{rows, 8});
    const std::string refused = to_string(resize(g, {{"batch", 128}}).diagnostics);
    CHECK(refused.find("'positions' has " + std::to_string(rows) + " rows, and is read up to row 127") == 0);
    CHECK(refused.find("the largest is batch=" + std::to_string(rows)) != std::string::npos);
  }
}

TEST_CASE("a histogram has its bins at any size") {
  ModelBuilder b;
  const ValueId h = b.node("", whole, reduced(b.linear("up", b.input("x", {4, 8}), 8, false), {1}), {4});
  const ValueId bins =
      b.node("", "aten::histc", {{"self", Tensor{h}}, {"bins", std::int64_t{5}}, {"min", 0.0}, {"max", 1.0}}, {5});
  const Graph g = b.graph(b.add("", b.node("", whole, reduced(h, {0}), {}), b.node("", whole, reduced(bins, {0}), {})));
  const Result<Graph> larger = resize(g, {{"batch", 12}});
  INFO(to_string(larger.diagnostics));
  REQUIRE(larger.ok());
  CHECK(larger->sizes(bins) == std::vector<std::int64_t>{5});
}

TEST_CASE("numbers beside a size that is still there are told, equal ones together") {
  ModelBuilder b;
  const ValueId h = b.linear("up", b.input("x", {6, 8}), 8, false);
  const auto divided = [&](ValueId t) {
    return b.node("a", "aten::mul.Scalar", {{"self", Tensor{t}}, {"other", 1.0 / 6}}, {6, 8});
  };
  const ValueId places =
      b.node("b", "aten::arange.start_step",
             {{"start", std::int64_t{5}}, {"end", std::int64_t{-1}}, {"step", std::int64_t{-1}}}, {6}, DType::i64);
  const ValueId turned = b.node("b", "aten::index_select",
                                {{"self", Tensor{h}}, {"dim", std::int64_t{0}}, {"index", Tensor{places}}}, {6, 8});
  const ValueId last =
      b.node("c", "aten::select.int", {{"self", Tensor{h}}, {"dim", std::int64_t{0}}, {"index", std::int64_t{5}}}, {8});
  const ValueId first =
      b.node("d", "aten::select.int", {{"self", Tensor{h}}, {"dim", std::int64_t{0}}, {"index", std::int64_t{1}}}, {8});
  const ValueId rows = b.add("", b.node("", whole, reduced(divided(divided(h)), {0}), {8}),
                             b.node("", whole, reduced(turned, {0}), {8}));
  const Graph g = b.graph(b.node("", whole, reduced(b.add("", rows, b.add("", last, first)), {0}), {}));
  CHECK(resize(g, {{"batch", 6}}).diagnostics.empty());
  CHECK(to_string(resize(g, {{"batch", 12}}).diagnostics) ==
        "warning: b:arange#0: its number 6 stays 6; it may be 6, where 6 is the size of batch in the file; whether it "
        "is cannot "
        "be known; if it is, export the model with batch=12\n"
        "warning: b:arange#0: its number 5 stays 5 (and in 1 other operator); it may be 6 - 1, where 6 is the size of "
        "batch in the file; whether it is "
        "cannot be known; if it is, export the model with batch=12\n"
        "warning: a:mul#0: its number 0.166667 stays 0.166667 (and in 1 other operator); it may be 1/6, where 6 is the "
        "size of "
        "batch in the file; whether it is cannot be known; if it is, export the model with batch=12\n");
}

TEST_CASE("parts that are taken by numbers are told, those that are counted from an end are not") {
  const auto sized = [](std::int64_t start, std::int64_t end, bool from_end) {
    ModelBuilder b;
    const ValueId part = piece(b, b.linear("up", b.input("x", {8, 8}), 8, false), start, end, from_end);
    const Result<Graph> other = resize(with_likes(b, b.node("", whole, reduced(part, {0, 1}), {})), {{"batch", 16}});
    REQUIRE(other.ok());
    const std::string told = to_string(other.diagnostics);
    const std::size_t from = told.find("it takes "), to = told.find(';');
    return std::to_string(other->sizes(part)[0]) + (told.empty() ? "" : ": " + told.substr(from, to - from));
  };
  CHECK(sized(0, 3, false) == "3: it takes 0 to 3 of 16 here, where the file has 0 to 3 of 8");
  CHECK(sized(0, 7, false) == "15: it takes 0 to 15 of 16 here, where the file has 0 to 7 of 8");
  CHECK(sized(0, 4, false) == "8: it takes 0 to 8 of 16 here, where the file has 0 to 4 of 8");
  CHECK(sized(1, 8, false) == "15");
  CHECK(sized(0, 7, true) == "15");
  CHECK(sized(4, 8, true) == "4");
}
