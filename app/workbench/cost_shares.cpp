#include "app/workbench/cost_shares.h"

#include <algorithm>
#include <numeric>

#include "planner/cost/communication_cost.h"
#include "planner/cost/device_kinds.h"
#include "planner/cost/hidden_blocks.h"
#include "planner/simulate/groups.h"
#include "planner/simulate/steps.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Sharer {
 public:
  Sharer(const Evaluation& judged, const Cluster& c)
      : graph_(*judged.made.graph),
        program_(judged.made.program),
        cluster_(c),
        simulation_(judged.simulation),
        options_(judged.options),
        parties_(program_),
        parameter_(graph_.tensors.size(), -1) {
    const Graph& g = graph_;
    const Simulation& s = simulation_;
    for (std::size_t k = 0; k < g.parameters.size(); ++k) parameter_[at(g.parameters[k].tensor)] = static_cast<int>(k);
    out_.operators.resize(g.ops.size());
    out_.parameters.resize(g.parameters.size());
    for (const ClassTimeline& t : s.classes) devices_ += static_cast<double>(t.devices);
  }

  CostShares in_the_mean() {
    const Steps steps = make_steps(graph_, program_, cluster_, options_, parties_);
    RunsBySegment mean(program_.segments.size());
    for (std::size_t c = 0; c < program_.classes.size(); ++c) {
      const double share = static_cast<double>(simulation_.classes[c].devices) / devices_;
      for (const auto& [segment, runs] : runs_in(c)) mean[at(segment)].all += share * runs, mean[at(segment)].last += share;
    }
    for (std::size_t s = 0; s < mean.size(); ++s) times(steps, static_cast<SegmentId>(s), mean[s]);
    const auto most = std::max_element(simulation_.classes.begin(), simulation_.classes.end(),
                                       [](const auto& a, const auto& b) { return a.peak.bytes() < b.peak.bytes(); });
    if (most != simulation_.classes.end()) memory(*most);
    return std::move(out_);
  }

  CostShares where_run() {
    const Steps steps = make_steps(graph_, program_, cluster_, options_, parties_);
    CostShares all = out_;
    const CostShares nothing = out_;
    for (std::size_t c = 0; c < program_.classes.size(); ++c) {
      out_ = nothing;
      for (const auto& [segment, runs] : runs_in(c)) times(steps, segment, {runs, 1});
      memory(simulation_.classes[c]);
      for (std::size_t o = 0; o < all.operators.size(); ++o) all.operators[o].raise_to(out_.operators[o]);
      for (std::size_t k = 0; k < all.parameters.size(); ++k) all.parameters[k].raise_to(out_.parameters[k]);
    }
    return all;
  }

 private:
  static double runs_of(const Step& step, double all, double last) {
    if (step.last) return last;
    if (step.but_last) return all - last;
    const std::optional<Runs>& one_of = step.restore_after ? step.restore_after : step.offload_with;
    return one_of ? all / static_cast<double>(one_of->runs) : all;
  }

  struct RunsOfSegment {
    double all = 0, last = 0;  // in a step, on one device: all runs, and those of the last index
  };
  using RunsBySegment = std::vector<RunsOfSegment>;

  // How often one device of a class runs each of its segments in a step.
  std::map<SegmentId, double> runs_in(std::size_t c) const {
    std::map<SegmentId, double> out;
    for (const Loop& loop : program_.classes[c].loops)
      for (const SlotStep& slot : loop.body) out[slot.segment] += static_cast<double>(loop.count);
    return out;
  }

  void times(const Steps& steps, SegmentId s, const RunsOfSegment& runs) {
    for (const Step& step : steps.segments[at(s)].steps) {
      const double us = static_cast<double>(step.duration) / 1000 * runs_of(step, runs.all, runs.last);
      if (us > 0) time(program_.segments[at(s)], step, us);
    }
  }

  Share& owner(TensorId t) {
    if (parameter_[at(t)] >= 0) return out_.parameters[at(parameter_[at(t)])];
    const OpId producer = graph_.tensors[at(t)].producer;
    return producer >= 0 ? out_.operators[at(producer)] : out_.rest;
  }
  Share& owner_of_value(ProgramValueId v) { return owner(program_.values[at(v)].tensor); }

  // By bytes, among what values hold.
  void among(const std::vector<ProgramValueId>& values, double us, double Share::* kind) {
    std::vector<double> bytes;
    for (const ProgramValueId v : values)
      bytes.push_back(v < 0 ? 0 : static_cast<double>(value_bytes(graph_, program_, v).count));
    const double all = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (values[k] >= 0)
        owner_of_value(values[k]).*kind += all > 0 ? us * bytes[k] / all : us / static_cast<double>(values.size());
    if (values.empty()) out_.rest.*kind += us;
  }

  void time(const Segment& s, const Step& step, double us) {
    const Instruction& i = s.instructions[at(step.instruction)];
    switch (i.code) {
      case Code::compute:
      case Code::replay:
      case Code::backward:
        return piece(s, i, us);
      case Code::issue: {
        const MoveCost cost = move_cost(graph_, program_, cluster_, s.place, i);
        out_.communication_us[{std::string(to_string(i.move.kind)), cost.group}] += us;
        return among(i.out, us, &Share::communication_us);
      }
      case Code::send:
        out_.communication_us[{"send", 2}] += us;
        return among(program_.transfers[at(i.transfer)].from, us, &Share::communication_us);
      case Code::offload:
      case Code::restore: {
        const auto kind = step.kind == StepKind::compute ? &Share::compute_us : &Share::host_us;
        if (i.piece >= 0) return saved(i.piece, us, kind);
        return among(i.in.empty() ? i.out : i.in, us, kind);
      }
      case Code::update:
        among(i.out, us, &Share::update_us);
        return among(i.out, us, &Share::compute_us);
      default:
        return among(i.out.empty() ? i.in : i.out, us, &Share::compute_us);
    }
  }

  // As the times of its operators are to each other.
  void piece(const Segment& s, const Instruction& i, double us) {
    const bool forward = i.code != Code::backward;
    std::vector<std::vector<double>>& known = forward ? forward_ : backward_;
    known.resize(program_.pieces.size());
    std::vector<double>& weights = known[at(i.piece)];
    const Piece& p = program_.pieces[at(i.piece)];
    if (weights.empty()) {
      const std::vector<Bytes> slots = slot_bytes(graph_, program_, p);
      for (const PieceOp& o : p.ops) {
        const double seen = seen_share(graph_, program_, o);
        const CostModel& costs = options_.costs;
        const Figure f = slowest(cluster_, kinds_at(cluster_, program_, s.place), [&](const DeviceType& d) {
          return forward ? forward_time(graph_, program_, p, o, slots, d, costs, seen)
                         : backward_time(graph_, program_, p, o, slots, d, costs, seen);
        });
        weights.push_back(f.time.count);
      }
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t k = 0; k < p.ops.size() && all > 0; ++k)
      out_.operators[at(p.ops[k].op)].compute_us += us * weights[k] / all;
    if (all <= 0) out_.rest.compute_us += us;
  }

  // As what its operators save for backward is, each tensor with the first that saves it.
  void saved(PieceId id, double amount, double Share::* kind) {
    const Piece& p = program_.pieces[at(id)];
    const std::vector<Bytes> slots = slot_bytes(graph_, program_, p);
    std::vector<char> taken(slots.size(), 0);
    std::vector<double> weights;
    for (const PieceOp& o : p.ops) {
      double bytes = 0;
      for (const int k : graph_.ops[at(o.op)].saves) {
        const int slot = k >= 0 ? o.inputs[at(k)] : o.first_output + (-1 - k);
        if (!taken[at(slot)]) bytes += static_cast<double>(slots[at(slot)].count);
        taken[at(slot)] = 1;
      }
      weights.push_back(bytes);
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t k = 0; k < p.ops.size() && all > 0; ++k)
      out_.operators[at(p.ops[k].op)].*kind += amount * weights[k] / all;
    if (all <= 0) out_.rest.*kind += amount;
  }

  void memory(const ClassTimeline& of) {
    for (const AliveBytes& a : of.alive) {
      const auto bytes = static_cast<double>(a.bytes);
      if (a.of.kind == Owner::Kind::value || a.of.kind == Owner::Kind::state)
        owner_of_value(a.of.id).bytes += bytes;
      else if (a.of.kind == Owner::Kind::piece)
        saved(a.of.id, bytes, &Share::bytes);
      else
        out_.rest.bytes += bytes;
    }
  }

  const Graph& graph_;
  const Program& program_;
  const Cluster& cluster_;
  const Simulation& simulation_;
  const SimulationOptions& options_;
  Parties parties_;
  std::vector<int> parameter_;                           // by tensor
  std::vector<std::vector<double>> forward_, backward_;  // by piece: its operators' times
  double devices_ = 0;
  CostShares out_;
};

}  // namespace

Share& Share::operator+=(const Share& o) {
  compute_us += o.compute_us;
  communication_us += o.communication_us;
  host_us += o.host_us;
  update_us += o.update_us;
  bytes += o.bytes;
  return *this;
}
void Share::raise_to(const Share& o) {
  for (double Share::* kind : {&Share::compute_us, &Share::communication_us, &Share::host_us, &Share::update_us, &Share::bytes})
    this->*kind = std::max(this->*kind, o.*kind);
}
Share& Share::operator-=(const Share& o) {
  compute_us -= o.compute_us;
  communication_us -= o.communication_us;
  host_us -= o.host_us;
  update_us -= o.update_us;
  bytes -= o.bytes;
  return *this;
}

Share CostShares::sum() const {
  Share all = rest;
  for (const Share& s : operators) all += s;
  for (const Share& s : parameters) all += s;
  return all;
}

CostShares cost_shares(const Evaluation& judged, const Cluster& cluster) { return Sharer(judged, cluster).in_the_mean(); }

CostShares cost_shares_where_run(const Evaluation& judged, const Cluster& cluster) {
  return Sharer(judged, cluster).where_run();
}

StepParts step_parts(const Simulation& s) {
  StepParts out;
  double devices = 0;
  for (const ClassTimeline& t : s.classes) devices += static_cast<double>(t.devices);
  for (const ClassTimeline& t : s.classes) {
    const double share = static_cast<double>(t.devices) / devices / 1000;
    const auto add = [&](double& to, Nanoseconds ns) { to += share * static_cast<double>(ns); };
    add(out.compute, t.compute);
    add(out.warm_up, t.idle.warm_up);
    add(out.cool_down, t.idle.cool_down);
    add(out.imbalance, t.idle.imbalance);
    add(out.data, t.idle.data);
    add(out.communication, t.idle.communication);
    add(out.memory, t.idle.memory);
  }
  return out;
}

}  // namespace planscope
