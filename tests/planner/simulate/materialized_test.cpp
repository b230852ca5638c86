// Simulations of materialized Programs: what must hold for any plan, and what is known of some.
#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/cost/hidden_blocks.h"
#include "planner/simulate/alive.h"
#include "planner/simulate/critical_path.h"
#include "planner/simulate/simulate.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

struct Run {
  Materialized made;
  Simulation simulation;
};

SimulationOptions everything() {
  SimulationOptions options;
  options.alive = true;
  options.gaps = true;
  return options;
}

Run run(const std::string& text, TransformerSizes sizes = {.batch = 32, .layers = 8},
        const SimulationOptions& options = everything()) {
  const Result<Cluster> cluster = read_cluster("dgx-h100x2");
  Result<Materialized> made = materialize(transformer(sizes), *plan::parse_plan(text), *cluster);
  INFO(text << to_string(made.diagnostics));
  REQUIRE(made.ok());
  const Result<Simulation> s = simulate(*made->graph, made->program, *cluster, options);
  INFO(to_string(s.diagnostics));
  REQUIRE(s.ok());
  return {std::move(*made), *s};
}

const std::string kPipe =
    "devices 4 as pipe=4\naxis mb=16\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb\nassign S[i] to pipe=i\n";

std::int64_t activations(const Run& r, std::size_t c) { return r.simulation.classes[c].peak[MemoryKind::activations]; }

}  // namespace

TEST_CASE("every plan: parts sum to the step, and all but the loss is freed") {
  for (const std::string& text :
       {std::string("devices 1\n"), std::string("devices 4 as data=4\naxis mb=4\ntrans * batch by mb, data\n"),
        std::string("devices 4 as data=4\ntrans * batch by data\nuse zero(3, layers[*], data)\n"),
        std::string(
            "devices 4 as tensor=4\ntrans layers[*].mlp.up out by tensor\ntrans layers[*].mlp.down in by tensor\n"),
        std::string("devices 1\ntrans layers[*] recompute\n"), kPipe + "use 1f1b(S)\n", kPipe + "use gpipe(S)\n"}) {
    const Run r = run(text);
    INFO(text);
    for (const ClassTimeline& c : r.simulation.classes) {
      CHECK(c.compute + c.idle.sum() == r.simulation.step_ns);
      CHECK(c.memory.back().bytes - c.memory.front().bytes <= 12);  // the loss and its count over micro-batches stay
      CHECK(c.peak.bytes() >= c.memory.front().bytes);
      CHECK(c.sources[static_cast<std::size_t>(FigureSource::modelled)] == c.compute);
      Memory alive;
      for (const AliveBytes& a : c.alive) {
        alive[a.kind] += a.bytes;
        CHECK(a.bytes > 0);
      }
      CHECK(alive == c.peak);
    }
  }
}

TEST_CASE("messages of one stream are recorded one after the other") {
  const std::string both =
      "devices 16 as pipe=4 data=4\naxis mb=4\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb, data\nassign S[i] to pipe=i\n";
  for (const std::string& text : {both + "use 1f1b(S)\n", both + "use gpipe(S)\n", both + "use zero(2, layers[*], data)\nuse 1f1b(S)\n"}) {
    const Run r = run(text, {.batch = 64, .layers = 8});
    INFO(text);
    std::size_t messages = 0;
    for (const ClassTimeline& c : r.simulation.classes) {
      std::map<Stream, std::vector<std::pair<Nanoseconds, Nanoseconds>>> by_stream;
      for (const InstructionBlock& b : c.communication) by_stream[b.stream].emplace_back(b.start, b.end);
      for (auto& [stream, blocks] : by_stream) {
        std::sort(blocks.begin(), blocks.end());
        for (std::size_t k = 1; k < blocks.size(); ++k) CHECK(blocks[k].first >= blocks[k - 1].second);
        messages += blocks.size();
      }
    }
    CHECK(messages > 20);
  }
}

TEST_CASE("the last stage, which begins the gradients of the loss, waits for its first data in warm-up") {
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    const Run r = run(kPipe + "use " + schedule + "(S)\n");
    INFO(schedule);
    CHECK(r.simulation.classes.back().idle.warm_up > 0);
  }
}

TEST_CASE("work that is played at once gives what its steps give one by one") {
  SimulationOptions at_once = everything();
  at_once.detail_limit = 0;
  const std::string data = "devices 4 as data=4\naxis mb=4\ntrans * batch by mb, data\n";
  for (const std::string& text :
       {std::string("devices 1\n"), data, data + "use zero(3, layers[*], data)\n", data + "trans layers[*] recompute\n",
        std::string("devices 1\naxis mb=4\ntrans * batch by mb\ntrans layers[*] offload\n"), kPipe + "use 1f1b(S)\n",
        kPipe + "use gpipe(S)\n", kPipe + "trans S[0] recompute\nuse 1f1b(S)\n"}) {
    const Run one_by_one = run(text), fast = run(text, {.batch = 32, .layers = 8}, at_once);
    INFO(text);
    CHECK(fast.simulation.step_ns == one_by_one.simulation.step_ns);
    REQUIRE(fast.simulation.classes.size() == one_by_one.simulation.classes.size());
    for (std::size_t c = 0; c < fast.simulation.classes.size(); ++c) {
      ClassTimeline a = fast.simulation.classes[c], b = one_by_one.simulation.classes[c];
      CHECK(a.instructions.empty());
      for (ClassTimeline* t : {&a, &b}) t->gaps.clear(), t->memory.clear(), t->communication.clear(), t->instructions.clear();
      CHECK(a == b);
      const auto most = [](const std::vector<MemoryPoint>& m) {
        return std::max_element(m.begin(), m.end(), [](const auto& x, const auto& y) { return x.bytes < y.bytes; })->bytes;
      };
      CHECK(most(fast.simulation.classes[c].memory) == fast.simulation.classes[c].peak.bytes());
      CHECK(fast.simulation.classes[c].memory.back() == one_by_one.simulation.classes[c].memory.back());
    }
  }
}

TEST_CASE("gaps sum to the idle time of each cause, and nothing computes in them") {
  for (const std::string& text :
       {std::string("devices 4 as data=4\naxis mb=4\ntrans * batch by mb, data\n"),
        std::string("devices 4 as data=4\ntrans * batch by data\nuse zero(3, layers[*], data)\n"), kPipe + "use 1f1b(S)\n",
        kPipe + "use gpipe(S)\n", kPipe + "trans S[0] recompute\nuse 1f1b(S)\n"}) {
    const Run r = run(text);
    INFO(text);
    for (const ClassTimeline& c : r.simulation.classes) {
      Idle sum;
      for (const Gap& g : c.gaps)
        (g.cause == IdleCause::warm_up         ? sum.warm_up
         : g.cause == IdleCause::cool_down     ? sum.cool_down
         : g.cause == IdleCause::imbalance     ? sum.imbalance
         : g.cause == IdleCause::data          ? sum.data
         : g.cause == IdleCause::communication ? sum.communication
                                               : sum.memory) += g.end - g.start;
      CHECK(sum == c.idle);
      std::vector<std::pair<Nanoseconds, Nanoseconds>> all;
      for (const Gap& g : c.gaps) all.emplace_back(g.start, g.end);
      for (const InstructionBlock& b : c.instructions) all.emplace_back(b.start, b.end);
      std::sort(all.begin(), all.end());
      for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1].second <= all[i].first);
      CHECK(all.back().second == r.simulation.step_ns);
    }
    const std::vector<CriticalPart> path = critical_path(r.simulation);
    REQUIRE_FALSE(path.empty());
    CHECK(path.front().start == 0);
    CHECK(path.back().end == r.simulation.step_ns);
    for (std::size_t i = 1; i < path.size(); ++i) CHECK(path[i - 1].end == path[i].start);
    for (const CriticalPart& p : path) {  // what is on it is at work
      if (p.stream != Stream::compute) continue;
      for (const Gap& g : r.simulation.classes[static_cast<std::size_t>(p.device_class)].gaps)
        CHECK((g.end <= p.start || g.start >= p.end));
    }
  }
}

namespace {

// By value: whether the Program makes it and never frees it: it goes with the step.
std::vector<bool> never_freed(const Program& p) {
  std::vector<bool> made(p.values.size(), false), freed(p.values.size(), false);
  for (const Segment& s : p.segments)
    for (const Instruction& i : s.instructions)
      for (const ProgramValueId v : i.code == Code::free ? i.in : i.out)
        if (v >= 0) (i.code == Code::free ? freed : made)[static_cast<std::size_t>(v)] = true;
  for (std::size_t v = 0; v < p.values.size(); ++v)
    if (freed[v] || p.values[v].role == Role::home || p.values[v].role == Role::state) made[v] = false;
  return made;
}

// Bytes of it on a class' devices.
std::int64_t never_freed(const Run& r, std::size_t c) {
  const Program& p = r.made.program;
  const std::vector<bool> left = never_freed(p);
  const int member = devices(p, p.classes[c]).front();
  std::int64_t out = 0;
  for (std::size_t v = 0; v < p.values.size(); ++v) {
    const ProgramValue& value = p.values[v];
    if (!left[v]) continue;
    if (point_of(p, p.places[static_cast<std::size_t>(value.place)], member).empty()) continue;
    std::int64_t instances = 1;
    for (const AxisId a : value.indexed) instances *= p.axes[static_cast<std::size_t>(a)].size;
    out += instances * value_bytes(*r.made.graph, p, static_cast<ProgramValueId>(v)).count;
  }
  return out;
}

}  // namespace

TEST_CASE("a step leaves what its Program never frees, and nothing else") {
  const std::string ring = "devices 2 as cp=2\ntrans * seq by cp\nuse ring(layers[*].attn, cp)\n",
                    zigzag = "devices 2 as cp=2\nuse zigzag(layers[*].attn, cp)\n",
                    batches = "devices 1\naxis mb=4\ntrans * batch by mb\nlet L = layers[*]\n";
  for (const std::string& text :
       {ring, zigzag, ring + "trans layers[*] offload\n", zigzag + "trans layers[*] offload\n",
        zigzag + "trans layers[*].attn offload\n", zigzag + "trans layers[*] recompute\n",
        batches + "trans L offload\norder load(b(L[i-1]))[m] < b(L[i])[m]\n", batches + "trans L[2] grad_split\n",
        kPipe + "let L = layers[*]\ntrans L offload\nuse 1f1b(S)\n", kPipe + "use zb_h1(S)\n",
        kPipe + "use zb_h2(S)\n"}) {
    const Run r = run(text, {.batch = 32, .seq = 64, .layers = 4});
    for (std::size_t c = 0; c < r.simulation.classes.size(); ++c) {
      INFO(text << c);
      const auto& memory = r.simulation.classes[c].memory;
      CHECK(memory.back().bytes - memory.front().bytes == never_freed(r, c));
    }
  }
}

TEST_CASE("where steps overlap, what a step never frees goes with it") {
  const std::string stages =
      "axis mb=4\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb, data\nassign S[i] to pipe=i\n";
  for (const std::string zero : {"1", "2"}) {
    const Run r = run("devices 4 as pipe=2 data=2\n" + stages + "use zero(" + zero + ", *, data)\nuse pipedream(S)\n",
                      {.batch = 32, .layers = 4});
    const Program& p = r.made.program;
    const std::vector<bool> left = never_freed(p);
    for (std::size_t c = 0; c < 2; ++c) {
      int gathered = 0;  // parameters
      for (const AliveBytes& a : r.simulation.classes[c].alive) {
        if (a.of.kind != Owner::Kind::value || a.kind != MemoryKind::communication || !left[static_cast<std::size_t>(a.of.id)])
          continue;
        INFO("ZeRO-" << zero << ", stage " << c << ": " << owner_name(*r.made.graph, p, a.of));
        CHECK(a.bytes == (c == 0 ? 2 : 1) * value_bytes(*r.made.graph, p, a.of.id).count);  // for the steps under way
        ++gathered;
      }
      CHECK(gathered > 10);
    }
  }
}

TEST_CASE("what loops inside a task read ends with the task") {
  const Run r =
      run("devices 2 as cp=2\ntrans * seq by cp\nuse ring(layers[*].attn, cp)\n", {.batch = 2, .seq = 64, .layers = 2});
  CHECK(never_freed(r, 0) <= 12);  // the loss
}

TEST_CASE("a peak is told by what is alive, layers together") {
  const Run r = run(kPipe + "use 1f1b(S)\n");
  const ClassTimeline& first = r.simulation.classes[0];
  const std::vector<AliveGroup> groups = alive_groups(*r.made.graph, r.made.program, first);
  REQUIRE(!groups.empty());
  CHECK(std::is_sorted(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; }));
  std::int64_t sum = 0;
  for (const AliveGroup& g : groups) sum += g.bytes;
  CHECK(sum == first.peak.bytes());
  const auto count = [&](MemoryKind kind, const std::string& what) {
    const auto g = std::find_if(groups.begin(), groups.end(),
                                [&](const AliveGroup& a) { return a.kind == kind && a.what == what; });
    return g == groups.end() ? 0 : g->count;
  };
  CHECK(count(MemoryKind::weights, "layers.*.mlp.up.weight") == 2);  // of 8 layers on 4 stages
  CHECK(count(MemoryKind::optimizer, "layers.*.mlp.up.weight") == 2);
  CHECK(count(MemoryKind::weights, "wte.weight") == 1);
}

TEST_CASE("a stage in pieces keeps the order of its tasks, and holds no more for more micro-batches") {
  const auto stages = [](int micro_batches, const std::string& tensor) {
    const std::string n = std::to_string(micro_batches);
    return run("devices 4 as pipe=2 tensor=2\naxis mb=" + n + "\naxis c=2\nmodel batch=" + n +
               "\nlet S = cut layers[*] into |pipe|\nlet t = " + tensor +
               "\ntrans * batch by mb\ntrans S[0].mlp.up out by t\ntrans S[0].mlp.down in by t\n"
               "trans S[0].mlp recompute\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
  };
  const Run few = stages(4, "tensor, c"), many = stages(16, "tensor, c");
  CHECK(activations(many, 0) == activations(few, 0));
  for (const Segment& s : many.made.program.segments)
    if (s.phase == Phase::forward && s.free_axes.size() == 2) CHECK(s.name == "f(S[0])");
  // Pieces of a device's own shards: nothing is gathered, nor is more gradient kept than the shards'.
  const auto gathers = [](const Run& r) {
    std::int64_t count = 0;
    for (const Traffic& t : r.simulation.classes[0].traffic)
      if (t.kind == "all_gather") count += t.count;
    return count;
  };
  CHECK(gathers(many) == 0);
  CHECK(gathers(stages(16, "c, tensor")) > 0);
}

TEST_CASE("1F1B holds fewer activations than GPipe where stages follow, and its bubble is no larger") {
  const Run one = run(kPipe + "use 1f1b(S)\n"), all = run(kPipe + "use gpipe(S)\n");
  for (std::size_t c = 0; c < 4; ++c) CHECK(2 * activations(one, c) < activations(all, c));
  CHECK(one.simulation.bubble() <= all.simulation.bubble() + 0.01);
  CHECK(one.simulation.bubble() >= 3.0 / 19 - 0.01);  // equal stages would have as much
}

TEST_CASE("a ring holds less the more devices it has, and less than keys and values gathered") {
  const auto peak = [](int devices, bool ring) {
    const std::string n = std::to_string(devices);
    const std::string text =
        "devices " + n + " as cp=" + n + "\naxis ring=" + n + "\ntrans * seq by cp\n" +
        (ring ? "trans layers[*].attn:scaled_dot_product_attention keys by ring at (ring + cp) % " + n + "\n" : "");
    const Memory most = run(text, {.batch = 2, .seq = 512, .layers = 2}).simulation.classes[0].peak;
    return most[MemoryKind::activations] + most[MemoryKind::communication];
  };
  std::int64_t before = peak(2, true);
  for (const int devices : {4, 8, 16}) {
    const std::int64_t now = peak(devices, true);
    INFO(devices << " devices: " << now << " bytes, half as many: " << before);
    CHECK(now < 0.6 * static_cast<double>(before));
    CHECK(now < peak(devices, false));
    before = now;
  }
}

TEST_CASE("a zigzag holds less the more devices it has, and less than keys and values gathered") {
  const auto peak = [](int devices, bool ring) {
    const std::string n = std::to_string(devices);
    const std::string text = "devices " + n + " as cp=" + n + "\n" +
                             (ring ? "use zigzag(layers[*].attn, cp)\n"
                                   : "axis half=2\ntrans * seq by half, cp at half*(2*|cp|-1-cp) + (1-half)*cp\n");
    const Memory most = run(text, {.batch = 2, .seq = 512, .layers = 2}).simulation.classes[0].peak;
    return most[MemoryKind::activations] + most[MemoryKind::communication];
  };
  std::int64_t before = peak(2, true);
  for (const int devices : {4, 8}) {
    const std::int64_t now = peak(devices, true);
    INFO(devices << " devices: " << now << " bytes, half as many: " << before);
    CHECK(now < 0.6 * static_cast<double>(before));
    CHECK(now < peak(devices, false));
    before = now;
  }
}

TEST_CASE("blocks that a causal mask hides cost nothing where the busiest device does not see them") {
  const auto made = [](int devices, bool causal, bool zigzag) {
    const std::string text =
        "devices " + std::to_string(devices) + " as cp=" + std::to_string(devices) + "\n" +
        (zigzag ? "use zigzag(layers[*].attn, cp)\n" : "trans * seq by cp\nuse ring(layers[*].attn, cp)\n");
    return run(text, {.batch = 2, .seq = 4096, .hidden = 64, .layers = 1, .causal = causal});
  };
  const auto share = [](const Run& r) {
    for (const Piece& piece : r.made.program.pieces)
      for (const PieceOp& o : piece.ops)
        if (r.made.graph->node(o.op).kind == "scaled_dot_product_attention")
          return seen_share(*r.made.graph, r.made.program, o);
    FAIL("no attention");
    return 0.0;
  };
  for (const int n : {2, 4, 8}) {
    const Run ring = made(n, true, false), zigzag = made(n, true, true), all = made(n, false, true);
    INFO(n << " devices");
    CHECK(share(ring) == 1);  // of the last device
    CHECK(share(all) == 1);   // nothing is hidden
    CHECK(share(zigzag) == Approx((2.0 * n + 1) / (4.0 * n)));
    // Time follows: what is left of the difference are launches.
    const auto compute = [](const Run& r) { return static_cast<double>(r.simulation.classes[0].compute); };
    CHECK(compute(zigzag) < compute(all));
  }
}

TEST_CASE("without detail a slot's communication is one block for each stream") {
  const std::string text =
      "devices 4 as pipe=2 tensor=2\naxis mb=8\nlet S = cut layers[*] into |pipe|\n"
      "trans layers[*].mlp.up out by tensor\ntrans layers[*].mlp.down in by tensor\ntrans * batch by mb\nassign S[i] "
      "to pipe=i\nuse 1f1b(S)\n";
  const Run whole = run(text);
  SimulationOptions options;
  options.detail_limit = 0;
  const Result<Simulation> brief =
      simulate(*whole.made.graph, whole.made.program, *read_cluster("dgx-h100x2"), options);
  REQUIRE(brief.ok());
  CHECK(brief->step_ns == whole.simulation.step_ns);
  for (std::size_t c = 0; c < brief->classes.size(); ++c) {
    const ClassTimeline &a = brief->classes[c], &b = whole.simulation.classes[c];
    CHECK(a.instructions.empty());
    CHECK(a.slots == b.slots);
    CHECK(a.idle == b.idle);
    CHECK(a.traffic == b.traffic);
    CHECK(a.communication.size() <= 2 * a.slots.size());
    CHECK(a.communication.size() < b.communication.size());
    // Each single one lies in the block of its slot.
    for (const InstructionBlock& one : b.communication)
      CHECK(std::count_if(a.communication.begin(), a.communication.end(), [&](const InstructionBlock& block) {
              return block.slot == one.slot && block.stream == one.stream && block.instruction == -1 &&
                     block.start <= one.start && one.end <= block.end;
            }) == 1);
    CHECK_FALSE(label(whole.made.program, a, a.communication.front()).empty());
  }
}

TEST_CASE("a pipeline of token slices is idle the less the more slices there are") {
  const auto bubble = [](int slices) {
    const std::string text = "devices 4 as pipe=4\naxis mb=2\naxis tok=" + std::to_string(slices) +
                             "\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb\nassign S[i] to pipe=i\n"
                             "use terapipe(S, tok)\n";
    return run(text, {.batch = 8, .seq = 8192, .hidden = 1024, .layers = 4, .causal = true}).simulation.bubble();
  };
  double before = bubble(2);
  for (const int slices : {4, 8}) {
    const double now = bubble(slices);
    INFO(slices << " slices: " << now << ", half as many: " << before);
    CHECK(now < 0.75 * before);
    before = now;
  }
}

TEST_CASE("recomputing trades time for memory") {
  const Run keep = run("devices 1\n"), again = run("devices 1\ntrans layers[*] recompute\n");
  CHECK(activations(again, 0) < activations(keep, 0));
  CHECK(again.simulation.classes[0].compute > keep.simulation.classes[0].compute);
}

TEST_CASE("optimizer state that waits in host memory takes time and leaves room") {
  const std::string base = "devices 2 as data=2\naxis mb=2\nlet L = layers[*]\ntrans * batch by mb, data\n";
  const std::string chain = "order load(update(L[i+1])) < update(L[i]) < store(update(L[i])) < load(update(L[i+2]))\n";
  const Run there = run(base), away = run(base + "trans update(*) offload\n"),
            ahead = run(base + "trans update(*) offload\n" + chain),
            half = run(base + "trans update(L[0:4]) offload\n");
  const auto standing = [](const Run& r) { return r.simulation.classes[0].memory.front().bytes; };
  const std::int64_t state = there.simulation.classes[0].peak[MemoryKind::optimizer];
  CHECK(state > 0);
  CHECK(standing(there) - standing(away) == state);
  CHECK(standing(there) - standing(ahead) == state);
  CHECK(standing(half) > standing(away));
  CHECK(standing(half) < standing(there));
  for (const Run* r : {&away, &ahead, &half}) {
    const ClassTimeline& c = r->simulation.classes[0];
    CHECK(c.memory.back().bytes - standing(*r) <= 12);
    CHECK(c.peak.bytes() < there.simulation.classes[0].peak.bytes());
    CHECK(r->simulation.step_ns > there.simulation.step_ns);
    CHECK(c.host_peak.count > 0);
    CHECK(c.compute == there.simulation.classes[0].compute);  // copies are none of it
    CHECK(c.compute + c.idle.sum() == r->simulation.step_ns);
    for (std::size_t k = 1; k < c.memory.size(); ++k) CHECK(c.memory[k - 1].time <= c.memory[k].time);
  }
  CHECK(away.simulation.classes[0].host_peak.count == state);
  CHECK(half.simulation.classes[0].host_peak.count < state);
  CHECK(away.simulation.classes[0].idle.memory > 0);
}

TEST_CASE("what comes back from host memory in time costs no time") {
  const std::string base = "devices 1\naxis mb=2\nlet L = layers[*]\ntrans * batch by mb\n";
  TransformerSizes sizes;
  sizes.batch = 16, sizes.seq = 512, sizes.hidden = 2048, sizes.heads = sizes.kv_heads = 16, sizes.ffn = 8192;
  sizes.layers = 6;
  const Run there = run(base, sizes), away = run(base + "trans L offload\n", sizes),
            ahead = run(base + "trans L offload\norder load(b(L[i-1]))[m] < b(L[i])[m] < load(b(L[i-2]))[m]\n", sizes);
  const auto idle = [](const Run& r) { return r.simulation.classes[0].idle.memory; };
  const auto held = [](const Run& r) { return activations(r, 0); };
  CHECK(idle(there) == 0);
  CHECK(idle(away) > 0);  // the last piece's, which is needed at once
  CHECK(idle(away) < there.simulation.step_ns / 5);
  CHECK(idle(ahead) < idle(away));
  CHECK(held(away) < held(there) / 2);
  CHECK(held(ahead) < held(there) / 2);
  // A copy back begins after the copy there has ended, and copies of one direction do not overlap.
  for (const Run* r : {&away, &ahead}) {
    Nanoseconds there_until = 0, back_until = 0;
    for (const InstructionBlock& b : r->simulation.classes[0].communication) {
      if (b.stream == Stream::offload) CHECK(b.start >= std::exchange(there_until, b.end));
      if (b.stream == Stream::restore) CHECK(b.start >= std::exchange(back_until, b.end));
    }
    CHECK(there_until > 0);
    CHECK(back_until > 0);
  }
}

TEST_CASE("more than a device or its host has is said") {
  Cluster cluster = *read_cluster("dgx-h100x2");
  const auto said = [&] {
    const Result<Materialized> made = materialize(transformer({.batch = 32, .layers = 2}),
                                                  *plan::parse_plan("devices 1\ntrans layers[*] offload\n"), cluster);
    REQUIRE(made.ok());
    const Result<Simulation> s = simulate(*made->graph, made->program, cluster);
    REQUIRE(s.value);
    return to_string(s.diagnostics);
  };
  CHECK(said().empty());
  cluster.host.memory = {1 << 10};
  CHECK_THAT(said(), Catch::Matchers::Contains("of host memory; dgx-h100x2 has 1.00 KiB; offload less"));
  cluster.kinds[0].type.memory = {1 << 10};
  CHECK_THAT(said(), Catch::Matchers::Contains("of device memory; dgx-h100x2 has 1.00 KiB"));
}

TEST_CASE("a class on devices of two kinds is as slow as the slower and as small as the smaller") {
  Cluster both = *read_cluster("dgx-h100x1+dgx1-v100x1"), fast = both.of_kind(0), slow = both.of_kind(1);
  const Result<Materialized> made =
      materialize(transformer({.batch = 32, .layers = 2}),
                  *plan::parse_plan("devices 16 as data=16\ntrans * batch by data\nuse zero(1, *, data)\n"), both);
  INFO(to_string(made.diagnostics));
  REQUIRE(made.ok());
  const auto simulated = [&](const Cluster& c) { return *simulate(*made->graph, made->program, c); };
  const Simulation s = simulated(both);
  REQUIRE(s.classes.size() == 1);
  CHECK(s == simulated(slow));
  CHECK(s.classes[0].capacity == slow.device(0).memory);
  CHECK(simulated(fast).step_ns < s.step_ns);
  CHECK(simulated(fast).classes[0].capacity == fast.device(0).memory);
}

TEST_CASE("parameters that are read old are there once more for each update") {
  const std::string text = "devices 4 as data=4\ntrans * batch by data\ntrans update(*) dim0 by data\n";
  const Run newest = run(text), one = run(text + "relax fetch(*) lag 1\n"),
            three = run(text + "relax fetch(*) lag 3\n"),
            half = run(text + "let L = layers[*]\nrelax fetch(L[0:4]) lag 1\n");
  const auto standing = [](const Run& r) { return r.simulation.classes[0].memory.front().bytes; };
  const std::int64_t weights = newest.simulation.classes[0].peak[MemoryKind::weights];
  CHECK(weights > 0);
  CHECK(standing(one) - standing(newest) == weights);
  CHECK(standing(three) - standing(newest) == 3 * weights);
  CHECK(standing(half) > standing(newest));
  CHECK(standing(half) < standing(one));
  CHECK(one.simulation.classes[0].peak[MemoryKind::optimizer] ==
        newest.simulation.classes[0].peak[MemoryKind::optimizer]);
  CHECK(one.simulation.step_ns > newest.simulation.step_ns);  // an update copies the version before
}

TEST_CASE("data parallel reduces each gradient once a step, sharded optimizer state shrinks") {
  const Run data = run("devices 4 as data=4\naxis mb=4\ntrans * batch by mb, data\n");
  std::int64_t trained = 0;
  for (const Parameter& p : data.made.graph->parameters) trained += p.trained ? 1 : 0;
  std::int64_t reduced = 0;
  for (const Segment& s : data.made.program.segments)
    for (const Instruction& i : s.instructions)
      if (i.code == Code::issue && i.move.kind == MoveKind::all_reduce &&
          data.made.program.values[static_cast<std::size_t>(i.in[0])].role == Role::gradient &&
          (i.last || s.free_axes.empty()))
        reduced += static_cast<std::int64_t>(i.in.size());
  CHECK(reduced == trained);
  const Run zero = run("devices 4 as data=4\naxis mb=4\ntrans * batch by mb, data\ntrans update(*) dim0 by data\n");
  CHECK(4 * zero.simulation.classes[0].peak[MemoryKind::optimizer] ==
        data.simulation.classes[0].peak[MemoryKind::optimizer]);
}

TEST_CASE("of what peaks are no more than a lower bound is told with the operator") {
  CHECK(unknown_memory(transformer({})).empty());
  CHECK(memory_is_known(transformer({})));
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {4, 8}), 8, false);
  const ValueId y = b.node("m", "mine::op", {{"self", Tensor{x}}}, {4, 8});
  const Graph g = b.graph(b.cross_entropy(y, b.input("labels", {4}, DType::i64)));
  CHECK_FALSE(memory_is_known(g));
  CHECK(unknown_memory(g) == "m:op#0 (mine::op) has no rule, so what it keeps and works with is not known");
}
