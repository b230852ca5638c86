#include "app/session/graph/communication.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/session/graph/value_ways.h"
#include "app/workbench/communication_times.h"
#include "engine/program/bucket.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/groups.h"
#include "planner/simulate/steps.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Teller {
 public:
  Teller(const Evaluation& e, const Cluster& c)
      : e_(e),
        g_(*e.made.graph),
        p_(e.made.program),
        cluster_(c),
        parties_(p_),
        ways_(g_, p_),
        times_(communication_times(p_, c, e.simulation)) {}

  std::vector<Communication> run() {
    runs_.assign(p_.classes.size(), std::vector<double>(p_.segments.size(), 0));
    for (std::size_t c = 0; c < p_.classes.size(); ++c)
      for (const Loop& loop : p_.classes[c].loops)
        for (const SlotStep& slot : loop.body) runs_[c][at(slot.segment)] += static_cast<double>(loop.count);
    const Steps steps = make_steps(g_, p_, cluster_, e_.options, parties_);
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      for (const Step& step : steps.segments[s].steps)
        if (step.traffic >= 0) tell(s, step, steps.traffic[at(step.traffic)]);
    std::vector<Communication> out;
    for (auto& [key, c] : found_) out.push_back(std::move(c));
    return out;
  }

 private:
  static double runs_of(const Step& step, double all) {
    if (step.last) return all > 0;
    return step.but_last ? std::max(0.0, all - 1) : all;
  }

  void tell(std::size_t s, const Step& step, const Traffic& t) {
    const Instruction& i = p_.segments[s].instructions[at(step.instruction)];
    Communication all{.kind = t.kind, .group = t.group};
    double exposed = 0;
    for (std::size_t c = 0; c < p_.classes.size(); ++c) {
      const double here = runs_of(step, runs_[c][s]);
      if (here <= 0) continue;
      all.count += here;
      const CommunicationTime* time = times_.find(static_cast<int>(c), static_cast<SegmentId>(s), step.instruction);
      const bool recorded = times_.detailed && time && time->runs > 0;
      const double share = recorded ? here / static_cast<double>(time->runs) : 0;
      all.us += recorded ? share * time->busy_us : here * static_cast<double>(t.time) / 1000;
      if (recorded) exposed += share * time->exposed_us;
    }
    if (all.count <= 0) return;
    all.bytes = all.count * static_cast<double>(t.payload.count);
    all.exposed_us = times_.detailed ? exposed : -1;
    const std::vector<ProgramValueId>& values = i.code == Code::send ? p_.transfers[at(i.transfer)].to : i.out;
    std::vector<double> bytes;
    for (const ProgramValueId v : values) bytes.push_back(std::max(1.0, static_cast<double>(value_bytes(g_, p_, v).count)));
    double sum = 0;
    for (const double b : bytes) sum += b;
    for (std::size_t n = 0; n < values.size(); ++n) add(all, values[n], bytes[n] / sum);
  }

  void add(const Communication& all, ProgramValueId v, double share) {
    const ProgramValue& value = p_.values[at(v)];
    const auto [from, to] = ways_.ends(v);
    const bool gradient = value.role == Role::gradient;
    Communication& c = found_.try_emplace({from, to, value.tensor, gradient, all.kind, all.group}).first->second;
    if (c.kind.empty()) c = {all.kind, all.group, from, to, value.tensor, gradient, 0, 0, 0, all.exposed_us < 0 ? -1.0 : 0.0};
    c.count += share * all.count;
    c.bytes += share * all.bytes;
    c.us += share * all.us;
    if (c.exposed_us >= 0 && all.exposed_us >= 0) c.exposed_us += share * all.exposed_us;
  }

  const Evaluation& e_;
  const Graph& g_;
  const Program& p_;
  const Cluster& cluster_;
  Parties parties_;
  ValueWays ways_;
  CommunicationTimes times_;
  std::vector<std::vector<double>> runs_;  // by class and segment
  std::map<std::tuple<OpId, OpId, TensorId, bool, std::string, std::int64_t>, Communication> found_;
};

}  // namespace

std::vector<Communication> communications(const Evaluation& e, const Cluster& c) { return Teller(e, c).run(); }

}  // namespace planscope::session
