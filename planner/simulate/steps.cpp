#include "planner/simulate/steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/saturated.h"
#include "engine/graph/element_types.h"
#include "engine/program/reuse.h"
#include "engine/program/transfer.h"
#include "planner/cost/device_kinds.h"
#include "planner/simulate/held_values.h"
#include "planner/simulate/instances.h"
#include "planner/simulate/piece_times.h"
#include "planner/simulate/shared_gradients.h"
#include "planner/simulate/unfreed.h"
#include "planner/simulate/working_set.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
class Maker {
 public:
  Maker(const Graph& g, const Program& p, const Cluster& c, const SimulationOptions& o, Parties& parties)
      : graph_(g), program_(p), cluster_(c), options_(o), parties_(parties), reuse_(p), instances_(p, result_) {}

  Steps make() {
    result_.background = cluster_.background;
    find_roles();
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions)
        if (i.code == Code::backward && s.phase == Phase::weight) apart_.insert(i.piece);
    for (PlaceId p = 0; p < static_cast<PlaceId>(program_.places.size()); ++p)
      kinds_.push_back(kinds_at(cluster_, program_, p));
    pieces_.emplace(graph_, program_, cluster_, options_.costs, kinds_);
    find_waits();
    held_.emplace(graph_, program_, [this](PieceId p) -> const WorkingSet& { return pieces_->of(p).memory; });
    for (const auto& [id, slots] : held_->slots_ended()) pieces_->end_with_backward(id, slots);
    share_gradients();
    for (const Segment& s : program_.segments) {
      SegmentSteps out;
      out.steps.reserve(s.instructions.size());
      for (std::size_t i = 0; i < s.instructions.size(); ++i) add(s, static_cast<int>(i), out.steps);
      out.runs = work_runs(out.steps);
      result_.segments.push_back(std::move(out));
    }
    for (const DeviceClass& c : program_.classes) {
      result_.host_standing.push_back(0);
      result_.standing.push_back(standing(c, result_.host_standing.back()));
    }
    if (most_ahead(program_) > 0)
      for (const DeviceClass& c : program_.classes)
        result_.freed_with_step.push_back(freed_with_step(unfreed(program_, c, instances_)));
    return std::move(result_);
  }

 private:
  // ---- what values are

  void find_roles() {
    trained_.assign(graph_.tensors.size(), 0);
    parameter_.assign(graph_.tensors.size(), 0);
    for (const Parameter& p : graph_.parameters) {
      parameter_[at(p.tensor)] = 1;
      trained_[at(p.tensor)] = p.trained;
    }
    value_bytes_.reserve(program_.values.size());
    for (std::size_t v = 0; v < program_.values.size(); ++v)
      value_bytes_.push_back(value_bytes(graph_, program_, static_cast<int>(v)).count);
    find_written();
    away_.assign(program_.values.size(), 0);
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions)
        if (i.code == Code::update && i.in.size() > 2) away_[at(i.in[0])] = 1;
    received_.assign(program_.values.size(), -1);
  }

  // Buffers that steps change are on a device that loads them between steps too, whole; a whole one that is loaded is that
  // memory.
  void find_written() {
    if (graph_.model->mutations.empty()) return;
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code != Code::load || !is_changed_by_steps(*graph_.model, program_.values[at(i.out[0])].tensor)) continue;
        written_.try_emplace({s.place, program_.values[at(i.out[0])].tensor}, i.out[0]);
        if (program_.layouts[at(program_.values[at(i.out[0])].layout)] == Layout{}) value_bytes_[at(i.out[0])] = 0;
      }
  }

  static Owner value(ProgramValueId v) { return {Owner::Kind::value, v}; }
  static Owner message(ProgramValueId first) { return {Owner::Kind::message, first}; }
  static Owner piece(PieceId p) { return {Owner::Kind::piece, p}; }
  static Owner state(ProgramValueId v) { return {Owner::Kind::state, v}; }

  MemoryChange gained(ProgramValueId v) const { return {kind_of(v), value_bytes_[at(v)], value(v)}; }
  MemoryChange lost(ProgramValueId v) const { return {kind_of(v), -value_bytes_[at(v)], value(v)}; }

  MemoryKind kind_of(ProgramValueId id) const {
    const ProgramValue& v = program_.values[at(id)];
    if (v.role == Role::home) return MemoryKind::weights;
    if (v.role == Role::state) return MemoryKind::optimizer;
    if (v.role == Role::gradient) return parameter_[at(v.tensor)] ? MemoryKind::gradients : MemoryKind::activations;
    return parameter_[at(v.tensor)] ? MemoryKind::communication : MemoryKind::activations;
  }

  bool is_home(ProgramValueId id) const { return program_.values[at(id)].role == Role::home; }

  // Receives are waited for by value; transfers are matched by their own handle. Several values are known by the
  // first one.
  void find_waits() {
    issue_of_.assign(program_.values.size(), nullptr);
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code == Code::receive)
          for (const ProgramValueId v : i.out) received_[at(v)] = i.transfer;
        if (i.code == Code::issue)
          for (const ProgramValueId v : i.out) issue_of_[at(v)] = &i;
        if (i.code == Code::restore) restored_.insert(away_of(i));
      }
    unpacks_.assign(program_.transfers.size(), nullptr);
    for (const Transfer& t : program_.transfers) {
      const std::vector<Sending> all = sendings(program_, t);
      packed_.push_back(all.size() > 1 || all[0].sent != all[0].got);
    }
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code != Code::wait || i.out.empty()) continue;
        const int transfer = received_[at(i.out[0])];
        if (transfer >= 0 && !unpacks_[at(transfer)]) unpacks_[at(transfer)] = &i;
      }
  }

  // The number by which Instances knows what is copied: what the run of a piece keeps, or a state.
  std::size_t away_of(const Instruction& i) const {
    const ProgramValueId state = i.in.empty() ? (i.out.empty() ? -1 : i.out[0]) : i.in[0];
    return i.piece >= 0 ? static_cast<std::size_t>(i.piece) : program_.pieces.size() + at(state);
  }

  // ---- gradients that are one tensor

  const BackwardSet& set_of(const Segment& s, const Instruction& backward) const {
    return set_of(s, backward, pieces_->of(backward.piece).memory);
  }
  const BackwardSet& set_of(const Segment& s, const Instruction& backward, const WorkingSet& w) const {
    if (s.phase == Phase::weight) return w.parameters;
    return apart_.contains(backward.piece) ? w.inputs : w.whole;
  }

  void share_gradients() {
    std::vector<bool> apart(program_.values.size(), false);  // their memory ends, or goes on, otherwise
    for (std::size_t v = 0; v < apart.size(); ++v) apart[v] = !held_->ends(static_cast<ProgramValueId>(v));
    for (const Segment& s : program_.segments)
      for (std::size_t k = 0; k < s.instructions.size(); ++k) {
        const Instruction& i = s.instructions[k];
        if (i.code == Code::issue && reuse_.takes_operands(s, k))
          for (const ProgramValueId v : i.in) apart[at(v)] = true;
      }
    shared_.emplace(
        program_, [this](const Segment& s, const Instruction& i) -> const BackwardSet& { return set_of(s, i); }, apart);
  }

  // ---- times

  void work(Step& step, const Figure& figure) const {
    step.duration = to_ns(figure.time);
    step.sources[static_cast<std::size_t>(figure.source)] = step.duration;
  }
  Figure memory(const Segment& s, double bytes) const {
    return slowest(cluster_, kinds_[at(s.place)],
                   [&](const DeviceType& d) { return memory_time(bytes, d, options_.costs); });
  }

  int traffic(const MoveCost& c, std::string_view kind) {
    Traffic t{std::string(kind), c.group, 1, c.payload, c.sent, c.by_level, c.level, to_ns(c.figure.time)};
    const auto found = std::find(result_.traffic.begin(), result_.traffic.end(), t);
    if (found != result_.traffic.end()) return static_cast<int>(found - result_.traffic.begin());
    result_.traffic.push_back(std::move(t));
    return static_cast<int>(result_.traffic.size()) - 1;
  }

  // ---- instructions

  void allocate(Step& step, const Instruction& i) const {
    for (ProgramValueId v : i.out)
      if (v >= 0 && !is_home(v)) step.before.push_back(gained(v));
  }

  void add(const Segment& s, int number, std::vector<Step>& steps) {
    const Instruction& i = s.instructions[at(number)];
    Step step;
    step.instruction = number;
    step.last = i.last;
    switch (i.code) {
      case Code::load:
      case Code::seed:
        allocate(step, i);
        break;
      case Code::compute:
      case Code::replay:
        add_forward(i, step);
        break;
      case Code::backward:
        wait_for_copies(s, number, static_cast<std::size_t>(i.piece), steps);
        add_backward(s, i, step);
        if (const auto& memory = pieces_->of(i.piece).memory_of_last) {
          Step of_last = step;
          of_last.last = step.but_last = true;
          const BackwardSet& set = set_of(s, i, *memory);
          of_last.transient = set.bytes;
          of_last.transient_gradients = set.gradients;
          steps.push_back(std::move(of_last));
        }
        break;
      case Code::local:
        allocate(step, i);
        work(step, memory(s, 2.0 * bytes_of(i.out)));
        break;
      case Code::add:
        allocate(step, i);
        work(step, memory(s, bytes_of(i.in) + bytes_of(i.out)));
        break;
      case Code::accumulate:
        step.kind = StepKind::accumulate;
        step.instance = instances_.of_value(s, i.out.at(0));
        allocate(step, i);
        work(step, slowest(cluster_, kinds_[at(s.place)],
                           [&](const DeviceType& d) { return accumulation_time(bytes_of(i.out), d, options_.costs); }));
        break;
      case Code::issue:
        add_issue(s, number, step);
        break;
      case Code::send:
        add_send(s, i, step);
        break;
      case Code::receive:
        for (ProgramValueId v : i.out)
          step.before.push_back({MemoryKind::communication, value_bytes_[at(v)], value(v)});
        if (packed_[at(i.transfer)])
          step.before.push_back({MemoryKind::communication, total_bytes(i.out), message(i.out.at(0))});
        break;
      case Code::wait:
        add_wait(s, i, step);
        break;
      case Code::update:
        if (i.in.size() > 2) wait_for_copies(s, number, program_.pieces.size() + at(i.in[2]), steps);
        add_update(s, i, step);
        break;
      case Code::write:
        add_write(i.in.at(0), step);
        break;
      case Code::free:
        for (ProgramValueId v : i.in)
          if (v >= 0 && !is_home(v) && !taken_.contains(v) && held_->ends(v)) {
            if (s.phase == Phase::forward && held_->offloaded_by_free(v))
              steps.push_back(held_copy(s, number, v));
            else
              end(s, v, step);
          }
        break;
      case Code::offload:
      case Code::restore: {
        std::vector<MemoryChange> changes = i.piece >= 0 ? kept_changes(i) : state_changes(i);
        if (i.piece >= 0) add_held_copies(s, number, changes, steps);
        add_host_copy(s, i, step, std::move(changes));
        step.instance = instances_.of_host_copy(s, away_of(i));
        break;
      }
    }
    steps.push_back(std::move(step));
  }

  // The value becomes the buffer; what that was before goes with the step.
  void add_write(ProgramValueId v, Step& step) {
    step.before.push_back({MemoryKind::weights, value_bytes_[at(v)], value(v)});
    const bool one = !is_home(v) && program_.values[at(v)].indexed.empty();
    if (one && taken_.insert(v).second) step.before.push_back(lost(v));
  }

  double bytes_of(const std::vector<ProgramValueId>& values) const {
    double sum = 0;
    for (ProgramValueId v : values)
      if (v >= 0) sum += static_cast<double>(value_bytes_[at(v)]);
    return sum;
  }

  void add_forward(const Instruction& i, Step& step) const {
    const PieceTime& t = pieces_->of(i.piece);
    step.duration = t.forward;
    step.sources = t.forward_sources;
    const bool keep = i.keep || i.code == Code::replay;
    allocate(step, i);
    if (keep && t.memory.kept > 0) step.before.push_back({MemoryKind::activations, t.memory.kept, piece(i.piece)});
    step.transient = keep ? t.memory.forward_keep : t.memory.forward_drop;
  }

  // With the last of the values that have its memory.
  void end(const Segment& s, ProgramValueId v, Step& step) {
    const ProgramValueId holder = shared_->holder(v);
    if (shared_->values(holder) == 1)
      step.after.push_back(lost(v));
    else
      step.releases.push_back({{instances_.of_value(s, holder), shared_->values(holder)}, lost(holder)});
  }

  // What ends with the backward of a piece, with that of its last run.
  void release(const Segment& s, ProgramValueId v, Step& step) {
    const std::int64_t runs = runs_for(program_, s, v);
    if (runs == 1)
      step.after.push_back(lost(v));
    else
      step.releases.push_back({{instances_.of_value(s, v), runs}, lost(v)});
  }

  // Under `grad_split` a piece has two: gradients of what it reads, then those of its parameters.
  void add_backward(const Segment& s, const Instruction& i, Step& step) {
    const PieceTime& t = pieces_->of(i.piece);
    const bool second = s.phase == Phase::weight;
    step.duration = second ? t.weights : t.backward;
    step.sources = second ? t.weights_sources : t.backward_sources;
    for (ProgramValueId v : i.out)
      if (v >= 0 && shared_->holder(v) == v) step.after.push_back(gained(v));
    const bool first = !second && apart_.contains(i.piece);
    const BackwardSet& set = set_of(s, i);
    step.transient = set.bytes;
    step.transient_gradients = set.gradients;
    if (first) {
      step.duration -= t.weights;
      for (std::size_t k = 0; k < step.sources.size(); ++k) step.sources[k] -= t.weights_sources[k];
      if (set.left > 0) step.after.push_back({MemoryKind::activations, set.left, piece(i.piece)});
      return;
    }
    const std::int64_t ends = t.memory.kept + (second ? t.memory.inputs.left : 0);
    if (ends > 0) step.after.push_back({MemoryKind::activations, -ends, piece(i.piece)});
    for (const ProgramValueId v : held_->ended_by(i.piece))
      if (!taken_.contains(v)) release(s, v, step);
  }

  // What goes to host memory: the tensors that autograd keeps for the piece's backward, or the state of an optimizer.
  std::vector<MemoryChange> kept_changes(const Instruction& i) const {
    std::vector<MemoryChange> kept;
    const WorkingSet& memory = pieces_->of(i.piece).memory;
    if (memory.kept > memory.aside)
      kept.push_back({MemoryKind::activations, memory.aside - memory.kept, piece(i.piece)});
    return kept;
  }
  std::vector<MemoryChange> state_changes(const Instruction& i) const {
    const ProgramValueId v = i.in.empty() ? i.out.at(0) : i.in[0];
    return {{MemoryKind::optimizer, -state_bytes(v), state(v)}};
  }

  // Values that autograd holds, in addition to the others. One that several runs hold is offloaded with the last of them, or with its
  // `free`, and restored with the first run after that.
  void add_held_copies(const Segment& s, int number, std::vector<MemoryChange>& changes, std::vector<Step>& steps) {
    const Instruction& i = s.instructions[at(number)];
    const bool back = i.code == Code::restore;
    for (const ProgramValueId v : back ? held_->brought_back_by(i.piece) : held_->taken_away_by(i.piece)) {
      if (taken_.contains(v)) continue;
      const std::int64_t runs = runs_for(program_, s, v);
      if (runs == 1)
        changes.push_back(lost(v));
      else
        steps.push_back(held_copy(s, number, v));
    }
  }
  // The copy of one such value.
  Step held_copy(const Segment& s, int number, ProgramValueId v) {
    const Instruction& i = s.instructions[at(number)];
    Step own;
    own.instruction = number;
    own.last = i.last;
    add_host_copy(s, i, own, {lost(v)});
    (i.code == Code::restore ? own.restore_after : own.offload_with) =
        Runs{instances_.of_value(s, v), i.last ? 1 : runs_for(program_, s, v)};
    return own;
  }

  void add_host_copy(const Segment& s, const Instruction& i, Step& step, std::vector<MemoryChange> changes) const {
    std::int64_t bytes = 0;
    for (const MemoryChange& m : changes) bytes -= m.bytes;
    const bool back = i.code == Code::restore;
    step.host = back ? -bytes : bytes;
    for (MemoryChange& m : changes)
      if (back) m.bytes = -m.bytes;
    (back ? step.before : step.after) = std::move(changes);
    const HostMemory& host = cluster_.host;
    const auto moved = static_cast<double>(bytes);
    step.kind = back ? StepKind::restore : StepKind::offload;
    work(step, host_stream() ? Figure{{host.latency.count + moved / host.bandwidth * 1e6}} : memory(s, 2 * moved));
    if (!host_stream()) step.kind = StepKind::compute;
  }
  bool host_stream() const { return cluster_.host.bandwidth > 0; }

  // Before what reads it, for what comes back from host memory, if it does.
  void wait_for_copies(const Segment& s, int number, std::size_t what, std::vector<Step>& steps) {
    if (!host_stream() || !restored_.contains(what)) return;
    Step step;
    step.kind = StepKind::wait_restore;
    step.instruction = number;
    step.instance = instances_.of_host_copy(s, what);
    steps.push_back(std::move(step));
  }

  void add_issue(const Segment& s, int number, Step& step) {
    const Instruction& i = s.instructions[at(number)];
    const MoveCost cost = moved(s, i);
    step.kind = StepKind::issue;
    step.network = cost.network;
    step.level = cost.level;
    step.values = static_cast<int>(i.out.size());
    step.duration = to_ns(cost.figure.time);
    step.instance = instances_.of_value(s, i.out.at(0));
    step.traffic = traffic(cost, to_string(i.move.kind));
    for (const ProgramValueId v : i.out)
      step.before.push_back({MemoryKind::communication, value_bytes_[at(v)], value(v)});
    const bool takes = reuse_.takes_operands(s, at(number));
    step.own = half(cost) + copies(s, copies_of(i, cost.payload, takes).before);
    add_message(i, takes, step);
    const std::vector<int>& parties = parties_.of(s.place, communicator(i.move));
    if (!parties.empty()) step.parties = &parties;
  }

  // What an issue packs, and operands that it takes. Without background communication others' blocks are copied to where
  // they read them, and its own one to where the sum will be: when it is over, neither message nor operands are left.
  void add_message(const Instruction& i, bool takes, Step& step) {
    const bool packs = packs_apart(i), scatters = i.move.kind == MoveKind::reduce_scatter, bucket = i.out.size() > 1;
    const std::int64_t operands = total_bytes(i.in);
    std::int64_t& meanwhile = kind_of(i.in[0]) == MemoryKind::gradients ? step.transient_gradients : step.transient;
    if (packs && cluster_.background)
      step.before.push_back({MemoryKind::communication, operands, message(i.out[0])});
    else if (packs)
      meanwhile += operands;
    if (!takes || (scatters && !packs && cluster_.background)) return;  // they are the message
    for (const ProgramValueId v : i.in) {                               // their `free` has nothing left to do
      step.before.push_back(lost(v));
      taken_.insert(v);
    }
    if (scatters || bucket) meanwhile += operands;
    if (scatters && bucket) meanwhile -= total_bytes(i.out);  // made when all is packed
  }

  MoveCost moved(const Segment& s, const Instruction& i) const {
    return move_cost(graph_, program_, cluster_, s.place, i, options_.costs.links);
  }
  MoveCost sent(int transfer) const {
    return transfer_cost(graph_, program_, cluster_, program_.transfers[at(transfer)], options_.costs.links);
  }

  // What the device's own thread does of communication (Cluster::background).
  Nanoseconds half(const MoveCost& cost) const { return cluster_.background ? 0 : to_ns(cost.figure.time) / 2; }
  Nanoseconds copies(const Segment& s, double bytes) const {
    return cluster_.background || bytes <= 0 ? 0 : to_ns(memory(s, bytes).time);
  }
  Nanoseconds unpacking(const Segment& s, int transfer, const MoveCost& cost) const {
    return packed_[at(transfer)] ? copies(s, 2.0 * static_cast<double>(cost.payload.count)) : 0;
  }
  // Each wait takes its values out of the message.
  Nanoseconds own_wait(const Segment& s, const Instruction& wait, const Instruction* issue, int transfer) const {
    if (cluster_.background) return 0;
    const MoveCost cost = transfer >= 0 ? sent(transfer) : moved(s, *issue);
    const std::size_t all = transfer >= 0 ? program_.transfers[at(transfer)].to.size() : issue->out.size();
    const Nanoseconds unpacked =
        transfer >= 0 ? unpacking(s, transfer, cost) : copies(s, copies_of(*issue, cost.payload, true).after);
    return saturated_product(half(cost) + unpacked, static_cast<Nanoseconds>(wait.out.size())) /
           static_cast<Nanoseconds>(all);
  }

  // `taken`: the message may be the operand.
  MessageCopies copies_of(const Instruction& issue, Bytes payload, bool taken) const {
    const std::int64_t in = value_bytes_[at(issue.in[0])], out = value_bytes_[at(issue.out[0])];
    std::int64_t members = 1;
    for (const Digit& d : issue.move.digits) members = saturated_product(members, d.size);
    return message_copies(issue, payload, taken, saturated_product(std::min(in, out), members) == std::max(in, out));
  }
  // Whether the message of a reduce-scatter is a copy of its operands, and the result of an all-gather a copy of its message.
  bool packs_apart(const Instruction& issue) const {
    return issue.move.kind == MoveKind::reduce_scatter && copies_of(issue, Bytes{1}, true).before > 0;
  }
  bool unpacks_apart(const Instruction& issue) const {
    return issue.move.kind == MoveKind::all_gather && copies_of(issue, Bytes{1}, true).after > 0;
  }

  std::int64_t total_bytes(const std::vector<ProgramValueId>& values) const {
    std::int64_t sum = 0;
    for (const ProgramValueId v : values) sum = saturated_sum(sum, value_bytes_[at(v)]);
    return sum;
  }

  void add_send(const Segment& s, const Instruction& i, Step& step) {
    if (packed_[at(i.transfer)]) step.transient = total_bytes(program_.transfers[at(i.transfer)].to);
    const MoveCost cost = sent(i.transfer);
    step.kind = StepKind::send;
    step.duration = to_ns(cost.figure.time);
    step.level = cost.level;
    step.own = half(cost) + unpacking(s, i.transfer, cost);
    step.instance = instances_.of_transfer(s, i.transfer);
    step.traffic = traffic(cost, "send");
  }

  void add_wait(const Segment& s, const Instruction& i, Step& step) {
    const Instruction* issue = issue_of_[at(i.out.at(0))];
    const ProgramValueId v = issue ? issue->out.at(0) : i.out.at(0);
    const int transfer = received_[at(v)];
    step.kind = transfer >= 0 ? StepKind::wait_receive : StepKind::wait_collective;
    step.values = static_cast<int>(i.out.size());
    step.instance = transfer >= 0 ? instances_.of_transfer(s, transfer) : instances_.of_value(s, v);
    step.own = own_wait(s, i, issue, transfer);
    const bool copied = issue && unpacks_apart(*issue);
    for (const ProgramValueId out : i.out) {
      step.after.push_back({MemoryKind::communication, -value_bytes_[at(out)], value(out)});
      (copied ? step.before : step.after).push_back(gained(out));
    }
    if (transfer >= 0 && unpacks_[at(transfer)] == &i && packed_[at(transfer)]) {
      const std::vector<ProgramValueId>& all = program_.transfers[at(transfer)].to;
      step.after.push_back({MemoryKind::communication, -total_bytes(all), message(all[0])});
    }
    if (issue && packs_apart(*issue) && cluster_.background)
      step.after.push_back({MemoryKind::communication, -total_bytes(issue->in), message(issue->out[0])});
  }

  // Reads the gradient, reads and writes the parameter and the optimizer state; where versions are kept, copies the
  // parameter before.
  void add_update(const Segment& s, const Instruction& i, Step& step) const {
    const double state = static_cast<double>(state_bytes(i.in.at(0)));
    const double moved = bytes_of({i.in.at(0), i.in.at(1)}) + bytes_of(i.out) + 2 * state;
    Figure figure = slowest(cluster_, kinds_[at(s.place)], [&](const DeviceType& d) {
      return update_time(moved, options_.optimizer_state_bytes, d, options_.costs);
    });
    if (program_.values[at(i.in.at(0))].lag > 0) figure.time += memory(s, 2 * bytes_of(i.out)).time;
    work(step, figure);
  }

  std::int64_t state_bytes(ProgramValueId v) const {
    const DType type = graph_.model->values[at(program_.values[at(v)].tensor)].dtype;
    return saturated_product(elements(v), optimizer_units(type) * options_.optimizer_state_bytes);
  }

  std::int64_t elements(ProgramValueId v) const {
    const ProgramValue& value = program_.values[at(v)];
    return local_elements(graph_, value.tensor, program_.layouts[at(value.layout)]);
  }

  std::vector<MemoryChange> standing(const DeviceClass& c, std::int64_t& host) const {
    std::vector<MemoryChange> out;
    const std::vector<int> members = devices(program_, c);
    if (members.empty()) return out;
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(program_.values.size()); ++v) {
      const ProgramValue& home = program_.values[at(v)];
      if (home.role != Role::home) continue;
      if (point_of(program_, program_.places[at(home.place)], members.front()).empty()) continue;
      out.push_back({MemoryKind::weights, saturated_product(value_bytes_[at(v)], 1 + home.lag), value(v)});
      if (!trained_[at(home.tensor)]) continue;
      if (away_[at(v)])
        host += state_bytes(v);
      else
        out.push_back({MemoryKind::optimizer, state_bytes(v), state(v)});
    }
    std::set<TensorId> held;
    for (const auto& [where, loaded] : written_) {
      const auto& [place, buffer] = where;
      if (point_of(program_, program_.places[at(place)], members.front()).empty() || !held.insert(buffer).second) continue;
      out.push_back({MemoryKind::weights, graph_.bytes(buffer), value(loaded)});
    }
    return out;
  }

  std::vector<MemoryChange> freed_with_step(const Unfreed& unfreed) const {
    std::vector<MemoryChange> out;
    for (const ProgramValueId v : unfreed.values) out.push_back(lost(v));
    for (const PieceId p : unfreed.pieces)
      out.push_back({MemoryKind::activations, -pieces_->of(p).memory.kept, piece(p)});
    return out;
  }

  const Graph& graph_;
  const Program& program_;
  const Cluster& cluster_;
  const SimulationOptions& options_;
  Parties& parties_;
  Reuse reuse_;
  Steps result_;
  Instances instances_;
  std::vector<std::vector<int>> kinds_;                          // of devices, by place
  std::optional<PieceTimes> pieces_;
  std::vector<char> parameter_, trained_;     // by tensor
  std::vector<std::int64_t> value_bytes_;     // by value
  std::map<std::pair<PlaceId, TensorId>, ProgramValueId> written_;  // buffers that steps change: the value that is loaded first
  std::vector<char> away_;                    // by value: a home whose optimizer's state is in host memory
  std::vector<int> received_;                 // by value: transfer that makes it
  std::vector<const Instruction*> issue_of_;  // by value: the collective that makes it
  std::vector<char> packed_;  // by transfer: made of several blocks, so with memory of its own until it is taken apart
  std::vector<const Instruction*> unpacks_;  // by transfer: the wait that takes its message apart, the first one
  std::set<std::size_t> restored_;           // what comes back
  std::optional<HeldValues> held_;
  std::set<ProgramValueId> taken_;  // values whose memory a reduction, or a buffer, has taken over
  std::set<PieceId> apart_;         // pieces with a second backward
  std::optional<SharedGradients> shared_;
};

}  // namespace

Steps make_steps(const Graph& graph, const Program& program, const Cluster& cluster, const SimulationOptions& options,
                 Parties& parties) {
  return Maker(graph, program, cluster, options, parties).make();
}

}  // namespace planscope
