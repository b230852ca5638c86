#include "tests/planner/simulate/hand_made.h"

#include <algorithm>

#include "engine/graph/alike.h"

namespace planscope::testing {
namespace {

// a0 -> a1 -> … , one product each; a product of n nanoseconds has 1000 n operations at 1e12 FLOP/s.
Graph chain(const std::vector<std::int64_t>& stage_ns) {
  Graph g;
  auto model = std::make_shared<Model>();
  g.classes = {{"size", 1000, false, true}};
  for (std::size_t i = 0; i <= stage_ns.size(); ++i) {
    model->values.push_back({"a" + std::to_string(i),
                             i == 0 ? ValueKind::input : ValueKind::computed,
                             DType::f32,
                             {1000},
                             {},
                             false,
                             true,
                             {}});
    PTensor t;
    t.id = static_cast<int>(i);
    t.dims = {{0}};
    t.producer = static_cast<int>(i) - 1;
    t.gradient = true;
    g.tensors.push_back(t);
  }
  for (std::size_t i = 0; i < stage_ns.size(); ++i) {
    Node n;
    n.kind = "linear";
    n.target = "aten::linear";
    n.outputs = {static_cast<int>(i) + 1};
    model->nodes.push_back(n);
    Op op;
    op.node = static_cast<int>(i);
    op.inputs = {{.tensor = static_cast<int>(i), .argument = 0, .element = -1, .map = {{{0, 0}}}, .added = false}};
    op.outputs = {{.tensor = static_cast<int>(i) + 1, .argument = 0, .element = -1, .map = {{{0, 0}}}, .added = false}};
    op.factors = {{"size", FactorKind::free, {0}, {}}};
    op.saves = {0};
    op.backward = true;
    op.elementwise_cost = false;
    op.flops = 1000.0 * static_cast<double>(stage_ns[i]);
    g.ops.push_back(op);
  }
  g.model = model;
  g.alike = alike_operators(g);
  return g;
}

Instruction make(Code code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out, PieceId piece = -1,
                 int transfer = -1) {
  Instruction i;
  i.code = code;
  i.in = std::move(in);
  i.out = std::move(out);
  i.piece = piece;
  i.transfer = transfer;
  i.keep = code == Code::compute;
  return i;
}

struct Values {
  ProgramValueId in, out, out_gradient, in_gradient;
};

class Maker {
 public:
  Maker(int stages, std::int64_t micro_batches) : stages_(stages) {
    p_.device_count = stages;
    p_.axes = {{"pipe", stages, 0}, {"mb", micro_batches, -1}};
    p_.grids = {{"all", {0}, {1}, 0, {}}};
    p_.layouts = {{}};
    for (int s = 0; s < stages; ++s) {
      p_.places.push_back({0, {{0, s}}});
      values_.push_back({value(s, Role::data, s), value(s + 1, Role::data, s), value(s + 1, Role::gradient, s),
                         value(s, Role::gradient, s)});
    }
    for (int s = 0; s + 1 < stages; ++s) p_.transfers.push_back({{at(s).out}, {at(s + 1).in}});
    for (int s = 0; s + 1 < stages; ++s) p_.transfers.push_back({{at(s + 1).in_gradient}, {at(s).out_gradient}});
    for (int s = 0; s < stages; ++s) add_stage(s);
  }
  Program schedule(Schedule kind, std::int64_t m) {
    for (int s = 0; s < stages_; ++s) {
      DeviceClass c;
      c.name = "pipe=" + std::to_string(s);
      c.place = p_.places[static_cast<std::size_t>(s)];
      const SlotStep f{2 * s, {0}, {1}}, b{2 * s + 1, {0}, {1}};
      if (kind == Schedule::gpipe) {
        c.loops = {{m, {f}}, {m, {b}}};
      } else {
        const std::int64_t ahead = std::min<std::int64_t>(m, stages_ - 1 - s);
        c.loops = {{ahead, {f}}, {m - ahead, {{2 * s, {ahead}, {1}}, b}}, {ahead, {{2 * s + 1, {m - ahead}, {1}}}}};
      }
      p_.classes.push_back(std::move(c));
    }
    return p_;
  }

 private:
  const Values& at(int s) const { return values_[static_cast<std::size_t>(s)]; }
  ProgramValueId value(TensorId tensor, Role role, PlaceId place) {
    p_.values.push_back({tensor, role, 0, place, {1}, -1});
    return static_cast<int>(p_.values.size()) - 1;
  }
  void add_stage(int s) {
    const Values& v = at(s);
    const bool first = s == 0, last = s + 1 == stages_;
    p_.pieces.push_back({{{s, 0}, {s + 1, 0}}, 1, {{s, {0}, 1, {}}}, {1}, true});
    Segment f{"f(S[" + std::to_string(s) + "])", Phase::forward, s, {1}, {}};
    if (first) f.instructions.push_back(make(Code::load, {}, {v.in}));
    if (!first) {
      f.instructions.push_back(make(Code::receive, {}, {v.in}, -1, s - 1));
      f.instructions.push_back(make(Code::wait, {}, {v.in}));
    }
    f.instructions.push_back(make(Code::compute, {v.in}, {v.out}, s));
    if (!last) f.instructions.push_back(make(Code::send, {v.out}, {}, -1, s));
    f.instructions.push_back(make(Code::free, {v.out}, {}));
    Segment b{"b(S[" + std::to_string(s) + "])", Phase::backward, s, {1}, {}};
    if (last) b.instructions.push_back(make(Code::seed, {}, {v.out_gradient}));
    if (!last) {
      b.instructions.push_back(make(Code::receive, {}, {v.out_gradient}, -1, stages_ - 1 + s));
      b.instructions.push_back(make(Code::wait, {}, {v.out_gradient}));
    }
    b.instructions.push_back(make(Code::backward, {v.out_gradient}, {v.in_gradient}, s));
    if (!first) b.instructions.push_back(make(Code::send, {v.in_gradient}, {}, -1, stages_ - 2 + s));
    b.instructions.push_back(make(Code::free, {v.in, v.out_gradient, v.in_gradient}, {}));
    p_.segments.push_back(std::move(f));
    p_.segments.push_back(std::move(b));
  }

  int stages_;
  Program p_;
  std::vector<Values> values_;
};

}  // namespace

Pipeline make_pipeline(const std::vector<std::int64_t>& stage_ns, std::int64_t micro_batches, Schedule schedule) {
  Pipeline out;
  out.graph = chain(stage_ns);
  out.program = Maker(static_cast<int>(stage_ns.size()), micro_batches).schedule(schedule, micro_batches);
  out.cluster.kinds[0].type.flops = {{"float32", 1e12}};
  out.cluster.kinds[0].type.memory_bandwidth = 1e30;
  out.cluster.levels = {{"link", static_cast<int>(stage_ns.size()), {0}, 1e30, 1}};
  out.options.costs.efficiency.fill({1, 1});
  return out;
}

}  // namespace planscope::testing
