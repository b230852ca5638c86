#include "planner/simulate/held_values.h"

#include <algorithm>
#include <set>
#include <utility>

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A value that backward reads though the forward pass frees it and nothing makes it again.
struct Held {
  PieceId first = -1;           // that saves it; its backward comes last
  PieceId last = -1;            // its backward comes first
  const Segment* in = nullptr;  // where the last one is run
  bool offloaded = true;        // by all that save it
};

}  // namespace

std::int64_t runs_for(const Program& program, const Segment& s, ProgramValueId v) {
  const std::vector<AxisId>& indexed = program.values[at(v)].indexed;
  std::int64_t runs = 1;
  for (const AxisId a : s.free_axes)
    if (std::find(indexed.begin(), indexed.end(), a) == indexed.end()) runs *= program.axes[at(a)].size;
  return runs;
}

HeldValues::HeldValues(const Graph& graph, const Program& program, WorkingSetOf working_set_of)
    : graph_(graph),
      program_(program),
      working_set_of_(std::move(working_set_of)),
      refilled_(program.values.size(), false),
      ends_(program.values.size(), true),
      offloaded_by_free_(program.values.size(), false) {
  for (const ProgramValue& v : program.values)
    if (v.refills >= 0) refilled_[at(v.refills)] = true;
  hold_from_forward();
  for (const Segment& s : program.segments) hold_from_replay(s);
}

const std::vector<ProgramValueId>& HeldValues::of(const Values& values, PieceId p) {
  static const std::vector<ProgramValueId> none;
  const auto found = values.find(p);
  return found == values.end() ? none : found->second;
}

// The values that a run of a piece keeps for its backward.
std::vector<ProgramValueId> HeldValues::saved_by(const Instruction& run) const {
  const WorkingSet& w = working_set_of_(run.piece);
  std::vector<ProgramValueId> out;
  for (int k : w.saved_leaves) out.push_back(run.in[at(k)]);
  const std::vector<int> joined = softmax_outputs(graph_, program_, program_.pieces[at(run.piece)]);
  for (int k : w.saved_outputs)  // backward over blocks of a softmax reads what they are joined to
    if (std::find(joined.begin(), joined.end(), k) == joined.end()) out.push_back(run.out[at(k)]);
  std::erase_if(
      out, [&](ProgramValueId v) { return v < 0 || program_.values[at(v)].role == Role::home || refilled_[at(v)]; });
  return out;
}

void HeldValues::hold_from_forward() {
  std::vector<const Segment*> freed(program_.values.size(), nullptr);  // in the forward pass
  std::set<PieceId> with_backward, offloaded;
  for (const Segment& s : program_.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code == Code::free && s.phase == Phase::forward)
        for (ProgramValueId v : i.in) freed[at(v)] = &s;
      if (i.code == Code::backward) with_backward.insert(i.piece);
      if (i.code == Code::offload && i.piece >= 0) offloaded.insert(i.piece);
    }
  std::map<ProgramValueId, Held> all;
  for (const Segment& s : program_.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code != Code::compute || !i.keep || !with_backward.contains(i.piece)) continue;
      for (const ProgramValueId v : saved_by(i)) {
        if (!freed[at(v)]) continue;
        Held& h = all[v];
        if (h.first < 0) h.first = i.piece;
        h.last = i.piece;
        h.in = &s;
        h.offloaded = h.offloaded && offloaded.contains(i.piece);
      }
    }
  for (const auto& [v, h] : all) {
    ended_[h.first].push_back(v);
    const bool later = freed[at(v)] != h.in;  // it goes to host memory with its `free`
    ends_[at(v)] = offloaded_by_free_[at(v)] = h.offloaded && later;
    if (!h.offloaded) continue;
    back_[h.last].push_back(v);
    if (!later) away_[h.last].push_back(v);
  }
}

// What a recomputed piece keeps may be freed before its backward, in the same segment.
void HeldValues::hold_from_replay(const Segment& s) {
  std::map<ProgramValueId, std::size_t> freed;
  std::map<PieceId, std::size_t> backward;
  for (std::size_t k = 0; k < s.instructions.size(); ++k) {
    const Instruction& i = s.instructions[k];
    if (i.code == Code::free)
      for (const ProgramValueId v : i.in) freed[v] = k;
    if (i.code == Code::backward) backward[i.piece] = k;
  }
  for (const Instruction& i : s.instructions) {
    if (i.code != Code::replay || !backward.contains(i.piece)) continue;
    for (const ProgramValueId v : saved_by(i)) {
      const auto end = freed.find(v);
      if (end == freed.end() || end->second > backward.at(i.piece) || !ends_[at(v)]) continue;
      ended_[i.piece].push_back(v);
      ends_[at(v)] = false;
    }
  }
}

std::map<PieceId, HeldValues::EndedSlots> HeldValues::slots_ended() const {
  std::map<PieceId, EndedSlots> out;
  for (const Segment& s : program_.segments)
    for (const Instruction& i : s.instructions) {
      if (i.code != Code::compute && i.code != Code::replay) continue;
      const std::vector<ProgramValueId>& ended = ended_by(i.piece);
      const auto take = [&](ProgramValueId v, int slot) {
        if (std::find(ended.begin(), ended.end(), v) == ended.end()) return;
        if (runs_for(program_, s, v) == 1)
          out[i.piece].each.push_back(slot);
        else if (program_.values[at(v)].indexed.empty())
          out[i.piece].last.push_back(slot);
      };
      for (std::size_t k = 0; k < i.in.size(); ++k) take(i.in[k], static_cast<int>(k));
      const std::vector<int>& results = program_.pieces[at(i.piece)].outputs;
      for (std::size_t k = 0; k < results.size(); ++k) take(i.out[k], results[k]);
    }
  return out;
}

}  // namespace planscope
