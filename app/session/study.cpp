#include "app/session/study.h"

#include <algorithm>
#include <cstdlib>

namespace planscope::session {

namespace {

bool same(Nanoseconds a, Nanoseconds b) { return std::llabs(a - b) <= 1; }  // surfaces say times with three decimals of a µs

// As people know it: the operators that it computes, from the first to the last.
std::string name_of(const Graph& graph, const Program& program, const Instruction& i) {
  if (i.piece < 0) return describe(program, graph, i);
  const std::vector<PieceOp>& ops = program.pieces[static_cast<std::size_t>(i.piece)].ops;
  if (ops.empty()) return describe(program, graph, i);
  const std::string first = graph.node(ops.front().op).name(), last = graph.node(ops.back().op).name();
  return std::string(to_string(i.code)) + " " + (first == last ? first : first + " … " + last);
}

}  // namespace

std::string task_name(const Evaluation& e, const SlotBlock& slot, int instruction) {
  const Program& program = e.made.program;
  const Segment& s = program.segments[static_cast<std::size_t>(slot.segment)];
  const Instruction& i = s.instructions[static_cast<std::size_t>(instruction)];
  return name_of(*e.made.graph, program, i) + " in " + label(program, slot);
}

Study::Study(std::shared_ptr<const Evaluation> e, std::shared_ptr<const Cluster> c) : evaluation_(std::move(e)), cluster_(std::move(c)) {}

const CloserLook& Study::look() const {
  std::call_once(once_, [this] {
    const Evaluation& e = *evaluation_;
    SimulationOptions options = e.options;
    options.alive = false;  // is known, and its moments are asked for one by one
    look_ = std::make_unique<const CloserLook>(*e.made.graph, e.made.program, *cluster_, options);
  });
  return *look_;
}

bool Study::detailed() const { return is_detailed(evaluation_->simulation); }

std::shared_ptr<const DetailedSimulation> Study::simulation(std::optional<Window> w) const {
  if (detailed()) w.reset();
  const Span key = w ? Span({w->from, w->to}) : std::nullopt;
  return simulations_.get(key, [&] {
    Result<DetailedSimulation> made = look().window(w);
    auto out = std::make_shared<DetailedSimulation>();
    if (made.value)
      *out = std::move(*made.value);
    else
      out->simulation = evaluation_->simulation;  // it was possible before
    // What is alive at the peak was recorded with the first simulation.
    for (std::size_t c = 0; c < out->simulation.classes.size(); ++c)
      out->simulation.classes[c].alive = evaluation_->simulation.classes[c].alive;
    return std::shared_ptr<const DetailedSimulation>(std::move(out));
  });
}

std::shared_ptr<const viz::TimelineModel> Study::timeline(std::optional<Window> w) const {
  if (detailed()) w.reset();
  const Span key = w ? Span({w->from, w->to}) : std::nullopt;
  return timelines_.get(key, [&] {
    const std::shared_ptr<const DetailedSimulation> s = simulation(w);
    const Evaluation& e = *evaluation_;
    return std::make_shared<const viz::TimelineModel>(planscope::timeline(
        *e.made.graph, e.made.program, s->simulation, {cluster_.get(), s->kinds.empty() ? nullptr : &s->kinds, w}));
  });
}

std::shared_ptr<const Result<AliveMoment>> Study::alive(int device_class, Window w) const {
  return alive_.get({device_class, {w.from, w.to}},
                    [&] { return std::make_shared<const Result<AliveMoment>>(look().alive(device_class, w)); });
}

std::shared_ptr<const TimeSums> Study::sums(Window w) const {
  return sums_.get({w.from, w.to}, [&] {
    const Evaluation& e = *evaluation_;
    return std::make_shared<const TimeSums>(time_sums(*e.made.graph, e.made.program, *cluster_, simulation(w)->simulation, w));
  });
}

std::shared_ptr<const TrafficFacts> Study::traffic(const TrafficBrush& brush) const {
  return traffics_.get(brush, [&] {
    TrafficFacts out = planscope::traffic(*evaluation_, *cluster_, brush);
    if (!(brush == TrafficBrush{})) name_as(out, *traffic({}));
    return std::make_shared<const TrafficFacts>(std::move(out));
  });
}

std::shared_ptr<const Result<TensorFacts>> Study::tensor(const std::string& name, const TensorQuestion& q) const {
  return tensors_.get({name, q}, [&] {
    return std::make_shared<const Result<TensorFacts>>(tensor_facts(*evaluation_, *cluster_, name, q));
  });
}

namespace {

// Of what a simulation has recorded of a class: a slot of its compute stream, an operator, or a message.
std::optional<StudiedTask> recorded_task(const Evaluation& e, const Simulation& s, int c, const std::string& stream, const Window& w) {
  const Program& program = e.made.program;
  const ClassTimeline& t = s.classes[static_cast<std::size_t>(c)];
  const auto fits = [&](const auto& b) { return same(b.start, w.from) && same(b.end, w.to); };
  if (stream == "compute")
    for (const SlotBlock& b : t.slots)
      if (fits(b)) return StudiedTask{label(program, b), {c, b.segment, b.index, -1}, b.start, b.end, {}, {}, {}, {}};
  const bool computes = stream == "compute" || stream == "operators";
  for (const InstructionBlock& b : computes ? t.instructions : t.communication) {
    if (!fits(b) || b.instruction < 0 || !(computes ? b.stream == Stream::compute : to_string(b.stream) == stream)) continue;
    const SlotBlock& slot = t.slots[static_cast<std::size_t>(b.slot)];
    return StudiedTask{task_name(e, slot, b.instruction), {c, slot.segment, slot.index, b.instruction},
                       b.start, b.end, {}, {}, {}, {}};
  }
  return std::nullopt;
}

}  // namespace

// What is recorded anyway is looked at first: playing a long step again takes its time.
std::optional<StudiedTask> Study::find_task(int c, const std::string& stream, Window w) const {
  const Evaluation& e = *evaluation_;
  if (c < 0 || static_cast<std::size_t>(c) >= e.simulation.classes.size()) return std::nullopt;
  std::optional<StudiedTask> found = recorded_task(e, e.simulation, c, stream, w);
  if (found || detailed()) return found;
  return recorded_task(e, simulation(w)->simulation, c, stream, w);
}

std::shared_ptr<const StudiedTask> Study::task(int c, const std::string& stream, Window w) const {
  return tasks_.get({{c, stream}, {w.from, w.to}}, [&]() -> std::shared_ptr<const StudiedTask> {
    std::optional<StudiedTask> found = find_task(c, stream, w);
    if (!found) return nullptr;
    const auto ask = [&](std::optional<Nanoseconds>& to, const Result<Nanoseconds>& answer) {
      if (answer.value)
        to = *answer;
      else if (!answer.diagnostics.empty())
        found->problem = answer.diagnostics.front().what;
    };
    Task all = found->task;
    all.index = -1;
    ask(found->slack, look().slack(found->task));
    ask(found->step_without, look().step_if(found->task));
    ask(found->step_without_all, look().step_if(all));
    return std::make_shared<const StudiedTask>(std::move(*found));
  });
}

std::shared_ptr<const StudiedTask> Study::known_task(int c, const std::string& stream, Window w) const {
  return tasks_.find({{c, stream}, {w.from, w.to}}).value_or(nullptr);
}

}  // namespace planscope::session
