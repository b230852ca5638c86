#include "planner/simulate/piece_kinds.h"

#include <algorithm>
#include <unordered_map>

#include "engine/base/numbers_hash.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Of what mostly tells pieces apart.
std::uint64_t hash_of(const Graph& graph, const Piece& p) {
  std::uint64_t h = p.slots.size();
  for (const PieceOp& o : p.ops) h = mixed(h, graph.alike[at(o.op)]);
  for (const PieceSlot& s : p.slots) h = mixed(h, s.layout);
  return h;
}

// Each slot is an operand of some operator: alike operators have operands of equal sizes, types and kinds.
bool equal(const Graph& graph, const Piece& a, const Piece& b) {
  const auto same_op = [&](const PieceOp& x, const PieceOp& y) {
    return graph.alike[at(x.op)] == graph.alike[at(y.op)] && x.first_output == y.first_output && x.inputs == y.inputs &&
           x.bindings == y.bindings;
  };
  const auto same_layout = [](const PieceSlot& x, const PieceSlot& y) { return x.layout == y.layout; };
  return a.gradient == b.gradient && a.leaves == b.leaves && a.outputs == b.outputs &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(), same_layout) &&
         std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), same_op);
}

}  // namespace

std::vector<int> piece_kinds(const Graph& graph, const Program& program) {
  std::unordered_multimap<std::uint64_t, PieceId> firsts;
  std::vector<int> out;
  out.reserve(program.pieces.size());
  int count = 0;
  for (PieceId p = 0; p < static_cast<PieceId>(program.pieces.size()); ++p) {
    const Piece& piece = program.pieces[at(p)];
    const std::uint64_t h = hash_of(graph, piece);
    const auto [begin, end] = firsts.equal_range(h);
    const auto known = std::find_if(
        begin, end, [&](const auto& first) { return equal(graph, program.pieces[at(first.second)], piece); });
    out.push_back(known == end ? count++ : out[at(known->second)]);
    if (known == end) firsts.emplace(h, p);
  }
  return out;
}

}  // namespace planscope
