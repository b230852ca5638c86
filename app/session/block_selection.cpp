#include "app/session/block_selection.h"

#include <algorithm>
#include <cstdlib>

#include "app/workbench/equal_layers.h"
#include "app/workbench/timeline.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostWords = 4000;  // letters of a selection that a statement of a plan may still hold

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool same(Nanoseconds a, Nanoseconds b) { return std::llabs(a - b) <= 1; }  // surfaces say times with three decimals of a µs

class Block {
 public:
  Block(const Document& d, const Task& task) : d_(d), program_(d.shown->evaluation->made.program), task_(task) {}

  Selection run() const {
    if (task_.instruction < 0) return {};
    const Segment& segment = program_.segments[at(task_.segment)];
    const Instruction& i = segment.instructions[at(task_.instruction)];
    if (i.piece >= 0) return computed(program_.pieces[at(i.piece)]);
    if (const std::string name = communicator_name(program_, segment.place, i); !name.empty()) return sent(name, i);
    if (i.code == Code::update) return updated(i);
    return tensor(tensors_of(i.out.empty() ? i.in : i.out));
  }

 private:
  Selection computed(const Piece& piece) const {
    std::vector<OpId> operators;
    for (const PieceOp& o : piece.ops) operators.push_back(o.op);
    std::sort(operators.begin(), operators.end());
    operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
    return words(operators.empty() ? "" : selection_of(d_.shown->sized->info, operators));
  }

  Selection sent(const std::string& name, const Instruction& i) const {
    if (communicators_named(*d_.shown->study->traffic({}), name).empty()) return {};  // a group of one device
    Selection out = tensor(tensors_sent(program_, i));
    out.communicator = name;
    return out;
  }

  Selection updated(const Instruction& i) const {
    const std::vector<TensorId> home = i.in.empty() ? std::vector<TensorId>{} : tensors_of({i.in.front()});
    const std::vector<Parameter>& all = graph().parameters;
    for (int p = 0; p < std::ssize(all); ++p)
      if (!home.empty() && all[at(p)].tensor == home.front())
        return words("update(" + readers_of(d_.shown->sized->info, {p}) + ")");
    return {};
  }

  Selection tensor(const std::vector<TensorId>& all) const {
    Selection out;
    if (all.size() == 1) out.tensor = graph().tensor_name(all.front());
    return out;
  }

  static Selection words(const std::string& text) {
    Selection out;
    if (text.size() <= kMostWords) out.operators = text;
    return out;
  }

  std::vector<TensorId> tensors_of(const std::vector<ProgramValueId>& values) const {
    std::vector<TensorId> out;
    for (const ProgramValueId v : values)
      if (v >= 0) out.push_back(program_.values[at(v)].tensor);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  const Graph& graph() const { return *d_.shown->evaluation->made.graph; }

  const Document& d_;
  const Program& program_;
  const Task& task_;
};

// The message that is over when the compute stream of a class goes on: its own, or one of the class that it waits for. A wait
// may have several causes, one behind the other.
std::optional<Task> ends_wait(const Simulation& s, int c, Nanoseconds end) {
  std::vector<int> from{c};
  bool waits = false;
  for (const Gap& g : s.classes[at(c)].gaps)
    if (waits ? same(g.start, end) : g.start < end && end <= g.end + 1) {
      waits = true, end = g.end;
      if (g.from >= 0) from.push_back(g.from);
    }
  for (const int k : from) {
    const ClassTimeline& t = s.classes[at(k)];
    for (const InstructionBlock& b : t.communication)
      if (waits && same(b.end, end) && b.end > b.start && b.instruction >= 0)
        return Task{k, t.slots[at(b.slot)].segment, t.slots[at(b.slot)].index, b.instruction};
  }
  return std::nullopt;
}

}  // namespace

Selection selection_of_block(const Document& d, const TimeSelection& t) {
  if (t.stream.empty() || !t.us || t.lanes.size() != 1 || !d.shown || !d.shown->evaluation || !d.shown->sized) return {};
  const Evaluation& e = *d.shown->evaluation;
  const int c = class_of_lane(e, t.lanes[0]);
  const std::optional<Window> w = window_of(t.us);
  if (c < 0 || !w) return {};
  if (const std::optional<StudiedTask> task = d.shown->study->find_task(c, t.stream, *w)) return Block(d, task->task).run();
  if (t.stream != "compute" && t.stream != "operators") return {};
  const bool known = is_detailed(e.simulation);
  const std::shared_ptr<const DetailedSimulation> near = known ? nullptr : d.shown->study->simulation(*w);
  const Simulation& s = near ? near->simulation : e.simulation;
  const std::optional<Task> task = ends_wait(s, c, w->to);
  return task ? Block(d, *task).run() : Selection{};
}

}  // namespace planscope::session
