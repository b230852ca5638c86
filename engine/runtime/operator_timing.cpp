#include "engine/runtime/operator_timing.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/runtime/autograd.h"
#include "engine/runtime/operator_shard.h"
#include "engine/runtime/optimizer.h"
#include "engine/runtime/process_usage.h"
#include "engine/runtime/sample_values.h"

namespace planscope {

namespace {

constexpr double kLeast = 20e3, kMost = 300e3;  // microseconds per operator
constexpr std::size_t kLeastRounds = 9;
constexpr double kStable = 0.03;
constexpr std::int64_t kLargest = std::int64_t{2} << 30;
// Bytes that take turns: about what a layer's operators touch one after the other; and what all updates of a step do.
constexpr std::int64_t kLayer = std::int64_t{48} << 20, kStep = std::int64_t{256} << 20;

double ranked(std::vector<double> v, std::size_t position) {
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(v.begin(), at, v.end());
  return *at;
}
double median(const std::vector<double>& v) { return ranked(v, v.size() / 2); }
// What disturbs a call only makes it longer.
double undisturbed(const std::vector<double>& v) { return ranked(v, v.size() / 4); }

bool is_stable(const std::vector<double>& times) {
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  const double before = median({times.begin(), half}), after = median({half, times.end()});
  return std::abs(before - after) <= kStable * std::max(before, after);
}

double now() { return thread_time().count; }

double run_backward(const TensorList& outputs, const TensorList& wanted, const TensorList& given) {
  const double begin = now();
  const auto found = torch::autograd::grad(outputs, wanted, given, false, false, true);
  return now() - begin;
}

// What a run of autograd takes that computes nothing: a piece has one for all of its operators.
double empty_backward() {
  const at::AutoGradMode recording(true);
  const at::Tensor x = at::zeros({1}).requires_grad_(), given = at::ones({1});
  return run_backward({at::alias(x)}, {x}, {given});
}

class Timing {
 public:
  Timing(const Graph& graph, const Program& program, const MeasuredOperator& what, std::uint64_t seed)
      : graph_(graph),
        piece_(program.pieces.at(static_cast<std::size_t>(what.piece))),
        piece_op_(piece_.ops.at(static_cast<std::size_t>(what.op))),
        op_(graph.ops[static_cast<std::size_t>(piece_op_.op)]),
        backward_(what.backward),
        shard_(make_shard(program, seed)) {
    draw(seed);
  }

  std::int64_t bytes() const { return bytes_; }

  // How long a call takes: forward, or the backward of one.
  double call() const {
    const at::AutoGradMode recording(piece_.gradient);
    const TensorList operands = leaves();
    const double begin = now();
    const TensorList results = shard_(operands);
    const double forward = now() - begin;
    return backward_ ? backward(operands, results) : forward;
  }

 private:
  OperatorShard make_shard(const Program& program, std::uint64_t seed) {
    const Point origin(program.axes.size(), 0);
    const auto region_of = [&](int slot) {
      const PieceSlot& s = piece_.slots[static_cast<std::size_t>(slot)];
      Region r = region(graph_, s.tensor, program.layouts[static_cast<std::size_t>(s.layout)], origin);
      bytes_ += elements(r) * byte_size(graph_.model->values[static_cast<std::size_t>(s.tensor)].dtype);
      return r;
    };
    std::vector<Region> outputs;
    for (const int slot : piece_op_.inputs) regions_.push_back(region_of(slot));
    for (std::size_t o = 0; o < op_.outputs.size(); ++o)
      outputs.push_back(region_of(piece_op_.first_output + static_cast<int>(o)));
    if (bytes_ > kLargest) throw std::runtime_error("its operands and results are larger than 2 GiB");
    return OperatorShard(graph_, piece_op_.op, regions_, outputs, {Precision::model, seed});
  }

  void draw(std::uint64_t seed) {
    const Node& node = graph_.node(piece_op_.op);
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      std::vector<std::vector<std::int64_t>> sizes;
      for (const auto& parts : regions_[i]) {
        sizes.emplace_back();
        for (const Interval& part : parts) sizes.back().push_back(part.size());
      }
      const std::uint64_t key = random_key(seed, "operand " + std::to_string(i));
      const DType type = graph_.model->values[static_cast<std::size_t>(op_.inputs[i].tensor)].dtype;
      at::Tensor drawn = sample_operand(graph_, piece_op_.op, i, sizes, key).to(scalar_type(type));
      // Groups of rows are alike: a few rows in each would take no time.
      if (node.arguments[static_cast<std::size_t>(op_.inputs[i].argument)].name == "offs")
        drawn.copy_(at::arange(1, drawn.numel() + 1).mul(operands_[0].size(0)).div(drawn.numel(), "floor"));
      operands_.push_back(std::move(drawn));
    }
  }

  TensorList leaves() const {
    TensorList out;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      out.push_back(operands_[i].detach());
      const bool wanted = graph_.tensors[static_cast<std::size_t>(op_.inputs[i].tensor)].gradient;
      if (piece_.gradient && op_.backward && wanted && carries_gradient(out.back())) out.back().requires_grad_();
    }
    return out;
  }

  double backward(const TensorList& operands, const TensorList& results) const {
    TensorList outputs, given, wanted;
    for (const at::Tensor& y : results) {
      if (!y.defined() || !y.requires_grad()) continue;
      outputs.push_back(y);
      given.push_back(at::ones(y.sizes(), y.options().requires_grad(false)));
    }
    for (const at::Tensor& x : operands)
      if (x.requires_grad()) wanted.push_back(x);
    if (outputs.empty() || wanted.empty()) throw std::runtime_error("no gradient passes through it");
    return run_backward(outputs, wanted, given);
  }

  const Graph& graph_;
  const Piece& piece_;
  const PieceOp& piece_op_;
  const Op& op_;
  const bool backward_;
  std::int64_t bytes_ = 0;
  std::vector<Region> regions_;  // of the operands
  OperatorShard shard_;
  TensorList operands_;
};

// A sum over memory: two thirds of the bytes are read, one is written.
class Memory {
 public:
  explicit Memory(std::int64_t bytes) : bytes_(bytes) {
    const std::int64_t n = std::max<std::int64_t>(1, bytes / 12);
    for (at::Tensor& t : operands_) t = at::ones({n}, at::kFloat);
  }
  std::int64_t bytes() const { return bytes_; }
  double call() {
    const double begin = now();
    at::add_out(operands_[0], operands_[1], operands_[2]);
    return now() - begin;
  }

 private:
  std::int64_t bytes_;
  std::array<at::Tensor, 3> operands_;
};

// The update of a parameter: the gradient is read, the parameter and the optimizer's state are read and written.
class Update {
 public:
  explicit Update(const MeasuredMemory& m)
      : bytes_(m.bytes),
        settings_(default_settings(m.state > 4 ? OptimizerKind::adamw : OptimizerKind::sgd)),
        parameter_(at::ones({std::max<std::int64_t>(1, m.bytes / (3 * 4 + 2 * m.state))}, at::kFloat)),
        gradient_(at::ones_like(parameter_)),
        state_(settings_, parameter_) {}
  std::int64_t bytes() const { return bytes_; }
  double call() {
    const double begin = now();
    state_.step(settings_, parameter_, gradient_);
    return now() - begin;
  }

 private:
  std::int64_t bytes_;
  OptimizerSettings settings_;
  at::Tensor parameter_, gradient_;
  OptimizerState state_;
};

struct Measured {
  int item = -1;
  bool backward = false;
  std::function<double()> call;
  std::vector<double> times = {};
};

// Each once in turn, over and over, as in a training step. False: stopped.
bool run_rounds(std::vector<Measured>& group, const std::function<bool()>& stop, std::vector<double>& empty) {
  double spent = 0;
  const double count = static_cast<double>(group.size());
  std::vector<double> rounds;
  while (spent < kMost * count) {
    const double begin = now();
    for (std::size_t k = 0; k < group.size(); ++k) {
      if (stop()) return false;
      group[k].times.push_back(group[k].call());
      if (k == group.size() / 2) empty.push_back(empty_backward());
    }
    rounds.push_back(now() - begin);
    spent += rounds.back();
    if (rounds.size() >= kLeastRounds && spent >= kLeast * count && is_stable(rounds)) break;
  }
  return true;
}

// Measures in groups of what fits together.
class Groups {
 public:
  Groups(const std::function<bool()>& stop, const std::function<void(const OperatorMeasurement&)>& report)
      : stop_(stop), report_(report) {}

  // Something with bytes() and call(); what fails in the first call is reported.
  template <class Make>
  void add(int item, bool backward, const Make& make) {
    if (stop_()) return;
    const auto refuse = [&](const char* why) { report_({item, {}, 0, why}); };
    try {
      auto made = make();
      const double first = made->call();
      if (first > kMost) return report_({item, {first}, 1, ""});
      if (bytes_ + made->bytes() > most_) flush();
      bytes_ += made->bytes();
      group_.push_back({item, backward, [made] { return made->call(); }});
    } catch (const c10::Error& e) {
      refuse(e.what_without_backtrace());
    } catch (const std::exception& e) {
      refuse(e.what());
    }
  }

  void together(std::int64_t bytes) { most_ = bytes; }

  void flush() {
    std::vector<double> empty;
    if (!group_.empty() && !stop_() && run_rounds(group_, stop_, empty)) {
      for (const Measured& m : group_) {
        const double beside = m.backward ? median(empty) : 0;
        report_({m.item, {std::max(0.0, undisturbed(m.times) - beside)}, static_cast<int>(m.times.size()), ""});
      }
    }
    group_.clear();
    bytes_ = 0;
  }

 private:
  const std::function<bool()>& stop_;
  const std::function<void(const OperatorMeasurement&)>& report_;
  std::vector<Measured> group_;
  std::int64_t bytes_ = 0, most_ = kLayer;
};

}  // namespace

void time_operators(const Graph& graph, const Program& program, const ProfileJob& job,
                    const std::function<bool()>& stop, const std::function<void(const OperatorMeasurement&)>& report) {
  Groups groups(stop, report);
  int item = 0;
  for (const MeasuredOperator& o : job.items)
    groups.add(item++, o.backward, [&] { return std::make_shared<Timing>(graph, program, o, job.seed); });
  groups.flush();  // the large sizes would drive the operators' code and operands out of the caches
  groups.together(kStep);
  for (const bool updates : {false, true}) {
    int number = item;
    for (const MeasuredMemory& m : job.memory) {
      if (updates && m.state > 0) groups.add(number, false, [&] { return std::make_shared<Update>(m); });
      if (!updates && m.state == 0) groups.add(number, false, [&] { return std::make_shared<Memory>(m.bytes); });
      ++number;
    }
    groups.flush();
  }
}

}  // namespace planscope
