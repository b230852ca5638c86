// What is alive: working sets of pieces, accumulators, values that autograd holds, homes and optimizer state.
#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/simulate/working_set.h"
#include "tests/planner/simulate/hand_made.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

Instruction make(Code code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out, PieceId piece = -1) {
  Instruction i;
  i.code = code;
  i.in = std::move(in);
  i.out = std::move(out);
  i.piece = piece;
  i.keep = code == Code::compute;
  return i;
}

// Products a0 -> … -> a4 as one piece; every tensor 4,000 bytes.
struct Chain : Pipeline {
  Chain() : Pipeline(make_pipeline({100, 100, 100, 100}, 4, Schedule::gpipe)) {
    Piece whole;
    for (int t = 0; t <= 4; ++t) whole.slots.push_back({t, 0});
    whole.leaves = 1;
    for (int o = 0; o < 4; ++o) whole.ops.push_back({o, {o}, o + 1, {}});
    whole.outputs = {4};
    whole.gradient = true;
    program.pieces = {whole};
    program.device_count = 1;
    program.axes = {{"pipe", 1, 0}, {"mb", 4, -1}};
    program.places = {{0, {}}};
    program.values.clear();
    program.transfers.clear();
    program.segments.clear();
    program.classes.clear();
  }
  WorkingSet working() const {
    return working_set(graph, program.pieces[0], slot_bytes(graph, program, program.pieces[0]));
  }
  ProgramValueId value(TensorId t, Role role, std::vector<AxisId> indexed = {1}) {
    program.values.push_back({t, role, 0, 0, std::move(indexed), -1});
    return static_cast<int>(program.values.size()) - 1;
  }
  Simulation run() const {
    const Result<Simulation> s = simulate(graph, program, cluster, options);
    INFO(to_string(s.diagnostics));
    REQUIRE(s.ok());
    return *s;
  }
  void one_class(std::vector<Loop> loops) {
    DeviceClass c;
    c.name = "all";
    c.place = program.places[0];
    c.loops = std::move(loops);
    program.classes = {c};
  }
};

}  // namespace

TEST_CASE_METHOD(Chain, "kept is what backward reads and no value holds") {
  const WorkingSet w = working();
  CHECK(w.kept == 3 * 4000);  // a1 a2 a3; a0 is a leaf
  CHECK(w.saved_leaves == std::vector<int>{0});
  CHECK(w.saved_outputs.empty());
  CHECK(w.forward_keep == 0);     // everything that is made stays
  CHECK(w.forward_drop == 4000);  // one result at a time, beside its operand
  CHECK(w.whole.bytes == 4000);   // kept goes as gradients come
  for (Op& op : graph.ops) op.saves = {};
  CHECK(working().whole.bytes == 8000);  // two gradients at a time, nothing goes
}

TEST_CASE_METHOD(Chain, "a further contribution to a gradient is a tensor until it is added") {
  Piece& piece = program.pieces[0];
  for (Op& op : graph.ops) op.saves = {};
  CHECK(working().whole.bytes == 8000);
  piece.ops[3].inputs = {3, 1};  // a1 is read again, so that it has a gradient all the way
  auto model = std::make_shared<Model>(*graph.model);
  for (Node& n : model->nodes) n.target = "aten::mm";
  graph.model = model;
  CHECK(working().whole.bytes == 12000);  // of a3 and a1 with a2, of a1 and a2 with what a2 gives to a1
  auto views = std::make_shared<Model>(*model);
  views->nodes[3].target = "aten::linear";  // of three dimensions: what it gives is a view, and the sum a new tensor
  graph.model = views;
  CHECK(working().whole.bytes == 12000);  // which is made when the gradient of a2 has gone
}

TEST_CASE_METHOD(Chain, "a sum hands its gradient on as it is, and what is added to it then is a new tensor") {
  Piece& piece = program.pieces[0];
  for (Op& op : graph.ops) op.saves = {};
  auto model = std::make_shared<Model>(*graph.model);
  for (Node& n : model->nodes) n.target = "aten::mm";
  graph.model = model;
  piece.ops[3].inputs = {3, 2};  // a4 of a3 and a2: a residual connection around a3
  graph.ops[3].inputs.push_back(graph.ops[3].inputs[0]);
  CHECK(working().whole.bytes == 12000);  // of a3 and a2, and what a3 gives to a2
  auto sum = std::make_shared<Model>(*model);
  sum->nodes[3].target = "aten::add.Tensor";
  graph.model = sum;
  CHECK(working().whole.bytes == 8000);  // that of a4 is a value, and both operands'
}

TEST_CASE_METHOD(Chain, "the gradient of what a sum along dimensions has summed is a view, but for a leaf's") {
  for (Op& op : graph.ops) op.saves = {};
  graph.tensors[0].gradient = false;
  CHECK(working().whole.bytes == 8000);  // of a3 and a2, then of a2 and a1
  auto model = std::make_shared<Model>(*graph.model);
  for (const std::size_t k : {1u, 3u}) model->nodes[k].target = "aten::sum.dim_IntList";
  graph.model = model;
  CHECK(working().whole.bytes == 4000);  // that of a3 is a value's, that of a1 is that of a2
  graph.tensors[0].gradient = true;
  model->nodes[0].target = "aten::sum.dim_IntList";
  CHECK(working().whole.bytes == 8000);  // of a2 and of the leaf
  CHECK(working().whole.handed_on.empty());
  model->nodes[2].target = "aten::sum.dim_IntList";
  CHECK(working().whole.bytes == 4000);  // of the leaf alone
}

TEST_CASE_METHOD(Chain, "formulas of gradients make tensors on their way") {
  for (Op& op : graph.ops) op.saves = {};
  auto model = std::make_shared<Model>(*graph.model);
  model->nodes[1].target = "aten::pow.Tensor_Scalar";
  graph.model = model;
  CHECK(working().whole.bytes == 16000);  // of a2 and a1, a power of a1 and a multiple of it
  model->values[0].kind = ValueKind::parameter;
  CHECK(working().parameters.bytes == 0);  // the power is no operator of the second backward
  model->nodes[0].target = "aten::pow.Tensor_Scalar";
  CHECK(working().parameters.bytes == 8000);
}

TEST_CASE_METHOD(Chain, "operands that autograd alone holds go as what else it keeps") {
  Piece& piece = program.pieces[0];
  for (Op& op : graph.ops) op.saves = {};
  piece.ops[3].inputs = {3, 0};
  graph.ops[3].inputs.push_back(graph.ops[3].inputs[0]);
  graph.ops[3].saves = {1};
  graph.tensors[0].gradient = false;
  const auto set = [&](const std::vector<int>& ending) {
    return working_set(graph, piece, slot_bytes(graph, program, piece), ending);
  };
  CHECK(set({}).whole.bytes == 8000);   // two gradients at a time
  CHECK(set({0}).whole.bytes == 4000);  // a0 went with the first
  CHECK(set({0}).kept == set({}).kept);
}

TEST_CASE_METHOD(Chain, "the gradient that a sum hands on is there until the last value that it is ends") {
  Piece& piece = program.pieces[0];
  piece.slots = {{0, 0}, {1, 0}, {4, 0}};
  piece.leaves = 2;
  piece.ops = {{3, {0, 1}, 2, {}}};
  piece.outputs = {2};
  graph.ops[3].inputs.push_back(graph.ops[3].inputs[0]);
  graph.ops[3].saves = {};
  const auto dy = value(4, Role::gradient), da = value(0, Role::gradient), db = value(1, Role::gradient);
  program.segments = {{"b",
                       Phase::backward,
                       0,
                       {1},
                       {make(Code::seed, {}, {dy}), make(Code::backward, {dy}, {da, db}, 0), make(Code::free, {dy}, {}),
                        make(Code::free, {db}, {}), make(Code::add, {da}, {da}), make(Code::free, {da}, {})}}};
  program.segments[0].instructions[4] =
      make(Code::local, {da}, {value(2, Role::gradient)});  // while one of three is there
  program.segments[0].instructions[5].in.push_back(program.segments[0].instructions[4].out[0]);
  one_class({{4, {{0, {0}, {1}}}}});
  auto model = std::make_shared<Model>(*graph.model);
  model->nodes[3].target = "aten::mm";
  graph.model = model;
  CHECK(run().classes[0].peak.bytes() == 12000);
  model->nodes[3].target = "aten::add.Tensor";
  CHECK(run().classes[0].peak.bytes() == 8000);
  CHECK(run().classes[0].memory.back().bytes == 0);
  program.segments[0].instructions.erase(program.segments[0].instructions.begin() + 3);  // one lives for ever
  CHECK(run().classes[0].memory.back().bytes == 4 * 4000);
}

TEST_CASE_METHOD(Chain, "with two backwards, gradients inside wait for the second and nothing goes before it") {
  auto model = std::make_shared<Model>(*graph.model);
  model->values[0].kind = ValueKind::parameter;
  graph.model = model;
  const WorkingSet w = working();
  CHECK(w.inputs.gradients == 0);
  CHECK(w.inputs.left == 4000);   // of a1, which the parameter's operator made
  CHECK(w.inputs.bytes == 8000);  // kept stays
  CHECK(w.parameters.gradients == 4000);
  CHECK(w.whole.gradients == 0);  // at the worst moment, the first, there is none yet
}

TEST_CASE_METHOD(Chain, "the second backward ends what operators with parameters alone read, in their order") {
  auto model = std::make_shared<Model>(*graph.model);
  model->values[0].kind = ValueKind::parameter;
  graph.model = model;
  Piece& piece = program.pieces[0];
  piece.ops[1].inputs.push_back(0);
  graph.ops[1].inputs.push_back(graph.ops[0].inputs[0]);
  for (Op& op : graph.ops) op.saves = {};
  graph.ops[0].saves = {-1};
  const auto worst = [this] {
    const BackwardSet second = working().parameters;
    return second.bytes + second.gradients;
  };
  CHECK(worst() == 8000);  // the second contribution takes the place of a1; the sum is a third tensor
  graph.ops[1].saves = {0};
  CHECK(worst() == 12000);  // a1 ends after it
  graph.ops[1].saves = {};
  graph.ops[3].saves = {0};
  CHECK(worst() == 8000);  // what else is read stays, and is there before
}

TEST_CASE_METHOD(Chain, "the gradients of a sum's operands are that of the sum") {
  auto model = std::make_shared<Model>(*graph.model);
  model->values[0].kind = ValueKind::parameter;
  graph.model = model;
  program.pieces[0].ops[1].inputs.push_back(0);
  graph.ops[1].inputs.push_back(graph.ops[0].inputs[0]);
  CHECK(working().inputs.left == 8000);  // of a1 and a2
  for (const char* target : {"aten::add.Tensor", "aten::sub.Tensor"}) {  // of a difference, of what is subtracted from
    model->nodes[1].target = target;
    CHECK(working().inputs.left == 4000);
  }
  model->nodes[1].target = "aten::rsub.Scalar";
  CHECK(working().inputs.left == 8000);
}

TEST_CASE_METHOD(Chain, "a view has the storage of what it views") {
  auto model = std::make_shared<Model>(*graph.model);
  model->nodes[1].target = "aten::view";
  graph.model = model;
  graph.ops[1].elementwise_cost = true;
  graph.ops[1].saves = {};
  const WorkingSet w = working();
  CHECK(w.kept == 2 * 4000);  // a1, which a2 views, and a3
}

TEST_CASE_METHOD(Chain, "an operator without backward keeps nothing") {
  for (Op& op : graph.ops) op.backward = false;
  CHECK(working().kept == 0);
  CHECK(working().saved_leaves.empty());
}

TEST_CASE_METHOD(Chain, "what autograd keeps lives from forward to backward, values that end early with it") {
  const auto x = value(0, Role::data), y = value(4, Role::data), dy = value(4, Role::gradient),
             dx = value(0, Role::gradient);
  program.segments = {
      {"f",
       Phase::forward,
       0,
       {1},
       {make(Code::load, {}, {x}), make(Code::compute, {x}, {y}, 0), make(Code::free, {x, y}, {})}},
      {"b",
       Phase::backward,
       0,
       {1},
       {make(Code::seed, {}, {dy}), make(Code::backward, {dy}, {dx}, 0), make(Code::free, {dy, dx}, {})}}};
  one_class({{4, {{0, {0}, {1}}}}, {4, {{1, {0}, {1}}}}});
  const Simulation s = run();
  // x is freed although the piece reads it backward: it is held. Per micro-batch: x and 12,000 kept.
  CHECK(s.classes[0].peak[MemoryKind::activations] == 4 * 16000 + 2 * 4000);  // at the first backward: dy and dx
  CHECK(s.classes[0].memory.back().bytes == 0);

  program.values.push_back({0, Role::data, 0, 0, {1}, x});  // made again for the backward
  const auto again = static_cast<int>(program.values.size()) - 1;
  program.segments[1].instructions.insert(program.segments[1].instructions.begin(), make(Code::load, {}, {again}));
  program.segments[1].instructions.back().in.push_back(again);
  const Simulation refilled = run();
  CHECK(refilled.classes[0].peak[MemoryKind::activations] == 4 * 12000 + 3 * 4000);
  CHECK(refilled.classes[0].memory.back().bytes == 0);
}

TEST_CASE_METHOD(Chain, "what two runs keep goes to host memory with the last of them") {
  program.pieces.push_back(program.pieces[0]);
  const auto x = value(0, Role::data), y = value(4, Role::data), z = value(4, Role::data);
  const auto dy = value(4, Role::gradient), dz = value(4, Role::gradient);
  const auto dx = value(0, Role::gradient), again = value(0, Role::gradient);
  const auto bytes_between = [&](std::vector<PieceId> offloaded) {
    std::vector<Instruction> forward = {make(Code::load, {}, {x}), make(Code::compute, {x}, {y}, 0),
                                        make(Code::compute, {x}, {z}, 1)};
    std::vector<Instruction> backward = {make(Code::seed, {}, {dy, dz})};
    for (const PieceId piece : offloaded) {
      forward.push_back(make(Code::offload, {}, {}, piece));
      backward.push_back(make(Code::restore, {}, {}, piece));
    }
    forward.push_back(make(Code::free, {x, y, z}, {}));
    backward.push_back(make(Code::backward, {dz}, {dx}, 1));
    backward.push_back(make(Code::backward, {dy}, {again}, 0));
    backward.push_back(make(Code::free, {dy, dz, dx, again}, {}));
    program.segments = {{"f", Phase::forward, 0, {1}, forward}, {"b", Phase::backward, 0, {1}, backward}};
    one_class({{4, {{0, {0}, {1}}}}, {4, {{1, {0}, {1}}}}});
    const Simulation s = run();
    CHECK(s.classes[0].memory.back().bytes == 0);
    std::int64_t bytes = s.classes[0].peak.bytes();  // the next slot only adds
    for (const MemoryPoint& m : s.classes[0].memory)
      if (m.time == s.classes[0].slots[3].end) bytes = std::min(bytes, m.bytes);
    return bytes;
  };
  CHECK(bytes_between({}) == 4 * (4000 + 2 * 12000));
  CHECK(bytes_between({0}) == 4 * (4000 + 12000));  // the other one needs x
  CHECK(bytes_between({1}) == 4 * (4000 + 12000));
  CHECK(bytes_between({0, 1}) == 0);
}

TEST_CASE_METHOD(Chain, "what all micro-batches read comes back from host memory once it has gone there, not before") {
  const auto x = value(0, Role::data, {}), y = value(4, Role::data), z = value(4, Role::data);
  const auto dy = value(4, Role::gradient), dx = value(0, Role::gradient);
  Instruction free_x = make(Code::free, {x}, {});
  free_x.last = true;
  const auto segment = [](const char* name, Phase phase, std::vector<AxisId> axes, std::vector<Instruction> instructions) {
    return Segment{name, phase, 0, std::move(axes), std::move(instructions)};
  };
  const auto forward = [&](std::vector<Instruction> more) {
    std::vector<Instruction> out = {make(Code::compute, {x}, {y}, 0), make(Code::offload, {}, {}, 0), make(Code::free, {y}, {})};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  const std::vector<Instruction> backward = {make(Code::seed, {}, {dy}), make(Code::restore, {}, {}, 0),
                                             make(Code::backward, {dy}, {dx}, 0), make(Code::free, {dy, dx}, {})};
  cluster.host.bandwidth = 1e18;  // a copy takes no time
  const auto between = [&] {      // the memory after each slot and before the next one, from the first forward on
    const ClassTimeline t = run().classes[0];
    std::vector<std::int64_t> out;
    for (std::size_t k = 1; k < t.slots.size(); ++k) {
      std::int64_t least = t.peak.bytes();
      for (const MemoryPoint& m : t.memory)
        if (m.time == t.slots[k].end) least = std::min(least, m.bytes);
      out.push_back(least);
    }
    return out;
  };
  using Amounts = std::vector<std::int64_t>;
  const Segment load = segment("load", Phase::forward, {}, {make(Code::load, {}, {x})});

  program.segments = {load, segment("f", Phase::forward, {1}, forward({free_x})), segment("b", Phase::backward, {1}, backward)};
  one_class({{1, {{0, {}, {}}}}, {2, {{1, {0}, {1}}}}, {2, {{2, {0}, {1}}, {1, {2}, {1}}}}, {2, {{2, {2}, {1}}}}});
  CHECK(between() == Amounts{4000, 4000, 4000, 4000, 4000, 0, 4000, 0});  // f0 f1 b0 f2 b1 f3 b2 b3
  CHECK(run().classes[0].peak[MemoryKind::activations] == 4000 + 12000 + 2 * 4000);
  CHECK(run().classes[0].host_peak.count == 2 * 12000 + 4000);

  program.pieces.push_back(program.pieces[0]);  // reads x too, and keeps nothing
  std::vector<Instruction> reads = {make(Code::compute, {x}, {z}, 1), make(Code::free, {z}, {}), free_x};
  reads[0].keep = false;
  program.segments = {load, segment("f", Phase::forward, {1}, forward({})), segment("g", Phase::forward, {1}, reads),
                      segment("b", Phase::backward, {1}, backward)};
  one_class({{1, {{0, {}, {}}}}, {4, {{1, {0}, {1}}}}, {3, {{2, {0}, {1}}, {3, {0}, {1}}}}, {1, {{2, {3}, {1}}, {3, {3}, {1}}}}});
  CHECK(between() == Amounts{4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 0, 0});  // f0 … f3 g0 b0 … g3 b3
  CHECK(run().classes[0].host_peak.count == 4 * 12000);

  one_class({{1, {{0, {}, {}}}}, {4, {{1, {0}, {1}}}}, {4, {{2, {0}, {1}}}}, {4, {{3, {0}, {1}}}}});
  CHECK(between() == Amounts{4000, 4000, 4000, 4000, 4000, 4000, 4000, 0, 4000, 4000, 4000, 0});  // f0 … f3 g0 … g3 b0 … b3
  CHECK(run().classes[0].host_peak.count == 4 * 12000 + 4000);
}

TEST_CASE_METHOD(Chain, "a recompute unit keeps only its operands") {
  const auto x = value(0, Role::data), y = value(4, Role::data), dy = value(4, Role::gradient),
             dx = value(0, Role::gradient);
  Instruction forward = make(Code::compute, {x}, {y}, 0);
  forward.keep = false;
  program.segments = {{"f", Phase::forward, 0, {1}, {make(Code::load, {}, {x}), forward, make(Code::free, {y}, {})}},
                      {"b",
                       Phase::backward,
                       0,
                       {1},
                       {make(Code::seed, {}, {dy}), make(Code::replay, {x}, {y}, 0), make(Code::free, {y}, {}),
                        make(Code::backward, {dy}, {dx}, 0), make(Code::free, {x, dy, dx}, {})}}};
  one_class({{4, {{0, {0}, {1}}}}, {4, {{1, {0}, {1}}}}});
  const Simulation s = run();
  CHECK(s.classes[0].peak[MemoryKind::activations] == 4 * 4000 + 12000 + 2 * 4000);
  CHECK(s.classes[0].memory.back().bytes == 0);
  CHECK(s.classes[0].compute == 4 * (400 + 400 + 400));
}

TEST_CASE_METHOD(Chain, "an accumulator is allocated once") {
  const auto g = value(1, Role::gradient), sum = value(1, Role::gradient, {});
  program.segments = {{"b",
                       Phase::backward,
                       0,
                       {1},
                       {make(Code::seed, {}, {g}), make(Code::accumulate, {g}, {sum}), make(Code::free, {g}, {})}},
                      {"end", Phase::update, 0, {}, {make(Code::free, {sum}, {})}}};
  one_class({{4, {{0, {0}, {1}}}}, {1, {{1, {}, {}}}}});
  const Simulation s = run();
  CHECK(s.classes[0].peak.bytes() == 8000);
  CHECK(s.classes[0].memory.back().bytes == 0);
}

TEST_CASE_METHOD(Chain, "a gradient that ends where it is reduced is the sum's memory") {
  const auto g = value(1, Role::gradient), sum = value(1, Role::gradient);
  Instruction issue = make(Code::issue, {g}, {sum});
  issue.move.kind = MoveKind::all_reduce;
  program.segments = {{"b",
                       Phase::backward,
                       0,
                       {1},
                       {make(Code::seed, {}, {g}), issue, make(Code::wait, {}, {sum}), make(Code::free, {g}, {}),
                        make(Code::free, {sum}, {})}}};
  one_class({{4, {{0, {0}, {1}}}}});
  CHECK(run().classes[0].peak.bytes() == 4000);
  CHECK(run().classes[0].memory.back().bytes == 0);
  program.values[static_cast<std::size_t>(g)].role = Role::data;  // autograd may have saved it
  CHECK(run().classes[0].peak.bytes() == 8000);
  CHECK(run().classes[0].memory.back().bytes == 0);
}

// Halves of sums over two devices. Each gradient has 4,000 bytes, its half of the sum 2,000.
struct Scatter : Chain {
  ProgramValueId half(TensorId t) {
    const ProgramValueId v = value(t, Role::gradient);
    program.values[static_cast<std::size_t>(v)].layout = 1;
    return v;
  }
  ClassTimeline scattered(int count, int dim, bool read_later = false) {
    program.device_count = 2;
    program.axes = {{"data", 2, 0}, {"mb", 4, -1}};
    const Digit data{.axis = 0, .size = 2};
    program.layouts = {{}, {}};
    program.layouts[1].splits = {{0, 0, {data}}};
    program.values.clear();
    Instruction issue = make(Code::issue, {}, {});
    for (int k = 0; k < count; ++k) {
      issue.in.push_back(value(k + 1, Role::gradient));
      issue.out.push_back(half(k + 1));
    }
    issue.move.kind = MoveKind::reduce_scatter;
    issue.move.dim = dim, issue.move.part = 0;
    issue.move.digits = {data};
    std::vector<Instruction> list = {make(Code::seed, {}, issue.in), issue, make(Code::wait, {}, issue.out)};
    if (read_later) list.push_back(make(Code::add, {issue.in}, {value(1, Role::gradient)}));
    list.push_back(make(Code::free, issue.in, {}));
    list.push_back(make(Code::free, issue.out, {}));
    if (read_later) list.push_back(make(Code::free, list[3].out, {}));
    program.segments = {{"b", Phase::backward, 0, {1}, list}};
    one_class({{4, {{0, {0}, {1}}}}});
    const ClassTimeline out = run().classes[0];
    CHECK(out.memory.back().bytes == 0);
    return out;
  }
  // When the issue is over and the wait has not begun.
  std::int64_t under_way(const ClassTimeline& t) const {
    std::int64_t least = t.peak.bytes();
    for (std::size_t k = 0; k + 1 < t.memory.size(); ++k)
      if (t.memory[k].bytes > 0) least = std::min(least, t.memory[k].bytes);
    return least;
  }
};

TEST_CASE_METHOD(Scatter, "a message that others have their blocks of is gone, and what it was made of") {
  cluster.background = false;
  CHECK(scattered(1, 0).peak.bytes() == 4000 + 2000);      // the gradient is the message
  CHECK(scattered(1, 1).peak.bytes() == 2 * 4000 + 2000);  // blocks that are no rows are packed
  const ClassTimeline bucket = scattered(2, 0);
  CHECK(bucket.peak.bytes() == 2 * 8000);  // gradients and the message; then the halves
  CHECK(under_way(bucket) == 2 * 2000);
  CHECK(scattered(1, 0, true).peak.bytes() == 4000 + 2000 + 4000);  // read later, it stays
}

TEST_CASE_METHOD(Scatter,
                 "a message on its way behind computing lasts until the wait, what it was packed of does not") {
  CHECK(scattered(1, 0).peak.bytes() == 4000 + 2000);
  const ClassTimeline bucket = scattered(2, 0);
  CHECK(bucket.peak.bytes() == 2 * 8000);
  CHECK(under_way(bucket) == 4000);  // of 8,000 and 4,000 more, after the wait
}

TEST_CASE_METHOD(Chain, "homes and optimizer state stand all the time") {
  graph.parameters = {{1, true}, {2, false}};
  value(1, Role::home, {});
  value(2, Role::home, {});
  program.segments = {{"nothing", Phase::forward, 0, {}, {}}};
  one_class({{1, {{0, {}, {}}}}});
  const Simulation s = run();
  CHECK(s.classes[0].peak[MemoryKind::weights] == 8000);
  CHECK(s.classes[0].peak[MemoryKind::optimizer] == 8000);  // 1,000 trained elements, 8 bytes each
  options.optimizer_state_bytes = 0;
  CHECK(run().classes[0].peak.bytes() == 8000);
}
