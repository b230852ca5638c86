#include "planner/simulate/working_set.h"

#include <algorithm>

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Reader {
  const Graph& graph;
  const Piece& piece;
  const std::vector<Bytes>& slots;
  std::vector<int> root;    // slot -> slot whose storage it has
  std::vector<char> held;   // root: a leaf or an output, held by a value of the Program
  std::vector<char> saved;  // root: some backward reads it

  Reader(const Graph& g, const Piece& p, const std::vector<Bytes>& s) : graph(g), piece(p), slots(s) {
    const std::size_t n = piece.slots.size();
    root.resize(n);
    held.assign(n, 0);
    saved.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) root[i] = static_cast<int>(i);
    for (const PieceOp& o : piece.ops)
      if (classify(graph, o.op) == OperatorClass::view && !o.inputs.empty())
        for (int k = 0; k < results(o); ++k) root[at(o.first_output + k)] = root[at(o.inputs[0])];
    for (int i = 0; i < piece.leaves; ++i) held[at(i)] = 1;
    for (int slot : piece.outputs) held[at(root[at(slot)])] = 1;
    for (const PieceOp& o : piece.ops)
      if (op(o).backward)
        for (int slot : saves(o)) saved[at(root[at(slot)])] = 1;
  }

  const Op& op(const PieceOp& o) const { return graph.ops[at(o.op)]; }
  int results(const PieceOp& o) const { return static_cast<int>(op(o).outputs.size()); }
  std::int64_t bytes(int slot) const { return slots[at(slot)].count; }
  bool kept(int slot) const { return saved[at(slot)] && !held[at(slot)]; }
  bool has_gradient(int slot) const { return graph.tensors[at(piece.slots[at(slot)].tensor)].gradient; }

  std::vector<int> saves(const PieceOp& o) const {
    std::vector<int> out;
    for (int s : op(o).saves) out.push_back(s >= 0 ? o.inputs[at(s)] : o.first_output - 1 - s);
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
    worst = std::max(worst, now);
    for (int slot : o.inputs)
      if (last[at(r.root[at(slot)])] == static_cast<int>(i)) ends.push_back(r.root[at(slot)]);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (int slot : ends)
      if (!r.held[at(slot)] && !(keep && r.kept(slot))) now -= r.bytes(slot);
  }
  return std::max<std::int64_t>(0, worst - total_outputs(r) - kept);
}

std::int64_t backward_peak(const Reader& r) {
  const std::size_t n = r.piece.slots.size();
  std::vector<std::int64_t> released(r.piece.ops.size(), 0);  // kept bytes that end with an operator's backward
  std::vector<char> seen(n, 0);
  for (std::size_t i = 0; i < r.piece.ops.size(); ++i) {
    if (!r.op(r.piece.ops[i]).backward) continue;
    for (int slot : r.saves(r.piece.ops[i])) {
      const int root = r.root[at(slot)];
      if (!seen[at(root)] && r.kept(root)) released[i] += r.bytes(root);
      seen[at(root)] = 1;
    }
  }
  std::vector<char> alive(n, 0);  // gradient of the root
  for (int slot : r.piece.outputs) alive[at(r.root[at(slot)])] = 1;
  const std::vector<char> given = alive;  // values of their own
  std::int64_t now = 0, worst = 0, leaves = 0;
  for (std::size_t i = r.piece.ops.size(); i-- > 0;) {
    const PieceOp& o = r.piece.ops[i];
    if (!r.op(o).backward) continue;
    for (int slot : o.inputs) {
      const int root = r.root[at(slot)];
      if (alive[at(root)] || !r.has_gradient(root)) continue;
      alive[at(root)] = 1;
      now += r.bytes(root);
      if (root < r.piece.leaves) leaves += r.bytes(root);
    }
    worst = std::max(worst, now);
    for (int k = 0; k < r.results(o); ++k) {
      const int slot = o.first_output + k;
      if (r.root[at(slot)] == slot && alive[at(slot)] && !given[at(slot)]) now -= r.bytes(slot);
    }
    now -= released[i];
  }
  return std::max<std::int64_t>(0, worst - leaves);
}

}  // namespace

WorkingSet working_set(const Graph& graph, const Piece& piece, const std::vector<Bytes>& slots) {
  const Reader r(graph, piece, slots);
  WorkingSet w;
  for (std::size_t i = 0; i < piece.slots.size(); ++i)
    if (r.kept(static_cast<int>(i))) w.kept += r.bytes(static_cast<int>(i));
  for (int i = 0; i < piece.leaves; ++i)
    if (r.saved[at(i)]) w.saved_leaves.push_back(i);
  for (std::size_t i = 0; i < piece.outputs.size(); ++i)
    if (r.saved[at(r.root[at(piece.outputs[i])])] && r.root[at(piece.outputs[i])] >= piece.leaves)
      w.saved_outputs.push_back(static_cast<int>(i));
  w.forward_keep = forward_peak(r, true);
  w.forward_drop = forward_peak(r, false);
  if (piece.gradient) w.backward = backward_peak(r);
  return w;
}

}  // namespace planscope
