// Operators of parameters alone (a table of biases by relative position, looked up) whose value only loops over a free axis
// read: computed in each run of the loop, as one device would for each micro-batch, so that neither value nor gradient is
// held while other runs go on. Their gradients are sums over the axis as far as one run gives them, and pass on as such.
// Only axes that split data: where parameters are split too (coshard), a run is a piece of the work, not all of it again.
#include <algorithm>
#include <set>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Repeated {
 public:
  explicit Repeated(const Work& w) : w_(w), alone_(w.g.ops.size(), false), out_(w.g.ops.size()) {}

  std::vector<std::vector<int>> run() {
    const OpId count = static_cast<OpId>(w_.g.ops.size());
    for (OpId o = 0; o < count; ++o) alone_[static_cast<std::size_t>(o)] = reads_parameters_alone(o);
    if (std::find(alone_.begin(), alone_.end(), true) == alone_.end()) return std::move(out_);
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a) {
      if (!w_.d.axes[static_cast<std::size_t>(a)].free || divided(a) || splits_parameters(a)) continue;
      for (OpId o = count; o-- > 0;)
        if (alone_[static_cast<std::size_t>(o)] && !w_.op(o).parameter_free && read_in_loop(o, a))
          out_[static_cast<std::size_t>(o)].push_back(a);
    }
    return std::move(out_);
  }

 private:
  bool divided(int a) const {
    return std::any_of(w_.divided.begin(), w_.divided.end(), [&](const DividedAxis& d) { return d.axis == a; });
  }
  OpId producer(TensorId t) const {
    return w_.kind(t) == ValueKind::computed ? w_.g.tensors[static_cast<std::size_t>(t)].producer : -1;
  }
  // No input of the model reaches it.
  bool reads_parameters_alone(OpId o) const {
    if (w_.g.node(o).random) return false;
    return std::all_of(w_.op(o).inputs.begin(), w_.op(o).inputs.end(), [&](const Operand& in) {
      const OpId p = producer(in.tensor);
      return p >= 0 ? alone_[static_cast<std::size_t>(p)] : w_.kind(in.tensor) != ValueKind::input;
    });
  }

  // Whether the axis splits what an operator reads there.
  bool splits(OpId o, int a, const Operand& in) const {
    std::vector<Binding> bindings;
    for (const FactorBinding& f : w_.binding(o, a).factors)
      bindings.push_back({Digit{a, 2, 1, {}}, f.factor, f.part, Origin::follow, -1});
    return operand_layout(w_.op(o), in, false, bindings) != Layout{};
  }

  bool splits_parameters(int a) const {
    std::set<std::pair<int, int>> known;  // operators of a kind that bind the same
    for (OpId o = 0; o < static_cast<OpId>(w_.g.ops.size()); ++o) {
      if (!w_.binding(o, a).bound() ||
          !known.emplace(w_.kinds[static_cast<std::size_t>(o)], w_.binding_id(o, a)).second)
        continue;
      for (const Operand& in : w_.op(o).inputs)
        if (w_.kind(in.tensor) == ValueKind::parameter && splits(o, a, in)) return true;
    }
    return false;
  }

  bool read_in_loop(OpId o, int a) const {
    if (w_.binding(o, a).bound()) return false;
    bool any = false;
    for (const Operand& out : w_.op(o).outputs) {
      if (out.tensor == w_.g.model->loss) return false;
      for (const OpId r : w_.g.tensors[static_cast<std::size_t>(out.tensor)].readers) {
        any = true;
        const auto& again = out_[static_cast<std::size_t>(r)];
        if (std::find(again.begin(), again.end(), a) != again.end()) continue;
        if (w_.binding(r, a).factors.empty() || w_.binding(r, a).pass >= 0) return false;
        for (const Operand& in : w_.op(r).inputs)
          if (in.tensor == out.tensor && splits(r, a, in)) return false;
      }
    }
    return any;
  }

  const Work& w_;
  std::vector<bool> alone_;  // by operator
  std::vector<std::vector<int>> out_;
};

}  // namespace

std::vector<std::vector<int>> repeated_axes(const Work& w) { return Repeated(w).run(); }

}  // namespace planscope::build
