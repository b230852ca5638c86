// Operator times by hand-worked figures: one device with 1e12 FLOP/s and 1e11 bytes/s.
#include "planner/cost/operator_cost.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/cost/device_kinds.h"
#include "tests/support/model_builder.h"

using namespace planscope;

namespace {

DeviceType device() {
  DeviceType d;
  d.name = "test";
  d.flops = {{"float32", 1e12}};
  d.memory_bandwidth = 1e11;
  d.launch = {2};
  return d;
}

// The whole model as one piece on one device, every tensor whole.
struct Whole {
  Graph graph;
  Program program;
  Piece piece;
  std::vector<Bytes> slots;

  explicit Whole(Graph g) : graph(std::move(g)) {
    program.layouts.push_back({});
    std::vector<int> slot_of(graph.tensors.size(), -1);
    const auto slot = [&](TensorId t) {
      if (slot_of[static_cast<std::size_t>(t)] < 0) {
        slot_of[static_cast<std::size_t>(t)] = static_cast<int>(piece.slots.size());
        piece.slots.push_back({t, 0});
      }
      return slot_of[static_cast<std::size_t>(t)];
    };
    for (const Op& op : graph.ops)
      for (const Operand& in : op.inputs)
        if (graph.tensors[static_cast<std::size_t>(in.tensor)].producer < 0) slot(in.tensor);
    piece.leaves = static_cast<int>(piece.slots.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      PieceOp o;
      o.op = static_cast<int>(i);
      for (const Operand& in : graph.ops[i].inputs) o.inputs.push_back(slot(in.tensor));
      o.first_output = static_cast<int>(piece.slots.size());
      for (const Operand& out : graph.ops[i].outputs) slot(out.tensor);
      piece.ops.push_back(std::move(o));
    }
    piece.gradient = true;
    slots = slot_bytes(graph, program, piece);
  }
  const PieceOp& op(const std::string& kind) const {
    for (const PieceOp& o : piece.ops)
      if (graph.node(o.op).kind == kind) return o;
    FAIL("no operator " << kind);
    return piece.ops.front();
  }
};

Whole small() {
  testing::ModelBuilder b;
  const ValueId x = b.input("x", {8, 16, 32});
  const ValueId h = b.linear("up", x, 64, false);
  const ValueId a = b.gelu("act", h);
  const ValueId v = b.view("flat", a, {128, 64});
  const ValueId y = b.linear("down", v, 10, false);
  return Whole(b.graph(b.cross_entropy(y, b.input("labels", {128}, DType::i64))));
}

}  // namespace

TEST_CASE("a product is bound by its operations or by its bytes") {
  const Whole m = small();
  const Work w = forward_work(m.graph, m.piece, m.op("linear"), m.slots);
  CHECK(w.kind == OperatorClass::product);
  CHECK(w.flops == 2.0 * 128 * 32 * 64);
  CHECK(w.bytes == 4.0 * (128 * 32 + 64 * 32 + 128 * 64));
  CostModel exact;
  exact.efficiency[static_cast<std::size_t>(OperatorClass::product)] = {0.5, 0.25};
  DeviceType d = device();
  const double memory = w.bytes / (1e11 * 0.25) * 1e6, compute = w.flops / (1e12 * 0.5) * 1e6;
  CHECK(memory > compute);
  CHECK(roofline(w, d, exact).count == Approx(memory + 2));
  d.memory_bandwidth = 1e13;
  CHECK(roofline(w, d, exact).count == Approx(compute + 2));
}

TEST_CASE("backward pays for the gradients that are wanted") {
  const Whole m = small();
  // The input of the model needs no gradient: one product for the weight. Further up there are two.
  const PieceOp& up = m.op("linear");
  CHECK(backward_work(m.graph, m.piece, up, m.slots).flops == forward_work(m.graph, m.piece, up, m.slots).flops);
  const PieceOp* down = nullptr;
  for (const PieceOp& o : m.piece.ops)
    if (m.graph.node(o.op).module == "down") down = &o;
  REQUIRE(down);
  const Work forward = forward_work(m.graph, m.piece, *down, m.slots),
             backward = backward_work(m.graph, m.piece, *down, m.slots);
  CHECK(backward.flops == 2 * forward.flops);
  CHECK(backward.kernels == 2);
}

TEST_CASE("a view costs nothing, forward and backward") {
  const Whole m = small();
  const PieceOp& view = m.op("view");
  CHECK(forward_time(m.graph, m.program, m.piece, view, m.slots, device(), {}).time.count == 0);
  CHECK(backward_time(m.graph, m.program, m.piece, view, m.slots, device(), {}).time.count == 0);
}

TEST_CASE("bound factors shrink the work by their largest block") {
  const Whole m = small();
  PieceOp up = m.op("linear");
  const Op& op = m.graph.ops[static_cast<std::size_t>(up.op)];
  int out = -1;
  for (std::size_t f = 0; f < op.factors.size(); ++f)
    if (op.factors[f].kind == FactorKind::free && op.factors[f].name == "out") out = static_cast<int>(f);
  REQUIRE(out >= 0);
  CHECK(local_share(m.graph, up) == 1);
  up.bindings.push_back({{.axis = 0, .size = 4, .stride = 1}, out, 0, Origin::statement, 0});
  CHECK(local_share(m.graph, up) == 0.25);
  up.bindings.push_back({{.axis = 1, .size = 3, .stride = 1}, out, 0, Origin::statement, 0});
  CHECK(local_share(m.graph, up) == 6.0 / 64);  // 12 blocks of 64 elements: the largest has 6
  up.bindings.push_back({{.axis = 2, .size = 2, .stride = 1}, -1, 0, Origin::pass, 0});
  CHECK(local_share(m.graph, up) == 6.0 / 64);  // a partial operand that passes through is as large as before
}

TEST_CASE("a table is read where its rows are chosen") {
  testing::ModelBuilder b;
  const ValueId ids = b.input("ids", {4, 8}, DType::i64);
  const ValueId e = b.embedding("embed", ids, 100000, 16);
  const Whole m{b.graph(b.cross_entropy(b.view("flat", e, {32, 16}), b.input("labels", {32}, DType::i64)))};
  const Work w = forward_work(m.graph, m.piece, m.op("embedding"), m.slots);
  CHECK(w.kind == OperatorClass::index);
  CHECK(w.bytes < 4.0 * 16 * 1000);
}

TEST_CASE("a profile is exact at its shapes and interpolates between them") {
  Profile p;
  p.samples["k"] = {{"small", 10, 20}, {"large", 20, 30}};
  CHECK(look_up(p, "k", "small", {10}) == Figure{{20}, FigureSource::measured});
  CHECK(look_up(p, "k", "middle", {15}) == Figure{{15 * 1.75}, FigureSource::interpolated});
  CHECK(look_up(p, "k", "tiny", {5}) == Figure{{10}, FigureSource::interpolated});
  CHECK(look_up(p, "k", "huge", {40}) == Figure{{60}, FigureSource::interpolated});
  CHECK(look_up(p, "other", "small", {10}) == Figure{{10}, FigureSource::modelled});

  const Whole m = small();
  const PieceOp& up = m.op("linear");
  CostModel model;
  model.profiles["test"].samples[profile_key(m.graph, up, DType::f32, false)] = {
      {shapes_key(m.graph, m.program, m.piece, up, false), 1, 77}};
  CHECK(forward_time(m.graph, m.program, m.piece, up, m.slots, device(), model) ==
        Figure{{77}, FigureSource::measured});
  CHECK(backward_time(m.graph, m.program, m.piece, up, m.slots, device(), model).source == FigureSource::modelled);
  DeviceType other = device();  // was not measured
  other.name = "other";
  CHECK(forward_time(m.graph, m.program, m.piece, up, m.slots, other, model).source == FigureSource::modelled);
}

TEST_CASE("of several kinds of devices the slowest counts, whatever it is slow at", "[cost]") {
  Cluster c;
  c.levels = {{"wire", 6, {1}, 1e9, 1}};
  c.kinds = {{device(), 0}, {device(), 2}, {device(), 4}};
  c.kinds[1].type.flops = {{"float32", 1e9}};
  c.kinds[2].type.memory_bandwidth = 1e8;
  const auto time = [&](const Work& w, std::int64_t first, std::int64_t end) {
    return slowest(c, c.kinds_in(first, end), [&](const DeviceType& d) { return Figure{roofline(w, d, {})}; }).time;
  };
  const Work much_work{.flops = 1e9, .bytes = 1, .kernels = 1, .kind = OperatorClass::product};
  const Work much_moved{.flops = 1, .bytes = 1e9, .kernels = 1, .kind = OperatorClass::product};
  for (const Work& w : {much_work, much_moved}) {
    CHECK(time(w, 0, 2) == roofline(w, c.device(1), {}));
    CHECK(time(w, 2, 4) == roofline(w, c.device(2), {}));
    CHECK(time(w, 3, 5) == std::max(time(w, 2, 4), time(w, 4, 6)));
    CHECK(time(w, 0, 6) == std::max({time(w, 0, 2), time(w, 2, 4), time(w, 4, 6)}));
  }
  CHECK(time(much_work, 0, 6) == time(much_work, 2, 4));
  CHECK(time(much_moved, 0, 6) == time(much_moved, 4, 6));
}
