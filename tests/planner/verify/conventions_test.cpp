// What who runs a Program and who checks it could read in different ways: lifetimes of what is made again, nested digits,
// devices in two classes, axes of very many indices.
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "engine/program/structure.h"
#include "planner/verify/algebra.h"
#include "planner/verify/verify.h"
#include "programs.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

Materialized made(const std::string& text, int layers = 2) {
  auto m = tiny::materialized({"a.plan", text}, layers);
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  return std::move(*m.value);
}

// What verify() says first.
std::string first_failure(const Graph& g, const Program& p) {
  const VerifyReport r = verify(g, p);
  return std::string(to_string(r.verdict)) + (r.failures.empty() ? "" : "; " + to_string(r.failures.front()));
}

Instruction free_of(ProgramValueId v) {
  Instruction i;
  i.code = Code::free;
  i.in = {v};
  return i;
}

}  // namespace

TEST_CASE("a value is made again when it has been freed, not before") {
  Materialized m = made("devices 2 as data=2\ntrans * batch by data\nuse zero(3, *, data)\n");
  CHECK(first_failure(*m.graph, m.program) == "equivalent");
  Program& p = m.program;
  ProgramValueId again = -1;
  for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p.values.size()) && again < 0; ++v)
    if (p.values[static_cast<std::size_t>(v)].refills >= 0) again = v;
  REQUIRE(again >= 0);
  const ProgramValueId original = p.values[static_cast<std::size_t>(again)].refills;
  for (Segment& s : p.segments)
    for (Instruction& i : s.instructions)
      if (i.code == Code::free) std::erase(i.in, original);
  for (Segment& s : p.segments)
    for (std::size_t k = 0; k < s.instructions.size(); ++k)
      if (s.instructions[k].code == Code::wait && s.instructions[k].out == std::vector<ProgramValueId>{again}) {
        s.instructions.insert(s.instructions.begin() + static_cast<std::ptrdiff_t>(k) + 1, free_of(original));
        break;
      }
  const std::string said = first_failure(*m.graph, p);
  INFO(said);
  CHECK(said.starts_with("different; order: all_gather in b(all)"));
  CHECK(
      said.find("expected a value that is made again after it was freed, got it, or what holds its contents again, is "
                "there still") != std::string::npos);
}

TEST_CASE("digits one after the other are one where they cut the same blocks") {
  Materialized m = made("devices 8 as tensor=8\n");
  const Graph& g = *m.graph;
  const TensorId table = g.ops[0].inputs[0].tensor;  // [vocab, hidden]
  Graph sized = g;
  const ClassId vocab = g.tensors[static_cast<std::size_t>(table)].dims[0][0];
  const auto same = [&](std::int64_t size, std::vector<Digit> two, std::vector<Digit> one) {
    sized.classes[static_cast<std::size_t>(vocab)].size = size;
    const auto layout = [](std::vector<Digit> d) { return Layout{{{0, 0, std::move(d)}}, {}}; };
    return verification::joined(sized, table, layout(std::move(two))) ==
           verification::joined(sized, table, layout(std::move(one)));
  };
  CHECK(same(24, {{0, 2, 4}, {0, 4, 1}}, {{0, 8, 1}}));
  CHECK_FALSE(same(12, {{0, 2, 4}, {0, 4, 1}}, {{0, 8, 1}}));
  CHECK_FALSE(same(24, {{0, 4, 1}, {0, 2, 4}}, {{0, 8, 1}}));
  // Against the blocks themselves, of every small size.
  for (std::int64_t size = 0; size <= 40; ++size)
    for (const auto& [major, minor] : std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 4}, {4, 2}}) {
      const std::vector<Digit> two = {{0, major, minor}, {0, minor, 1}}, one = {{0, 8, 1}};
      bool equal = true;
      for (std::int64_t c = 0; c < 8; ++c) equal = equal && block_of(size, two, {c}) == block_of(size, one, {c});
      INFO(size << " into " << major << " and " << minor);
      CHECK(same(size, two, one) == equal);
    }
}

TEST_CASE("a gradient in other blocks than its parameter is not applied") {
  Materialized m = made("devices 8 as tensor=8\ntrans update(embed) dim0 by tensor\n");
  CHECK(first_failure(*m.graph, m.program) == "equivalent");
  Program& p = m.program;
  Graph sized = *m.graph;  // 12 words for 8 devices
  const TensorId table = sized.ops[0].inputs[0].tensor;
  sized.classes[static_cast<std::size_t>(sized.tensors[static_cast<std::size_t>(table)].dims[0][0])].size = 12;
  CHECK(first_failure(sized, p) == "equivalent");
  for (Segment& s : p.segments)
    for (Instruction& i : s.instructions) {
      if (i.code != Code::update || p.values[static_cast<std::size_t>(i.in[0])].tensor != table) continue;
      ProgramValue& gradient = p.values[static_cast<std::size_t>(i.in[1])];
      Layout nested = p.layouts[static_cast<std::size_t>(gradient.layout)];
      nested.splits.at(0).digits = {{0, 2, 4}, {0, 4, 1}};
      gradient.layout = static_cast<LayoutId>(p.layouts.size());
      p.layouts.push_back(nested);
    }
  CHECK(first_failure(*m.graph, p) == "equivalent");  // 24 words: the same blocks
  const VerifyReport r = verify(sized, p);
  REQUIRE(r.verdict == Verdict::different);
  CHECK(std::any_of(r.failures.begin(), r.failures.end(),
                    [](const Failure& f) { return f.kind == FailureKind::update && f.tensor == "embed.weight"; }));
}

TEST_CASE("a device is in one class") {
  Materialized m = made("devices 2 as pipe=2\nlet S = cut layers.* into |pipe|\nassign S[i] to pipe=i\n");
  Program& p = m.program;
  REQUIRE(p.classes.size() == 2);
  p.classes[1].devices = {1, 0};
  const auto problems = check_structure(p, *m.graph);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].why == "classes[1]: device 0 is in two classes");
  CHECK(verify(*m.graph, p).verdict == Verdict::unknown);
  p.classes[1].devices = {1};
  p.classes[0].place = p.classes[1].place;  // both at pipe=1
  CHECK(verify(*m.graph, p).verdict == Verdict::unknown);
  p.classes[0].devices = {0};
  p.classes[1].devices = {};
  p.classes[1].place = {0, {}};
  CHECK(verify(*m.graph, p).verdict == Verdict::unknown);
}

TEST_CASE("a device in no class") {
  Materialized m = made("devices 2 as data=2\ntrans * batch by data\n");
  m.program.classes[0].devices = {0};
  CHECK(first_failure(*m.graph, m.program) ==
        "different; order: device classes on all (devices 0-1): expected every device of a place in a class that is "
        "wholly on it, got some are not");
}

TEST_CASE("a divided axis of billions of indices is not written out") {
  Materialized m = made(
      "devices 4 as pipe=2 data=2\naxis mb=4\nlet S = cut layers.* into |pipe|\n"
      "trans * batch by mb, data\nassign S[i][mb=m] to pipe=i where m % 2 = 0\n"
      "assign S[i][mb=m] to pipe=1-i where m % 2 = 1\n");
  CHECK(first_failure(*m.graph, m.program) == "equivalent");
  for (const std::int64_t size :
       {std::int64_t{1} << 24, std::int64_t{1} << 28, std::int64_t{std::numeric_limits<int>::max()} - 1}) {
    Program p = m.program;
    bool divided = false;
    for (Axis& a : p.axes)
      if (a.name.starts_with("mb")) a.size = size, divided = divided || a.of >= 0;
    REQUIRE(divided);
    CHECK(verify(*m.graph, p).verdict != Verdict::equivalent);
  }
}

TEST_CASE("whether a turned digit names every block once, told by the primes of its size") {
  Program p;
  p.axes = {{"d", 1, 0}, {"ring", 1, -1}};
  p.grids = {{"all", {0}, {1}, 0, {}}};
  for (std::int64_t size = 1; size <= 12; ++size)
    for (std::int64_t others = 1; others <= 13; ++others)
      for (std::int64_t step = 0; step < size; ++step)
        for (std::int64_t cross = 0; cross < size; ++cross) {
          p.axes[0].size = others;
          p.axes[1].size = size;
          bool each = true;
          for (std::int64_t c = 0; c < others; ++c) each = each && std::gcd(step + cross * c, size) == 1;
          const bool said = is_bijection(p, {1, size, 1, {}, 0, step, 0, 0, cross});
          if (said != each) FAIL(size << " " << others << " " << step << " " << cross);
        }
  const std::int64_t large = std::int64_t{std::numeric_limits<int>::max()} - 1;  // 2 * 3^2 * 7 * 11 * 31 * 151 * 331
  p.axes[0].size = p.axes[1].size = large;
  CHECK_FALSE(is_bijection(p, {1, large, 1, {}, 0, 1, 0, 0, 2}));
  CHECK(is_bijection(p, {1, large, 1, {}, 0, 1, 0, 0, large / 3}));
  CHECK_FALSE(is_home(p, {{0, large, 1}}, {1, large, 1, {}, 0, 1, 2, 0, large / 3}));
}

TEST_CASE("whether the devices along an axis read different blocks, told by the divisors of the size") {
  Program p;
  p.axes = {{"d", 1, 0}, {"ring", 1, -1}};
  p.grids = {{"all", {0}, {1}, 0, {}}};
  for (std::int64_t size = 2; size <= 12; ++size)
    for (std::int64_t turn = 0; turn < size; ++turn)
      for (std::int64_t cross = 0; cross < size; ++cross) {
        p.axes[0].size = p.axes[1].size = size;
        const Digit turned{1, size, 1, {}, 0, 1, turn, 0, cross};
        bool each = is_bijection(p, turned);
        for (std::int64_t i = 0; i < size; ++i) each = each && std::gcd(turn + cross * i, size) == 1;
        if (is_home(p, {{0, size, 1}}, turned) != each) FAIL(size << " " << turn << " " << cross);
      }
}

// amax keeps its operand, which is gathered again for its backward, the last one; a result that the other reader keeps is
// no view of it.
TEST_CASE("what backward has saved may be a view of an operand only where its operator makes views") {
  const auto graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
      "input %0 x: float32[8,16]\nparameter %1 w: float32[16,16]\n"
      ":linear#0 %2: float32[8,16] = aten::linear(input=%0, weight=%1, bias=none)\n"
      ":amax#0 %3: float32[16] = aten::amax(self=%2, dim=[0], keepdim=false)\n"
      ":add#0 %4: float32[8,16] = aten::add.Tensor(self=%2, other=%3, alpha=1)\n"
      ":softmax#0 %5: float32[8,16] = aten::softmax.int(self=%2, dim=0, dtype=none)\n"
      ":add#1 %6: float32[8,16] = aten::add.Tensor(self=%4, other=%5, alpha=1)\n"
      ":pow#0 %7: float32[8,16] = aten::pow.Tensor_Scalar(self=%6, exponent=2)\n"
      ":mean#0 %8: float32[] = aten::mean.dim(self=%7, dim=[0, 1], keepdim=false, dtype=none)\nloss %8\n")));
  REQUIRE(graph.value);
  const auto plan = plan::parse_plan("devices 2 as data=2\ntrans * batch by data\n", "a.plan");
  REQUIRE(plan.ok());
  PresetRequest request;
  request.devices = 2;
  const Result<Materialized> m = materialize(*graph, *plan.value, *read_cluster("local", request));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  CHECK(first_failure(*m->graph, m->program) == "equivalent");
}

TEST_CASE("what a buffer becomes is written once, also where each micro-batch computes it") {
  Model model = testing::read_model_text(
      "input %0 x: float32[8,4]\nparameter %1 w: float32[4,4]\nbuffer %2 v: float32[4]\n"
      ":mul#0 %3: float32[4,4] = aten::mul.Tensor(self=%1, other=%2)\n"
      ":sum#0 %4: float32[4] = aten::sum.dim_IntList(self=%3, dim=[0], keepdim=false, dtype=none)\n"
      ":linear#0 %5: float32[8,4] = aten::linear(input=%0, weight=%1, bias=none)\n"
      ":mul#1 %6: float32[8,4] = aten::mul.Tensor(self=%5, other=%4)\n"
      ":pow#0 %7: float32[8,4] = aten::pow.Tensor_Scalar(self=%6, exponent=2)\n"
      ":mean#0 %8: float32[] = aten::mean.dim(self=%7, dim=[0, 1], keepdim=false, dtype=none)\nloss %8\n");
  model.mutations = {{2, 4}};
  const auto graph = make_graph(std::make_shared<const Model>(std::move(model)));
  REQUIRE(graph.value);
  const auto plan = plan::parse_plan("devices 2 as data=2\naxis mb=2\ntrans * batch by mb, data\n", "a.plan");
  REQUIRE(plan.ok());
  PresetRequest request;
  request.devices = 2;
  Result<Materialized> m = materialize(*graph, *plan.value, *read_cluster("local", request));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  CHECK(first_failure(*m->graph, m->program) == "equivalent");
  int writes = 0;
  for (Segment& s : m->program.segments)
    for (Instruction& i : s.instructions)
      if (i.code == Code::write) ++writes, i.last = false;
  CHECK(writes == 1);
  CHECK(first_failure(*m->graph, m->program).find("one write a step") != std::string::npos);
}
