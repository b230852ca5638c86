#include "planner/simulate/working_set.h"

#include <algorithm>
#include <utility>

#include "planner/cost/operator_memory.h"
#include "planner/simulate/storage_roots.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Reader {
  const Graph& graph;
  const Piece& piece;
  const std::vector<Bytes>& slots;
  std::vector<int> root;            // slot -> slot whose storage it has
  std::vector<int> gradient;        // slot -> slot whose gradient its own is a view of
  std::vector<char> held;           // root: a leaf or an output, held by a value of the Program
  std::vector<char> saved;          // root: some backward reads it
  std::vector<std::int64_t> aside;  // by operator: kept beside its operands and results

  Reader(const Graph& g, const Piece& p, const std::vector<Bytes>& s) : graph(g), piece(p), slots(s) {
    const std::size_t n = piece.slots.size();
    StorageRoots roots = storage_roots(graph, piece);
    root = std::move(roots.storage);
    gradient = std::move(roots.gradient);
    held.assign(n, 0);
    saved.assign(n, 0);
    for (int i = 0; i < piece.leaves; ++i) held[at(i)] = 1;
    for (int slot : piece.outputs) held[at(root[at(slot)])] = 1;
    for (const PieceOp& o : piece.ops) {
      aside.push_back(kept_aside(graph, o).count);
      if (op(o).backward)
        for (int slot : saves(o)) saved[at(root[at(slot)])] = 1;
    }
  }

  const Op& op(const PieceOp& o) const { return graph.ops[at(o.op)]; }
  int results(const PieceOp& o) const { return static_cast<int>(op(o).outputs.size()); }
  std::int64_t bytes(int slot) const { return slots[at(slot)].count; }
  bool kept(int slot) const { return saved[at(slot)] && !held[at(slot)]; }
  bool has_gradient(int slot) const { return graph.tensors[at(piece.slots[at(slot)].tensor)].gradient; }

  bool is_parameter(int slot) const {
    return slot < piece.leaves && graph.model->values[at(piece.slots[at(slot)].tensor)].kind == ValueKind::parameter;
  }

  std::vector<int> saves(const PieceOp& o) const {
    std::vector<int> out;
    for (int s : op(o).saves) out.push_back(s < 0 ? o.first_output - 1 - s : o.inputs[at(s)]);
    return out;
  }
};

std::int64_t total_outputs(const Reader& r) {
  std::int64_t sum = 0;
  for (int slot : r.piece.outputs) sum += r.bytes(slot);
  return sum;
}

// The worst moment of the forward pass, less what is there at its end.
std::int64_t forward_peak(const Reader& r, bool keep) {
  const std::size_t n = r.piece.slots.size();
  std::vector<int> last(n, -1);  // root -> last operator that reads it
  for (std::size_t i = 0; i < r.piece.ops.size(); ++i)
    for (int slot : r.piece.ops[i].inputs) last[at(r.root[at(slot)])] = static_cast<int>(i);
  std::int64_t now = 0, worst = 0, kept = 0;
  for (std::size_t i = 0; i < r.piece.ops.size(); ++i) {
    const PieceOp& o = r.piece.ops[i];
    std::vector<int> ends;
    for (int k = 0; k < r.results(o); ++k) {
      const int slot = o.first_output + k;
      if (r.root[at(slot)] != slot) continue;
      now += r.bytes(slot);
      if (keep && r.kept(slot)) kept += r.bytes(slot);
      if (last[at(slot)] < 0) ends.push_back(slot);
    }
    if (keep) {
      now += r.aside[i];
      kept += r.aside[i];
    }
    worst = std::max(worst, now + taken_meanwhile(r.graph, o).count);
    for (int slot : o.inputs)
      if (last[at(r.root[at(slot)])] == static_cast<int>(i)) ends.push_back(r.root[at(slot)]);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (int slot : ends)
      if (!r.held[at(slot)] && !(keep && r.kept(slot))) now -= r.bytes(slot);
  }
  return std::max<std::int64_t>(0, worst - total_outputs(r) - kept);
}

enum class Gradients { all, inputs, parameters };

class BackwardWalk {
 public:
  BackwardWalk(const Reader& r, Gradients which) : r_(r), which_(which), alive_(r.piece.slots.size(), 0) {
    for (int slot : r.piece.outputs) alive_[at(r.gradient[at(slot)])] = 1;
    given_ = alive_;  // values of their own
    left_.assign(r.piece.slots.size(), 0);
    hand_on();
  }

  BackwardSet walk() {
    const std::vector<std::int64_t> released = releases();
    std::int64_t worst = 0;
    const std::size_t n = r_.piece.ops.size();
    for (std::size_t k = 0; k < n; ++k) {
      // The second of two backward passes goes through the uses of parameters as they were made.
      const std::size_t i = which_ == Gradients::parameters ? k : n - 1 - k;
      const PieceOp& o = r_.piece.ops[i];
      if (!r_.op(o).backward) continue;
      std::int64_t extra = 0;  // contributions to gradients that are there already
      for (int slot : o.inputs) extra += contribute(r_.gradient[at(slot)]);
      if (now_ + gradients_ + extra > worst) {
        worst = now_ + gradients_ + extra;
        set_.bytes = now_ + extra;
        set_.gradients = gradients_;
      }
      end_gradients(o);
      now_ -= released[i];
    }
    return set_;
  }

 private:
  // Kept bytes that end with an operator's backward: that of the last operator that reads them. The first of two passes
  // ends nothing; the second ends what operators with parameters read alone.
  std::vector<std::int64_t> releases() const {
    const bool second = which_ == Gradients::parameters;
    const std::size_t n = r_.piece.ops.size();
    std::vector<std::int64_t> out(n, 0);
    if (which_ == Gradients::inputs) return out;
    std::vector<int> last(r_.piece.slots.size(), -1);  // root -> operator with whose backward it ends
    std::vector<char> stays(r_.piece.slots.size(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      const PieceOp& o = r_.piece.ops[i];
      const bool ends = !second || has_parameter(o);
      if (ends) out[i] += r_.aside[i];
      if (!r_.op(o).backward) continue;
      for (int slot : r_.saves(o)) {
        const int root = r_.root[at(slot)];
        if (!r_.kept(root)) continue;
        if (!ends) stays[at(root)] = 1;
        if (second || last[at(root)] < 0) last[at(root)] = static_cast<int>(i);
      }
    }
    for (std::size_t root = 0; root < last.size(); ++root)
      if (last[root] >= 0 && !stays[root]) out[at(last[root])] += r_.bytes(static_cast<int>(root));
    return out;
  }

  // As it is, or as a view that another operator has made.
  bool has_parameter(const PieceOp& o) const {
    return std::any_of(o.inputs.begin(), o.inputs.end(), [&](int slot) {
      const int root = r_.gradient[at(slot)];
      return r_.is_parameter(root) && r_.gradient[at(o.first_output)] != root;
    });
  }

  // Bytes that a contribution to a gradient takes beside it until it is added.
  std::int64_t contribute(int root) {
    if (!r_.has_gradient(root) || !wanted(root)) return 0;
    if (alive_[at(root)]) return r_.bytes(root);
    alive_[at(root)] = 1;
    (r_.is_parameter(root) ? gradients_ : now_) += r_.bytes(root);
    return 0;
  }

  // A sum hands its gradient on as it is: an operand that nothing else reads has the same tensor.
  void hand_on() {
    const std::size_t n = r_.piece.slots.size();
    handed_on_.resize(n);
    for (std::size_t slot = 0; slot < n; ++slot) handed_on_[slot] = static_cast<int>(slot);
    std::vector<int> readers(n, 0);
    for (const PieceOp& o : r_.piece.ops)
      if (r_.op(o).backward)
        for (int slot : o.inputs) ++readers[at(r_.gradient[at(slot)])];
    for (std::size_t i = r_.piece.ops.size(); i-- > 0;) {
      const PieceOp& o = r_.piece.ops[i];
      if (r_.graph.node(o.op).target != "aten::add.Tensor") continue;
      for (int slot : o.inputs) {
        const int root = r_.gradient[at(slot)];
        if (readers[at(root)] == 1 && r_.bytes(root) == r_.bytes(o.first_output))
          handed_on_[at(root)] = handed_on_[at(o.first_output)];
      }
    }
  }

  bool wanted(int root) const {
    if (which_ == Gradients::all) return true;
    return r_.is_parameter(root) == (which_ == Gradients::parameters);
  }

  void end_gradients(const PieceOp& o) {
    const bool waits = which_ == Gradients::inputs && has_parameter(o);
    for (int k = 0; k < r_.results(o); ++k) {
      const int slot = o.first_output + k;
      if (r_.gradient[at(slot)] != slot || !alive_[at(slot)] || given_[at(slot)]) continue;
      if (!waits || std::exchange(left_[at(handed_on_[at(slot)])], 1))
        now_ -= r_.bytes(slot);
      else
        set_.left += r_.bytes(slot);
    }
  }

  const Reader& r_;
  Gradients which_;
  std::vector<char> alive_, given_;  // gradient of the root
  std::vector<int> handed_on_;       // root -> that whose gradient is the same tensor
  std::vector<char> left_;           // of these: counted
  std::int64_t now_ = 0, gradients_ = 0;
  BackwardSet set_;
};

}  // namespace

WorkingSet working_set(const Graph& graph, const Piece& piece, const std::vector<Bytes>& slots) {
  const Reader r(graph, piece, slots);
  WorkingSet w;
  for (std::size_t i = 0; i < piece.slots.size(); ++i)
    if (r.kept(static_cast<int>(i))) w.kept += r.bytes(static_cast<int>(i));
  for (const std::int64_t bytes : r.aside) w.aside += bytes;
  w.kept += w.aside;
  for (int i = 0; i < piece.leaves; ++i)
    if (r.saved[at(i)]) w.saved_leaves.push_back(i);
  for (std::size_t i = 0; i < piece.outputs.size(); ++i)
    if (r.saved[at(r.root[at(piece.outputs[i])])] && r.root[at(piece.outputs[i])] >= piece.leaves)
      w.saved_outputs.push_back(static_cast<int>(i));
  w.forward_keep = forward_peak(r, true);
  w.forward_drop = forward_peak(r, false);
  if (!piece.gradient) return w;
  w.whole = BackwardWalk(r, Gradients::all).walk();
  w.inputs = BackwardWalk(r, Gradients::inputs).walk();
  w.parameters = BackwardWalk(r, Gradients::parameters).walk();
  return w;
}

}  // namespace planscope
