#include "engine/runtime/operator_timing.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "engine/runtime/operator_shard.h"
#include "engine/runtime/sample_values.h"

namespace planscope {

namespace {

constexpr double kBatch = 200, kLeast = 20e3, kMost = 300e3;  // microseconds
constexpr std::size_t kLeastBatches = 5;
constexpr double kStable = 0.03;
constexpr int kMostCalls = 64;  // of a batch
constexpr std::int64_t kLargest = std::int64_t{2} << 30;

double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

bool is_stable(const std::vector<double>& times) {
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  const double before = median({times.begin(), half}), after = median({half, times.end()});
  return std::abs(before - after) <= kStable * std::max(before, after);
}

class Timing {
 public:
  Timing(const Graph& graph, const Program& program, const MeasuredOperator& what, std::uint64_t seed,
         const std::function<Microseconds()>& now)
      : graph_(graph),
        piece_(program.pieces.at(static_cast<std::size_t>(what.piece))),
        piece_op_(piece_.ops.at(static_cast<std::size_t>(what.op))),
        op_(graph.ops[static_cast<std::size_t>(piece_op_.op)]),
        backward_(what.backward),
        now_(now),
        shard_(make_shard(program, seed)) {
    draw(seed);
  }

  OperatorTiming run() {
    batch(1);
    const double once = batch(1);
    const int calls = std::clamp(static_cast<int>(std::ceil(kBatch / std::max(once, 1.0))), 1, kMostCalls);
    if (once > kMost) return {{once}, 1};
    if (calls > 1) batch(calls);
    std::vector<double> times;
    double spent = 0;
    while (spent < kMost) {
      const double time = batch(calls);
      times.push_back(time / calls);
      spent += time;
      if (times.size() >= kLeastBatches && spent >= kLeast && is_stable(times)) break;
    }
    return {{median(times)}, static_cast<int>(times.size()) * calls};
  }

 private:
  OperatorShard make_shard(const Program& program, std::uint64_t seed) {
    const Point origin(program.axes.size(), 0);
    std::int64_t bytes = 0;
    const auto region_of = [&](int slot) {
      const PieceSlot& s = piece_.slots[static_cast<std::size_t>(slot)];
      Region r = region(graph_, s.tensor, program.layouts[static_cast<std::size_t>(s.layout)], origin);
      bytes += elements(r) * byte_size(graph_.model->values[static_cast<std::size_t>(s.tensor)].dtype);
      return r;
    };
    std::vector<Region> outputs;
    for (const int slot : piece_op_.inputs) regions_.push_back(region_of(slot));
    for (std::size_t o = 0; o < op_.outputs.size(); ++o)
      outputs.push_back(region_of(piece_op_.first_output + static_cast<int>(o)));
    if (bytes > kLargest) throw std::runtime_error("its operands and results are larger than 2 GiB");
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
      if (piece_.gradient && op_.backward && wanted && out.back().is_floating_point()) out.back().requires_grad_();
    }
    return out;
  }

  // How long so many calls take together.
  double batch(int calls) const {
    const at::AutoGradMode recording(piece_.gradient);
    std::vector<TensorList> operands, results;
    for (int k = 0; k < calls; ++k) operands.push_back(leaves());
    const double begin = now_().count;
    for (const TensorList& x : operands) results.push_back(shard_(x));
    const double forward = now_().count - begin;
    return backward_ ? backward(operands, results) : forward;
  }

  double backward(const std::vector<TensorList>& operands, const std::vector<TensorList>& results) const {
    TensorList outputs, given, wanted;
    for (const TensorList& list : results) {
      for (const at::Tensor& y : list) {
        if (!y.defined() || !y.requires_grad()) continue;
        outputs.push_back(y);
        given.push_back(at::ones(y.sizes(), y.options().requires_grad(false)));
      }
    }
    for (const TensorList& list : operands) {
      for (const at::Tensor& x : list)
        if (x.requires_grad()) wanted.push_back(x);
    }
    if (outputs.empty() || wanted.empty()) throw std::runtime_error("no gradient passes through it");
    const double begin = now_().count;
    const auto found = torch::autograd::grad(outputs, wanted, given, false, false, true);
    return now_().count - begin;
  }

  const Graph& graph_;
  const Piece& piece_;
  const PieceOp& piece_op_;
  const Op& op_;
  const bool backward_;
  const std::function<Microseconds()>& now_;
  std::vector<Region> regions_;  // of the operands
  OperatorShard shard_;
  TensorList operands_;
};

}  // namespace

OperatorTiming time_operator(const Graph& graph, const Program& program, const MeasuredOperator& what,
                             std::uint64_t seed, const std::function<Microseconds()>& now) {
  return Timing(graph, program, what, seed, now).run();
}

}  // namespace planscope
