#include "app/workbench/prediction_errors.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/workbench/measured_step.h"

namespace planscope {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

using Key = std::pair<SegmentId, int>;  // an instruction of a segment

struct Computed {
  std::map<Key, Nanoseconds> times;
  Nanoseconds sum = 0;
};

// What a class computes, instruction by instruction.
Computed computed(const Program& program, const ClassTimeline& t) {
  Computed out;
  for (const InstructionBlock& b : t.instructions) {
    const SegmentId segment = t.slots[static_cast<std::size_t>(b.slot)].segment;
    if (b.instruction < 0 || b.stream != Stream::compute) continue;
    const Instruction& i =
        program.segments[static_cast<std::size_t>(segment)].instructions[static_cast<std::size_t>(b.instruction)];
    if (!computes(i.code)) continue;
    out.times[{segment, b.instruction}] += b.end - b.start;
    out.sum += b.end - b.start;
  }
  return out;
}

class Errors {
 public:
  Errors(const Graph& graph, const Program& program, const Simulation& predicted, const Simulation& measured)
      : graph_(graph), program_(program), predicted_(predicted), measured_(measured) {}

  std::vector<PredictionError> list() {
    const int step = add("step", -1, "step", 1, predicted_.step_us(), measured_.step_us());
    for (std::size_t c = 0; c < program_.classes.size(); ++c) one(step, c);
    return std::move(out_);
  }

 private:
  int add(std::string by, int parent, std::string what, std::int64_t count, std::optional<double> predicted,
          double measured) {
    out_.push_back({std::move(by), parent, std::move(what), count, predicted, measured});
    if (parent >= 0) out_.back().device_class = out_[static_cast<std::size_t>(parent)].device_class;
    return static_cast<int>(out_.size()) - 1;
  }

  void one(int step, std::size_t c) {
    const ClassTimeline &p = predicted_.classes[c], &m = measured_.classes[c];
    const Computed predicted = computed(program_, p), measured = computed(program_, m);
    // Of a step that is too long for its instructions to be recorded, what a class computes is known as a whole.
    const bool recorded = !p.instructions.empty();
    const Nanoseconds sum = recorded ? predicted.sum : p.compute;
    const int row = add("class", step, program_.classes[c].name, 1, predicted_.step_us(), measured_.step_us());
    out_.back().device_class = static_cast<int>(c);
    const int part = add("part", row, "computes", 1, us(sum), us(measured.sum));
    add("part", row, "communicates and waits", 1, us(predicted_.step_ns - sum), us(m.collective + m.transfer));
    add("part", row, "between instructions", 1, 0, us(measured_.step_ns - measured.sum - m.collective - m.transfer));
    tasks(part, m, recorded ? &predicted : nullptr, measured);
  }

  void tasks(int parent, const ClassTimeline& m, const Computed* predicted, const Computed& measured) {
    std::map<SegmentId, std::int64_t> runs;
    std::vector<SegmentId> order;
    for (const SlotBlock& s : m.slots)
      if (runs[s.segment]++ == 0) order.push_back(s.segment);
    for (const SegmentId id : order) {
      const Segment& segment = program_.segments[static_cast<std::size_t>(id)];
      const int task = add("task", parent, segment.name, runs[id], predicted ? std::optional(0.0) : std::nullopt, 0);
      for (std::size_t i = 0; i < segment.instructions.size(); ++i) {
        const Key key(id, static_cast<int>(i));
        const double was = predicted ? us(time(*predicted, key)) : 0, is = us(time(measured, key));
        if (was == 0 && is == 0) continue;
        add("operators", task, name(segment.instructions[i]), runs[id], predicted ? std::optional(was) : std::nullopt,
            is);
        out_.back().operators = operators(segment.instructions[i]);
        PredictionError& t = out_[static_cast<std::size_t>(task)];
        t.operators.insert(t.operators.end(), out_.back().operators.begin(), out_.back().operators.end());
        if (predicted) *t.predicted_us += was;
        t.measured_us += is;
      }
      sort(out_[static_cast<std::size_t>(task)].operators);
    }
  }

  static Nanoseconds time(const Computed& c, const Key& key) {
    const auto found = c.times.find(key);
    return found == c.times.end() ? 0 : found->second;
  }

  static void sort(std::vector<OpId>& operators) {
    std::sort(operators.begin(), operators.end());
    operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
  }

  std::vector<OpId> operators(const Instruction& i) const {
    std::vector<OpId> out;
    if (i.piece < 0) return out;
    for (const PieceOp& op : program_.pieces[static_cast<std::size_t>(i.piece)].ops) out.push_back(op.op);
    sort(out);
    return out;
  }

  // `transformer.h.0.ln_1 … transformer.h.0.attn (5 operators), backward`
  std::string name(const Instruction& i) const {
    if (i.piece < 0) return describe(program_, graph_, i);
    const std::vector<PieceOp>& ops = program_.pieces[static_cast<std::size_t>(i.piece)].ops;
    const auto called = [&](const PieceOp& op) { return graph_.node(op.op).name(); };
    std::string out = ops.empty() ? "" : called(ops.front());
    if (ops.size() > 1) out += " … " + called(ops.back()) + " (" + std::to_string(ops.size()) + " operators)";
    if (i.code != Code::compute) out += ", " + std::string(to_string(i.code));
    return out;
  }

  const Graph& graph_;
  const Program& program_;
  const Simulation &predicted_, &measured_;
  std::vector<PredictionError> out_;
};

}  // namespace

std::vector<PredictionError> prediction_errors(const Graph& graph, const Program& program, const Simulation& predicted,
                                               const Simulation& measured) {
  return Errors(graph, program, predicted, measured).list();
}

}  // namespace planscope
