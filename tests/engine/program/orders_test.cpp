// Order rows beside operators that need all micro-batches: none is dropped.
#include <catch2/catch.hpp>
#include <map>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;

namespace {

// Two layers, a loss of each example, and the square of the mean over the batch.
Graph coupled(std::int64_t batch) {
  ModelBuilder b;
  ValueId x = b.input("x", {batch, 16});
  for (const char* layer : {"layers.0", "layers.1"}) x = b.gelu(layer, b.linear(layer, x, 16, false));
  const ValueId mean = b.node("balance", "aten::mean.dim",
                              {{"self", Tensor{x}},
                               {"dim", std::vector<std::int64_t>{0}},
                               {"keepdim", false},
                               {"dtype", None{}}},
                              {16});
  const ValueId square = b.node("balance", "aten::sum.dim_IntList",
                                {{"self", Tensor{b.multiply("balance", mean, mean)}},
                                 {"dim", std::vector<std::int64_t>{0}},
                                 {"keepdim", false},
                                 {"dtype", None{}}},
                                {});
  const ValueId loss = b.cross_entropy(b.linear("head", x, 4, false), b.input("labels", {batch}, DType::i64));
  return b.graph(b.add("", loss, square));
}

// Two layers, each with two operators that need the mean over the batch.
Graph centred(std::int64_t batch) {
  ModelBuilder b;
  ValueId x = b.input("x", {batch, 16});
  for (const char* layer : {"layers.0", "layers.1"}) {
    x = b.linear(layer, x, 16, false);
    for (int k = 0; k < 2; ++k) {
      const ValueId mean = b.node(layer, "aten::mean.dim",
                                  {{"self", Tensor{x}},
                                   {"dim", std::vector<std::int64_t>{0}},
                                   {"keepdim", true},
                                   {"dtype", None{}}},
                                  {1, 16});
      x = b.gelu(layer, b.add(layer, x, mean));
    }
  }
  return b.graph(b.cross_entropy(b.linear("head", x, 4, false), b.input("labels", {batch}, DType::i64)));
}

Result<Materialized> with_rows(const std::string& rows, std::int64_t batch = 8, std::int64_t micro_batches = 4,
                               Graph (*graph)(std::int64_t) = coupled) {
  const std::string text =
      "devices 2 as pipe=2\naxis mb=" + std::to_string(micro_batches) + "\nlet S = cut layers[*] into 2\ntrans * batch by mb\nassign S[i] to pipe=i\n" + rows;
  return materialize(graph(batch), *plan::parse_plan(text, "a.plan"), *read_cluster("local", {.devices = 2}));
}

// `f0 f1 b0 …` of a device, what is named so alone.
std::string order_of(const Program& p, int device, const std::string& unit) {
  std::string out;
  for (const SlotRun& s : period(p.classes[static_cast<std::size_t>(class_of(p, device))])) {
    const Segment& segment = p.segments[static_cast<std::size_t>(s.segment)];
    if (segment.name.substr(1) == "(" + unit + ")" && s.index.size() == 1)
      out += (out.empty() ? "" : " ") + segment.name.substr(0, 1) + std::to_string(s.index[0]);
  }
  return out;
}

}  // namespace

TEST_CASE("rows that an operator over the whole batch contradicts are not possible, and it is named") {
  const Result<Materialized> m = with_rows("use 1f1b(S)\n");
  REQUIRE_FALSE(m.ok());
  const std::string text = to_string(m.diagnostics);
  INFO(text);
  CHECK(text.find("a.plan:6: no order possible: ") != std::string::npos);
  CHECK(text.find(" before ") != std::string::npos);
  CHECK(text.find("balance:") != std::string::npos);
  CHECK(text.find("of all indices of mb (line 4: trans * batch by mb)") != std::string::npos);
}

TEST_CASE("segments of one name that wait for each other are told once") {
  const Result<Materialized> m = with_rows("use 1f1b(S)\n", 8, 2, centred);
  REQUIRE_FALSE(m.ok());
  const std::string text = to_string(m.diagnostics);
  INFO(text);
  const std::size_t begin = text.find("no order possible: ");
  REQUIRE(begin != std::string::npos);
  const std::string conflict = text.substr(begin, text.find(". Relax", begin) - begin);
  CHECK(conflict == "no order possible: f(S[0])[0] before f(S[0])[1] (line 6), data f(S[0])[1] → f(S[0])[0]");
}

TEST_CASE("rows that contradict nothing are kept beside it") {
  const Result<Materialized> all = with_rows("use gpipe(S)\n");
  INFO(to_string(all.diagnostics));
  REQUIRE(all.ok());
  CHECK(order_of(all->program, 0, "S[0]") == "f0 f1 f2 f3 b0 b1 b2 b3");
  const Result<Materialized> hand = with_rows("order f(S[1])[3] < f(S[1])[0]\norder b(S[0])[2] < b(S[0])[1]\n");
  INFO(to_string(hand.diagnostics));
  REQUIRE(hand.ok());
  const std::string forward = order_of(hand->program, 1, "S[1]"), backward = order_of(hand->program, 0, "S[0]");
  INFO(forward << "; " << backward);
  CHECK(forward.find("f3") < forward.find("f0"));
  CHECK(backward.find("b2") < backward.find("b1"));
}

TEST_CASE("a row between all tasks of two segments takes no more than its tasks") {
  constexpr std::int64_t many = 1 << 14;  // 2^28 pairs
  const Result<Materialized> m = with_rows("use gpipe(S)\n", many, many);
  INFO(to_string(m.diagnostics));
  REQUIRE(m.ok());
  std::map<std::pair<SegmentId, SegmentId>, std::int64_t> pairs;
  for (const OrderedRuns& runs : m->ordered) pairs[{runs.before, runs.after}] += runs.count;
  REQUIRE(pairs.size() >= 2);
  std::int64_t whole = 0;
  for (const auto& [segments, count] : pairs) whole += count == many * many;
  CHECK(whole >= 2);  // forward and backward of both stages
  CHECK(m->ordered.size() < 8 * pairs.size() * many);
}
