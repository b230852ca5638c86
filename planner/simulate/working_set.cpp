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
  std::vector<int> root;                // slot -> slot whose storage it has
  std::vector<int> gradient;            // slot -> slot whose gradient its own is a view of
  std::vector<char> held;               // root: a leaf or an output, held by a value of the Program
  std::vector<char> saved;              // root: some backward reads it
  std::vector<char> ending;             // root: of a leaf or a result that autograd alone holds
  std::vector<std::vector<int>> saves;  // by operator: slots
  std::vector<std::int64_t> aside;      // kept beside its operands and results
  std::vector<char> puts_in_order;      // by operator: StorageRoots::puts_in_order

  Reader(const Graph& g, const Piece& p, const std::vector<Bytes>& s, const std::vector<int>& ended)
      : graph(g), piece(p), slots(s), ending(p.slots.size(), 0) {
    const std::size_t n = piece.slots.size();
    StorageRoots roots = storage_roots(graph, piece);
    root = std::move(roots.storage);
    gradient = std::move(roots.gradient);
    puts_in_order = std::move(roots.puts_in_order);
    for (const int slot : ended) ending[at(root[at(slot)])] = 1;
    held.assign(n, 0);
    saved.assign(n, 0);
    for (int i = 0; i < piece.leaves; ++i) held[at(i)] = 1;
    for (int slot : piece.outputs) held[at(root[at(slot)])] = 1;
    for (std::size_t i = 0; i < piece.ops.size(); ++i) {
      const PieceOp& o = piece.ops[i];
      aside.push_back(kept_aside(graph, o).count);
      saves.push_back(op(o).backward ? saved_slots(graph, o) : std::vector<int>{});
      keep_copies(roots.copied[i]);
      for (int slot : saves.back()) saved[at(root[at(slot)])] = 1;
    }
  }

  // Where an operator copies an operand, its backward reads the copy.
  void keep_copies(const std::vector<int>& copied) {
    std::erase_if(saves.back(), [&](int slot) {
      const auto times = std::count(copied.begin(), copied.end(), slot);
      aside.back() += times * bytes(slot);
      return times > 0;
    });
  }

  const Op& op(const PieceOp& o) const { return graph.ops[at(o.op)]; }
  int results(const PieceOp& o) const { return static_cast<int>(op(o).outputs.size()); }
  std::int64_t bytes(int slot) const { return slots[at(slot)].count; }
  bool kept(int slot) const { return saved[at(slot)] && !held[at(slot)]; }
  bool has_gradient(int slot) const { return graph.tensors[at(piece.slots[at(slot)].tensor)].gradient; }

  bool is_parameter(int slot) const {
    return slot < piece.leaves && graph.model->values[at(piece.slots[at(slot)].tensor)].kind == ValueKind::parameter;
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
    worst = std::max(worst, now + taken_meanwhile(r.graph, o, keep).count);
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

// Gradients are tensors that several may have: a sum hands its own on to its operands as it is.
class BackwardWalk {
 public:
  BackwardWalk(const Reader& r, Gradients which)
      : r_(r), which_(which), gradient_(r.piece.slots.size()), given_(r.piece.slots.size(), -1) {
    for (int slot : r.piece.outputs) {
      const int root = r.gradient[at(slot)];
      if (given_[at(root)] >= 0) continue;
      given_[at(root)] = made(0);
      ++tensors_[at(given_[at(root)])].owners;  // a value of its own
      gradient_[at(root)] = {given_[at(root)], root};
    }
  }

  BackwardSet walk() {
    for (const PieceOp& o : r_.piece.ops) taken_.push_back(taken_backward(r_.graph, o).count);
    const std::vector<std::int64_t> released = releases();
    const std::size_t n = r_.piece.ops.size();
    for (std::size_t k = 0; k < n; ++k) {
      // The second of two backward passes goes through the uses of parameters as they were made.
      const std::size_t i = which_ == Gradients::parameters ? k : n - 1 - k;
      const PieceOp& o = r_.piece.ops[i];
      if (!r_.op(o).backward) continue;
      if (r_.gradient[at(o.first_output)] == o.first_output && r_.puts_in_order[i]) put_in_order(o.first_output);
      std::int64_t extra = contributes(o) ? taken_[i] + not_in_place(o) : 0;  // and contributions to gradients that are there already
      if (contributes(o)) extra += unwanted(o);
      for (std::size_t x = 0; x < o.inputs.size(); ++x) extra += contribute(o, x);
      if (r_.gradient[at(o.first_output)] != o.first_output) come_through(o, r_.puts_in_order[i]);
      note(extra);
      end_gradients(o);
      now_ -= released[i];
      add_up();
    }
    // Gradients of parameters are given in order, one after the other (the second backward's as they are made): what is not
    // is copied.
    if (which_ == Gradients::all) note(permuted_);
    find_handed_on();
    return set_;
  }

 private:
  struct Tensor {
    std::int64_t bytes;
    int owners;
    bool waits = false;  // for the second backward
  };
  // A gradient as autograd has it.
  struct Gradient {
    int tensor = -1;
    int through = -1;       // the slot whose gradient it is: that of a view, as long as it comes through one alone
    bool view = false;      // it is one there
    bool permuted = false;  // a parameter's: not in order
    bool spread = false;    // a view that has elements of another several times
    bool sum = false;       // of several contributions: it lies as it may
  };

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
      const bool ends = !second || has_parameter(r_.piece.ops[i]);
      if (ends) out[i] += r_.aside[i];
      for (int slot : r_.saves[i]) {
        const int root = r_.root[at(slot)];
        if (!r_.kept(root) && !(r_.saved[at(root)] && r_.ending[at(root)])) continue;
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

  void find_handed_on() {
    struct First {
      int from = -1;
      bool given = false;
    };
    std::vector<First> first(tensors_.size());
    for (std::size_t o = 0; o < r_.piece.outputs.size(); ++o) {
      const int tensor = given_[at(r_.gradient[at(r_.piece.outputs[o])])];
      if (tensor < 0) continue;
      // Of two that are given for one tensor the sum is another.
      first[at(tensor)] = first[at(tensor)].given ? First{-1, true} : First{static_cast<int>(o), true};
    }
    for (int leaf = 0; leaf < r_.piece.leaves; ++leaf) {
      const int tensor = gradient_[at(leaf)].tensor;
      if (tensor < 0 || r_.is_parameter(leaf) || given_[at(leaf)] >= 0) continue;
      First& f = first[at(tensor)];
      if (f.from >= 0)
        set_.handed_on.push_back({leaf, f.from, f.given});
      else if (!f.given)
        f.from = leaf;
    }
  }

  int made(std::int64_t bytes) {
    tensors_.push_back({bytes, 1});
    now_ += bytes;
    return static_cast<int>(tensors_.size()) - 1;
  }
  void let_go(int tensor) {
    Tensor& t = tensors_[at(tensor)];
    if (--t.owners == 0) now_ -= t.bytes;
  }

  // The tensor that an operand gets as its gradient, if that is not made for it.
  int handed_on(const PieceOp& o, std::size_t input) const {
    const int slot = o.inputs[input], root = r_.gradient[at(slot)];
    const Gradient& own = gradient_[at(r_.gradient[at(o.first_output)])];
    const bool along = spreads_gradient(r_.graph, o.op);
    const bool sum = hands_gradient_on(r_.graph, o.op, input) && r_.bytes(root) == r_.bytes(o.first_output);
    const bool whole = r_.bytes(root) == r_.bytes(slot), leaf = root < r_.piece.leaves;
    return (sum && !(own.spread && leaf)) || (along && whole && !leaf) ? own.tensor : -1;
  }

  // Whether an operator gives a view as the gradient of an operand: products are of matrices.
  bool gives_view(const PieceOp& o, std::size_t input) const {
    const std::string_view target = r_.graph.node(o.op).target;
    const bool matrix = r_.op(o).inputs[input].map.size() == 2;
    return (target == "aten::linear" && (input == 1 || (input == 0 && !matrix))) ||
           (target == "aten::matmul" && !matrix);
  }

  // A contribution to a gradient that is there already. Autograd adds it when the operator is done.
  struct Pending {
    int root = -1, through = -1;
    int handed = -1;         // the tensor that it is, if that is another's
    std::int64_t bytes = 0;  // else of its own
  };

  // The sum is a tensor of its own if another has the first one or that is a view; else it is made in place.
  void add_up() {
    std::int64_t waiting = 0;
    for (const Pending& p : pending_) waiting += p.bytes;
    for (const Pending& p : pending_) {
      Gradient& own = gradient_[at(p.root)];
      const std::int64_t bytes = r_.bytes(p.root);
      const bool view = own.view || (own.through != p.through && own.through != p.root);
      const bool in_place = tensors_[at(own.tensor)].owners == 1 && !view;
      note(waiting + (in_place ? 0 : bytes));
      if (!in_place) {
        let_go(own.tensor);
        own.tensor = made(r_.is_parameter(p.root) ? 0 : bytes);
        own.view = own.spread = false;
      }
      own.sum = true;
      if (own.through != p.through) own.through = p.root;
      if (p.handed >= 0) let_go(p.handed);
      waiting -= p.bytes;
    }
    pending_.clear();
  }

  void note(std::int64_t extra) {
    if (now_ + gradients_ + extra <= worst_) return;
    worst_ = now_ + gradients_ + extra;
    set_.bytes = now_ + extra;
    set_.gradients = gradients_;
  }

  // Kernels of attention give the gradients of query, key and value, also those that nobody wants.
  std::int64_t unwanted(const PieceOp& o) const {
    std::int64_t bytes = 0;
    if (r_.graph.node(o.op).target != "planscope::attention") return bytes;
    for (std::size_t x = 0; x < 3; ++x)
      if (!r_.has_gradient(r_.gradient[at(o.inputs[x])])) bytes += r_.bytes(o.inputs[x]);
    return bytes;
  }

  // What a composite backward does not free, as its result's gradient is a value, or does not add in place.
  std::int64_t not_in_place(const PieceOp& o) const {
    const CompositeBackward composite = composite_backward(r_.graph, o);
    if (composite.result_gradient.count == 0) return 0;
    const int came = r_.gradient[at(o.first_output)];
    const Gradient& own = gradient_[at(r_.gradient[at(o.inputs[0])])];
    const bool in_place = own.tensor >= 0 && tensors_[at(own.tensor)].owners == 1;
    const bool value = gradient_[at(came)].tensor == given_[at(came)];
    return (value ? composite.result_gradient.count : 0) + (in_place ? 0 : composite.contribution.count);
  }

  // Bytes of a contribution to a gradient that is there already.
  std::int64_t contribute(const PieceOp& o, std::size_t input) {
    const int slot = o.inputs[input], root = r_.gradient[at(slot)];
    if (!r_.has_gradient(root) || !wanted(root)) return 0;
    const std::int64_t bytes = r_.bytes(root);
    const bool parameter = r_.is_parameter(root);
    if (r_.gradient[at(o.first_output)] == root) {  // a view's gradient is that of what it views
      if (parameter && r_.graph.node(o.op).target == "aten::permute") {
        gradient_[at(root)].permuted = true;
        permuted_ = std::max(permuted_, bytes);
      }
      return 0;
    }
    const bool whole = r_.bytes(slot) == bytes;  // else what comes through a view is put in a tensor of zeros
    const int through = whole ? slot : root, handed = handed_on(o, input);
    Gradient& own = gradient_[at(root)];
    if (own.tensor < 0) {
      own.through = through;
      if (parameter) gradients_ += bytes;
      if (handed >= 0 && !parameter) {
        own.tensor = handed;
        own.spread = spreads_gradient(r_.graph, o.op) || gradient_[at(r_.gradient[at(o.first_output)])].spread;
        own.view = own.spread || is_view(r_.gradient[at(o.first_output)]);
        ++tensors_[at(handed)].owners;
      } else {
        own.tensor = made(parameter ? 0 : bytes);
        own.view = whole && gives_view(o, input);
      }
      return own.permuted && which_ == Gradients::parameters ? bytes : 0;
    }
    if (which_ == Gradients::parameters) return 2 * bytes;  // the runtime adds them up, in a new tensor each time
    if (handed >= 0) ++tensors_[at(handed)].owners;
    pending_.push_back({root, through, handed, handed < 0 ? bytes : 0});
    return pending_.back().bytes;
  }
  // What is given for a view is no gradient of what it views, if it is a part of that or has to be put in order.
  void come_through(const PieceOp& view, bool puts_in_order) {
    const int root = r_.gradient[at(view.first_output)];
    Gradient& own = gradient_[at(root)];
    if (!r_.has_gradient(root) || !wanted(root) || r_.is_parameter(root)) return;
    if (own.tensor >= 0 && (own.sum || !puts_in_order)) return;
    if (own.tensor >= 0) let_go(own.tensor);
    own = {made(r_.bytes(root)), root};
  }
  // For a product that wants it in order.
  void put_in_order(int root) {
    Gradient& own = gradient_[at(root)];
    if (own.tensor < 0 || own.sum) return;
    let_go(own.tensor);
    own = {made(r_.bytes(root)), root};
  }
  bool is_view(int root) const { return gradient_[at(root)].view || gradient_[at(root)].through != root; }

  bool contributes(const PieceOp& o) const {
    return std::any_of(o.inputs.begin(), o.inputs.end(), [&](int slot) {
      const int root = r_.gradient[at(slot)];
      return r_.has_gradient(root) && wanted(root);
    });
  }
  bool wanted(int root) const {
    if (which_ == Gradients::all) return true;
    return r_.is_parameter(root) == (which_ == Gradients::parameters);
  }

  void end_gradients(const PieceOp& o) {
    const bool waits = which_ == Gradients::inputs && has_parameter(o);
    for (int k = 0; k < r_.results(o); ++k) {
      const int slot = o.first_output + k, own = gradient_[at(slot)].tensor;
      if (r_.gradient[at(slot)] != slot || own < 0 || own == given_[at(slot)]) continue;
      if (!waits || std::exchange(tensors_[at(own)].waits, true))
        let_go(own);
      else
        set_.left += r_.bytes(slot);
    }
  }

  const Reader& r_;
  Gradients which_;
  std::vector<Gradient> gradient_;  // [root]
  std::vector<int> given_;          // tensors of those that are values
  std::vector<Tensor> tensors_;
  std::vector<std::int64_t> taken_;  // by operator: while its backward runs
  std::vector<Pending> pending_;
  std::int64_t now_ = 0, gradients_ = 0, permuted_ = 0, worst_ = 0;
  BackwardSet set_;
};

}  // namespace

WorkingSet working_set(const Graph& graph, const Piece& piece, const std::vector<Bytes>& slots,
                       const std::vector<int>& ending) {
  const Reader r(graph, piece, slots, ending);
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
