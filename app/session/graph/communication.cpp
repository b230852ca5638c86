#include "app/session/graph/communication.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/session/graph/value_ways.h"
#include "engine/program/bucket.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/groups.h"
#include "planner/simulate/steps.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// How long the compute stream of a class works within a span of time.
class Work {
 public:
  explicit Work(const std::vector<InstructionBlock>& blocks) {
    for (const InstructionBlock& b : blocks) {
      starts_.push_back(b.start), ends_.push_back(b.end);
      sums_.push_back(sums_.back() + b.end - b.start);
    }
  }
  bool known() const { return !starts_.empty(); }
  Nanoseconds until(Nanoseconds t) const {
    const auto k = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), t) - starts_.begin());
    return k == 0 ? 0 : sums_[k - 1] + std::min(t, ends_[k - 1]) - starts_[k - 1];
  }

 private:
  std::vector<Nanoseconds> starts_, ends_, sums_ = {0};
};

class Teller {
 public:
  Teller(const Evaluation& e, const Cluster& c)
      : e_(e), g_(*e.made.graph), p_(e.made.program), cluster_(c), parties_(p_), ways_(g_, p_) {
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      first_.push_back(s == 0 ? 0 : first_[s - 1] + p_.segments[s - 1].instructions.size());
    const std::size_t instructions = p_.segments.empty() ? 0 : first_.back() + p_.segments.back().instructions.size();
    us_.assign(instructions, 0), exposed_.assign(instructions, 0);
  }

  std::vector<Communication> run() {
    look_at_classes();
    const Steps steps = make_steps(g_, p_, cluster_, e_.options, parties_);
    recorded_times();
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      for (const Step& step : steps.segments[s].steps)
        if (step.traffic >= 0) tell(s, step, steps.traffic[at(step.traffic)]);
    std::vector<Communication> out;
    for (auto& [key, c] : found_) out.push_back(std::move(c));
    return out;
  }

 private:
  void look_at_classes() {
    runs_.assign(p_.classes.size(), std::vector<double>(p_.segments.size(), 0));
    for (std::size_t c = 0; c < p_.classes.size(); ++c)
      for (const Loop& loop : p_.classes[c].loops)
        for (const SlotStep& slot : loop.body) runs_[c][at(slot.segment)] += static_cast<double>(loop.count);
    receiving_.resize(p_.transfers.size());
    sending_.resize(p_.transfers.size(), {-1, -1});
    for (std::size_t s = 0; s < p_.segments.size(); ++s)
      for (std::size_t k = 0; k < p_.segments[s].instructions.size(); ++k) {
        const Instruction& i = p_.segments[s].instructions[k];
        if (i.code == Code::send) sending_[at(i.transfer)] = {static_cast<int>(s), static_cast<int>(k)};
        if (i.code == Code::issue)
          for (const ProgramValueId v : i.out) issued_[v] = {static_cast<int>(s), static_cast<int>(k)};
        if (i.code != Code::receive) continue;
        for (std::size_t c = 0; c < p_.classes.size(); ++c)
          if (runs_[c][s] > 0) receiving_[at(i.transfer)].push_back(c);
        for (const ProgramValueId v : i.out) received_[v] = i.transfer;
      }
  }

  // The `issue` or `send` for which an instruction stands on a stream of communication.
  std::pair<int, int> origin(int segment, int instruction) const {
    const Instruction& i = p_.segments[at(segment)].instructions[at(instruction)];
    if (i.code != Code::wait) return {segment, instruction};
    for (const ProgramValueId v : i.out) {
      if (const auto of = issued_.find(v); of != issued_.end()) return of->second;
      if (const auto of = received_.find(v); of != received_.end()) return sending_[at(of->second)];
    }
    return {-1, -1};
  }

  // From the simulation, where it has kept single instructions.
  void recorded_times() {
    std::vector<Work> work;
    for (const ClassTimeline& t : e_.simulation.classes) work.emplace_back(t.instructions);
    for (std::size_t c = 0; c < work.size(); ++c)
      for (const InstructionBlock& b : e_.simulation.classes[c].communication) {
        if (b.stream == Stream::offload || b.stream == Stream::restore) continue;
        if (b.instruction < 0 || !work[c].known()) {
          recorded_ = false;
          return;
        }
        const auto [segment, instruction] = origin(e_.simulation.classes[c].slots[at(b.slot)].segment, b.instruction);
        if (segment < 0) continue;
        const Instruction& i = p_.segments[at(segment)].instructions[at(instruction)];
        std::size_t needs = c;
        if (i.code == Code::send && !receiving_[at(i.transfer)].empty()) {
          const auto& there = receiving_[at(i.transfer)];
          if (std::find(there.begin(), there.end(), c) == there.end()) needs = there.front();
        }
        const Nanoseconds idle = b.end - b.start - (work[needs].until(b.end) - work[needs].until(b.start));
        const std::size_t k = first_[at(segment)] + at(instruction);
        us_[k] += static_cast<double>(b.end - b.start) / 1000;
        exposed_[k] += static_cast<double>(idle) / 1000;
      }
  }

  static double runs_of(const Step& step, double all) {
    if (step.last) return all > 0;
    return step.but_last ? std::max(0.0, all - 1) : all;
  }

  void tell(std::size_t s, const Step& step, const Traffic& t) {
    const Instruction& i = p_.segments[s].instructions[at(step.instruction)];
    double runs = 0, hidden_from = 0, waited = 0;
    for (std::size_t c = 0; c < p_.classes.size(); ++c) {
      const double here = runs_of(step, runs_[c][s]);
      runs += here;
      const ClassTimeline& of = e_.simulation.classes[c];
      hidden_from += here * static_cast<double>(of.collective);
      waited += here * static_cast<double>(of.idle.communication);
    }
    if (runs <= 0) return;
    const std::size_t k = first_[s] + at(step.instruction);
    Communication all{.kind = t.kind, .group = t.group, .count = runs, .bytes = runs * static_cast<double>(t.payload.count)};
    all.us = recorded_ ? us_[k] : runs * static_cast<double>(t.time) / 1000;
    if (recorded_)
      all.exposed_us = exposed_[k];
    else if (i.code == Code::issue)
      all.exposed_us = hidden_from > 0 ? all.us * std::min(1.0, waited / hidden_from) : 0;
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
  std::vector<std::size_t> first_;            // by segment: the number of its first instruction
  std::vector<double> us_, exposed_;          // by instruction
  std::vector<std::vector<double>> runs_;     // by class and segment
  std::vector<std::vector<std::size_t>> receiving_;  // by transfer: classes
  std::vector<std::pair<int, int>> sending_;         // by transfer: segment and instruction
  std::map<ProgramValueId, std::pair<int, int>> issued_;
  std::map<ProgramValueId, int> received_;
  bool recorded_ = true;
  std::map<std::tuple<OpId, OpId, TensorId, bool, std::string, std::int64_t>, Communication> found_;
};

}  // namespace

std::vector<Communication> communications(const Evaluation& e, const Cluster& c) { return Teller(e, c).run(); }

}  // namespace planscope::session
