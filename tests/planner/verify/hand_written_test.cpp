// A Program written without materialize: the tiny model without blocks, data parallel on two devices, two micro-batches.
// Each case breaks one thing and compares the whole message.
#include <catch2/catch.hpp>

#include "../../engine/program/tiny_model.h"
#include "planner/verify/verify.h"

using namespace planscope;

namespace {

const Digit data{0, 2, 1}, mb{1, 2, 1};

int factor_with(const Graph& g, const Op& op, ClassId c) {
  for (int f = 0; f < static_cast<int>(op.factors.size()); ++f)
    for (const ClassId part : op.factors[static_cast<std::size_t>(f)].parts)
      if (part == c) return f;
  FAIL("no factor has the class " << g.classes[static_cast<std::size_t>(c)].name);
  return -1;
}

Instruction instruction(Code code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out) {
  Instruction i;
  i.code = code;
  i.in = std::move(in);
  i.out = std::move(out);
  return i;
}

Instruction all_reduce(ProgramValueId in, ProgramValueId out) {
  Instruction i = instruction(Code::issue, {in}, {out});
  i.move = {MoveKind::all_reduce, {data}, -1, -1, -1, -1, PartialKind::sum};
  return i;
}

enum Values { ids, target, table, loss_part, loss_sum, loss, seed, dtable_part, dtable_sum, dtable };
enum Layouts { whole, rows, partial_both, partial_data };
enum Segments { forward, backward, last };

struct Case {
  Graph g = tiny::tiny_graph(0);
  Program p;

  Case() {
    p.graph_digest = g.digest;
    p.device_count = 2;
    p.axes = {{"data", 2, 0}, {"mb", 2, -1}};
    p.grids = {{"all", {0}, {1}, 0, {}}};
    p.places = {{0, {}}};
    p.layouts = {{},
                 {{{0, 0, {mb, data}}}, {}},
                 {{}, {{data, PartialKind::sum}, {mb, PartialKind::sum}}},
                 {{}, {{data, PartialKind::sum}}}};
    p.statements = {{2, "a.plan", "trans * batch by mb, data"}};
    const TensorId w = g.ops[0].inputs[0].tensor, i = g.ops[0].inputs[1].tensor, t = g.ops[3].inputs[1].tensor,
                   l = g.model->loss;
    p.values = {{i, Role::data, rows, 0, {1}, -1},
                {t, Role::data, rows, 0, {1}, -1},
                {w, Role::home, whole, 0, {}, -1},
                {l, Role::data, partial_both, 0, {1}, -1},
                {l, Role::data, partial_data, 0, {}, -1},
                {l, Role::data, whole, 0, {}, -1},
                {l, Role::gradient, whole, 0, {1}, -1},
                {w, Role::gradient, partial_both, 0, {1}, -1},
                {w, Role::gradient, partial_data, 0, {}, -1},
                {w, Role::gradient, whole, 0, {}, -1}};
    p.loss = loss;
    piece(i, w, t);
    Instruction run = instruction(Code::compute, {ids, table, target}, {loss_part}),
                back = instruction(Code::backward, {seed}, {-1, dtable_part, -1});
    run.piece = back.piece = 0;
    run.keep = true;
    run.statement = 0;
    p.segments = {
        {"f",
         Phase::forward,
         0,
         {1},
         {instruction(Code::load, {}, {ids}), instruction(Code::load, {}, {target}), run,
          instruction(Code::accumulate, {loss_part}, {loss_sum})}},
        {"b",
         Phase::backward,
         0,
         {1},
         {instruction(Code::seed, {}, {seed}), back, instruction(Code::accumulate, {dtable_part}, {dtable_sum})}},
        {"update",
         Phase::update,
         0,
         {},
         {all_reduce(loss_sum, loss), instruction(Code::wait, {}, {loss}), all_reduce(dtable_sum, dtable),
          instruction(Code::wait, {}, {dtable}), instruction(Code::update, {table, dtable}, {table})}}};
    p.classes = {{"all", {0, {}}, {}, {{2, {{forward, {0}, {1}}, {backward, {0}, {1}}}}, {1, {{last, {}, {}}}}}}};
  }

  void piece(TensorId i, TensorId w, TensorId t) {
    Piece piece;
    piece.slots = {{i, rows}, {w, whole}, {t, rows}};
    piece.leaves = 3;
    piece.gradient = true;
    const ClassId batch = g.tensors[static_cast<std::size_t>(i)].dims[0][0];
    const std::vector<std::vector<int>> inputs = {{1, 0}, {3, 1}, {4}, {4, 2}, {5, 6}, {7}};
    for (OpId o = 0; o < 6; ++o) {
      const Op& op = g.ops[static_cast<std::size_t>(o)];
      const int f = factor_with(g, op, batch);
      piece.ops.push_back({o,
                           inputs[static_cast<std::size_t>(o)],
                           static_cast<int>(piece.slots.size()),
                           {{mb, f, 0, Origin::statement, 0}, {data, f, 0, Origin::statement, 0}}});
      piece.slots.push_back({op.outputs[0].tensor, o == 5 ? partial_both : rows});
    }
    piece.outputs = {8};
    p.pieces = {piece};
  }

  std::string failure() const {
    const VerifyReport r = verify(g, p);
    CHECK(r.verdict == Verdict::different);
    return r.failures.empty() ? "none" : to_string(r.failures.front());
  }
  std::vector<Instruction>& code(int segment) { return p.segments[static_cast<std::size_t>(segment)].instructions; }
};

}  // namespace

TEST_CASE("a program written by hand is equivalent") {
  const Case c;
  const VerifyReport r = verify(c.g, c.p);
  for (const Failure& f : r.failures) UNSCOPED_INFO(to_string(f));
  CHECK(r.verdict == Verdict::equivalent);
}

TEST_CASE("an update from a gradient that was not reduced") {
  Case c;
  c.code(last)[4].in[1] = dtable_sum;
  CHECK(c.failure() ==
        "update: update in update, embed.weight[0:24, 0:16] on all (devices 0-1): expected [vocab, hidden], got [vocab, "
        "hidden] partial(data) (line 2: trans * batch by mb, data)");
}

TEST_CASE("a gradient that is added twice") {
  Case c;
  c.p.values.push_back(c.p.values[dtable]);
  c.code(last).insert(c.code(last).begin() + 4, instruction(Code::add, {dtable, dtable}, {10}));
  c.code(last)[5].in[1] = 10;
  CHECK(c.failure() ==
        "gradient: add in update, embed.weight on all (devices 0-1): expected every contribution to the gradient once, "
        "got one is added twice");
}

TEST_CASE("a reduction before the last micro-batch") {
  Case c;
  auto& steps = c.p.classes[0].loops;
  steps = {{1, {{forward, {0}, {0}}, {backward, {0}, {0}}, {last, {}, {}}, {forward, {1}, {0}}, {backward, {1}, {0}}}}};
  CHECK(c.failure() ==
        "order: all_reduce in update, loss.mean8 on all (devices 0-1): expected a value that is there when it is read, "
        "got not all indices have been added yet");
}

TEST_CASE("backward before forward") {
  Case c;
  std::swap(c.p.classes[0].loops[0].body[0], c.p.classes[0].loops[0].body[1]);
  CHECK(c.failure() ==
        "order: backward in b at mb=0 on all (devices 0-1): expected a value that is there when it is read, got what "
        "piece 0 keeps for its backward: it is made later or never");
}

TEST_CASE("a micro-batch that is left out") {
  Case c;
  c.p.classes[0].loops[0].count = 1;
  CHECK(c.failure() ==
        "order: f on all on all (devices 0-1): expected every segment once at every index, got it is not run at some "
        "index");
}

TEST_CASE("an operator bound to the wrong axis") {
  Case c;
  c.p.pieces[0].ops[1].bindings.pop_back();
  CHECK(c.failure() ==
        "layout: head:linear#0, embed.embedding3[4:8, 0:6, 0:16] on all (devices 0-1): expected [batch/mb, seq, hidden], "
        "got [batch/mb,data, seq, hidden]; device 0 has [4:6, 0:6, 0:16] (line 2: trans * batch by mb, data)");
}

TEST_CASE("a failure says what the first device that has it wrong should have, and what it has") {
  Case c;
  c.p.pieces[0].ops[1].bindings.pop_back();
  const VerifyReport wrong = verify(c.g, c.p);
  REQUIRE_FALSE(wrong.failures.empty());
  CHECK(wrong.failures[0].device == 0);
  CHECK(wrong.failures[0].wanted == Box{{{4, 8}}, {{0, 6}}, {{0, 16}}});
  CHECK(wrong.failures[0].there == Box{{{4, 6}}, {{0, 6}}, {{0, 16}}});
  Case part;  // of a value: all of it is wrong
  part.code(last)[4].in[1] = dtable_sum;
  const VerifyReport sum = verify(part.g, part.p);
  REQUIRE_FALSE(sum.failures.empty());
  CHECK(sum.failures[0].device == 0);
  CHECK(sum.failures[0].wanted == Box{{{0, 24}}, {{0, 16}}});
  CHECK(sum.failures[0].there == sum.failures[0].wanted);
  Case never;
  never.code(last).pop_back();
  const VerifyReport order = verify(never.g, never.p);
  REQUIRE_FALSE(order.failures.empty());
  CHECK(order.failures[0].device == -1);
  CHECK(order.failures[0].wanted.empty());
}

TEST_CASE("a frozen factor") {
  Case c;
  Op& lse = c.g.ops[2];
  for (Factor& f : lse.factors)
    if (f.kind == FactorKind::merge) f.kind = FactorKind::frozen, f.reason = "no partial log-sum-exp";
  for (Binding& b : c.p.pieces[0].ops[2].bindings)
    b.factor = static_cast<int>(std::find_if(lse.factors.begin(), lse.factors.end(),
                                             [](const Factor& f) { return f.kind == FactorKind::frozen; }) -
                                lse.factors.begin());
  CHECK(c.failure() ==
        "layout: loss:lse#0 on all (devices 0-1): expected a factor that can be split, got 'vocab' is frozen (no "
        "partial log-sum-exp) (line 2: trans * batch by mb, data)");
}

TEST_CASE("a parameter that is never updated") {
  Case c;
  c.code(last).pop_back();
  CHECK(c.failure() ==
        "update: update, embed.weight on all (devices 0-1): expected an update of the stored parameter, got none");
}

TEST_CASE("a loss that is not reduced") {
  Case c;
  c.p.loss = loss_sum;
  CHECK(c.failure() ==
        "loss: loss, loss.mean8 on all (devices 0-1): expected [], got [] partial(data) "
        "(line 2: trans * batch by mb, data)");
}

TEST_CASE("adding micro-batches of a value that is the same in each") {
  Case c;
  c.p.values[dtable_part].layout = partial_data;
  const VerifyReport r = verify(c.g, c.p);
  CHECK(r.verdict == Verdict::different);
  REQUIRE(r.failure_count >= 2);  // it is not what backward gives, and it cannot be added
  CHECK(to_string(r.failures[0]) ==
        "communication: accumulate in b, embed.weight on all (devices 0-1): expected a value that is a partial sum "
        "over the indices, "
        "got it is neither partial nor split over all of mb: adding counts it several times");
}

namespace {

// The gradient goes from the devices to themselves before it is applied.
struct Mailed : Case {
  Mailed() {
    p.values.push_back(p.values[dtable]);
    p.transfers = {{{dtable}, {arrived}}};
    auto& list = code(last);
    Instruction send = instruction(Code::send, {dtable}, {}), receive = instruction(Code::receive, {}, {arrived});
    send.transfer = receive.transfer = 0;
    list.insert(list.begin() + 4, {send, receive, instruction(Code::wait, {}, {arrived})});
    list.back().in[1] = arrived;
  }
  static constexpr ProgramValueId arrived = 10;
};

}  // namespace

TEST_CASE("a device sends itself something") {
  const Mailed c;
  const VerifyReport r = verify(c.g, c.p);
  for (const Failure& f : r.failures) UNSCOPED_INFO(to_string(f));
  CHECK(r.verdict == Verdict::equivalent);
}

TEST_CASE("a device receives what it sends itself before it sends it") {
  Mailed c;
  std::swap(c.code(last)[4], c.code(last)[5]);
  CHECK(c.failure() ==
        "deadlock: receive in update, embed.weight on all (devices 0-1): expected every device reaches the end of the "
        "step, got all waits at receive in update for its own message");
}

TEST_CASE("two backwards of one run read the same gradients") {
  Case c;
  c.p.values.push_back(c.p.values[seed]);
  c.p.values.push_back(c.p.values[dtable_part]);
  Instruction other = c.code(backward)[1];
  other.in = {10};
  other.out = {-1, 11, -1};
  c.code(backward).insert(c.code(backward).begin() + 1, {instruction(Code::seed, {}, {10}), other});
  CHECK(c.failure() ==
        "gradient: backward in b on all (devices 0-1): expected the gradients that the other backward of this piece "
        "reads, got others");
}
