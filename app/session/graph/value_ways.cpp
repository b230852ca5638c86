#include "app/session/graph/value_ways.h"

#include <algorithm>

#include "engine/program/bucket.h"

namespace planscope::session {

namespace {

constexpr int kMostSteps = 12;  // moves between a value and who reads it; there are a few

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

ValueWays::ValueWays(const Graph& g, const Program& p)
    : g_(g),
      p_(p),
      makers_(p.values.size()),
      users_(p.values.size()),
      sent_as_(p.values.size(), -1),
      arrives_as_(p.values.size(), -1) {
  for (const Segment& s : p.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code == Code::wait || i.code == Code::free || i.code == Code::receive) continue;
      for (std::size_t k = 0; k < i.out.size(); ++k)
        if (i.out[k] >= 0 && !makers_[at(i.out[k])].instruction) makers_[at(i.out[k])] = {&i, k};
      for (std::size_t k = 0; k < i.in.size(); ++k)
        if (i.in[k] >= 0) users_[at(i.in[k])].push_back({&i, k});
    }
  for (const Transfer& t : p.transfers)
    for (std::size_t k = 0; k < std::min(t.from.size(), t.to.size()); ++k) {
      sent_as_[at(t.to[k])] = t.from[k];
      arrives_as_[at(t.from[k])] = t.to[k];
    }
}

OpId ValueWays::reader_of_leaf(const Piece& piece, std::size_t leaf) const {
  for (const PieceOp& o : piece.ops)
    for (const int slot : o.inputs)
      if (slot == static_cast<int>(leaf)) return o.op;
  return -1;
}

OpId ValueWays::reader_after(ProgramValueId v, int steps) const {
  if (steps == 0) return -1;
  OpId best = -1;
  const auto found = [&](OpId o) {
    if (o >= 0 && (best < 0 || o < best)) best = o;
  };
  if (arrives_as_[at(v)] >= 0) found(reader_after(arrives_as_[at(v)], steps - 1));
  for (const End& u : users_[at(v)]) {
    const Instruction& i = *u.instruction;
    if (i.code == Code::compute || i.code == Code::replay)
      found(reader_of_leaf(p_.pieces[at(i.piece)], u.operand));
    else if ((i.code == Code::issue || i.code == Code::local) && u.operand < i.out.size())
      found(reader_after(i.out[u.operand], steps - 1));
  }
  return best;
}

OpId ValueWays::reader_before(ProgramValueId v, int steps) const {
  if (steps == 0) return -1;
  if (sent_as_[at(v)] >= 0) return reader_before(sent_as_[at(v)], steps - 1);
  const End& m = makers_[at(v)];
  if (!m.instruction) return -1;
  const Instruction& i = *m.instruction;
  if (i.code == Code::backward) return reader_of_leaf(p_.pieces[at(i.piece)], m.operand);
  if (i.code == Code::issue || i.code == Code::local) return reader_before(operands_of(i, m.operand)[0], steps - 1);
  if (i.code != Code::add && i.code != Code::accumulate) return -1;
  for (const ProgramValueId term : i.in)
    if (const OpId o = term >= 0 && term != v ? reader_before(term, steps - 1) : -1; o >= 0) return o;
  return -1;
}

std::pair<OpId, OpId> ValueWays::ends(ProgramValueId v) const {
  const ProgramValue& value = p_.values[at(v)];
  const PTensor& tensor = g_.tensors[at(value.tensor)];
  OpId to = value.role == Role::gradient ? reader_before(v, kMostSteps) : reader_after(v, kMostSteps);
  const auto reads = [&](OpId o) {
    return std::find(tensor.readers.begin(), tensor.readers.end(), o) != tensor.readers.end();
  };
  if (!reads(to)) to = tensor.readers.empty() ? -1 : tensor.readers.front();
  return {tensor.producer, to};
}

}  // namespace planscope::session
