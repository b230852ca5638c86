#include "planner/simulate/piece_times.h"

#include "planner/cost/device_kinds.h"
#include "planner/cost/hidden_blocks.h"
#include "planner/simulate/piece_kinds.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
void grow(std::int64_t& sum, std::int64_t n) { sum = saturated_sum(sum, n); }

}  // namespace

PieceTimes::PieceTimes(const Graph& graph, const Program& program, const Cluster& cluster, const CostModel& costs,
                       const std::vector<std::vector<int>>& kinds)
    : graph_(graph),
      program_(program),
      cluster_(cluster),
      costs_(costs),
      kinds_(kinds),
      parameter_(graph.tensors.size(), 0) {
  for (const Parameter& p : graph.parameters) parameter_[at(p.tensor)] = 1;
  std::vector<PlaceId> place(program.pieces.size(), 0);
  for (const Segment& s : program.segments)
    for (const Instruction& i : s.instructions)
      if (i.piece >= 0) place[at(i.piece)] = s.place;
  const std::vector<int> kind = piece_kinds(graph, program);
  for (std::size_t p = 0; p < place.size(); ++p)
    pieces_.push_back(&time_of(static_cast<PieceId>(p), kind[p], place[p]));
}

const PieceTime& PieceTimes::of(PieceId p) const { return *pieces_[at(p)]; }

void PieceTimes::end_with_backward(PieceId id, HeldValues::EndedSlots ended) {
  const auto [known, fresh] = ended_.try_emplace({pieces_[at(id)], ended.each, ended.last}, *pieces_[at(id)]);
  PieceTime& t = known->second;
  pieces_[at(id)] = &t;
  if (!fresh) return;
  const Piece& p = program_.pieces[at(id)];
  const std::vector<Bytes> slots = slot_bytes(graph_, program_, p);
  if (!ended.each.empty()) t.memory = working_set(graph_, p, slots, ended.each);
  if (ended.last.empty()) return;
  ended.last.insert(ended.last.end(), ended.each.begin(), ended.each.end());
  t.memory_of_last = working_set(graph_, p, slots, ended.last);
}

double PieceTimes::seen(const PieceOp& o) {
  const Op& op = graph_.ops[at(o.op)];
  std::pair<std::vector<ClassId>, std::vector<std::tuple<int, int, Digit>>> key;
  for (const Factor& f : op.factors) {
    if (f.until < 0) continue;
    key.first = f.parts;
    const std::vector<ClassId>& queries = op.factors[at(f.until)].parts;
    key.first.insert(key.first.end(), queries.begin(), queries.end());
  }
  if (key.first.empty()) return 1;
  for (const Binding& b : o.bindings) key.second.emplace_back(b.factor, b.part, b.digit);
  const auto [found, added] = seen_.try_emplace(std::move(key), 1);
  if (added) found->second = seen_share(graph_, program_, o);
  return found->second;
}

const PieceTime& PieceTimes::time_of(PieceId id, int kind, PlaceId place) {
  const auto [known, fresh] = times_.try_emplace({kind, kinds_[at(place)]});
  PieceTime& t = known->second;
  if (!fresh) return t;
  const Piece& piece = program_.pieces[at(id)];
  const std::vector<Bytes> slots = slot_bytes(graph_, program_, piece);
  for (const PieceOp& o : piece.ops) {
    const double share = seen(o);
    const Figure f = slowest(cluster_, kinds_[at(place)], [&](const DeviceType& d) {
      return forward_time(graph_, program_, piece, o, slots, d, costs_, share);
    });
    grow(t.forward, to_ns(f.time));
    grow(t.forward_sources[static_cast<std::size_t>(f.source)], to_ns(f.time));
    if (!piece.gradient) continue;
    const Figure b = slowest(cluster_, kinds_[at(place)], [&](const DeviceType& d) {
      return backward_time(graph_, program_, piece, o, slots, d, costs_, share);
    });
    grow(t.backward, to_ns(b.time));
    grow(t.backward_sources[static_cast<std::size_t>(b.source)], to_ns(b.time));
    const Nanoseconds w = saturated(static_cast<double>(to_ns(b.time)) * weight_share(piece, o));
    grow(t.weights, w);
    grow(t.weights_sources[static_cast<std::size_t>(b.source)], w);
  }
  t.memory = working_set(graph_, piece, slots);
  return t;
}

double PieceTimes::weight_share(const Piece& piece, const PieceOp& o) const {
  const Op& op = graph_.ops[at(o.op)];
  int all = 0, parameters = 0;
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    const TensorId t = op.inputs[k].tensor;
    if (!graph_.tensors[at(t)].gradient || op.inputs[k].added) continue;
    ++all;
    parameters += o.inputs[k] < piece.leaves && parameter_[at(t)];
  }
  return all > 0 ? static_cast<double>(parameters) / all : 0;
}

}  // namespace planscope
