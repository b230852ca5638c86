#pragma once
// Values that autograd keeps for a backward although the Program frees them before: the `free` gives no memory back, the
// backward does. The first piece that keeps a value goes backward last, and ends it.
//
// Where all pieces that keep it are offloaded it goes to host memory, with its `free` or with the last of them, and comes back
// for the first backward that reads it.
//
//   const HeldValues held(graph, program, working_set_of);
//   held.ends(v);            // a `free` of v gives its memory back
//   held.ended_by(piece);    // what the backward of the piece ends, with that of its last run
#include <functional>
#include <map>
#include <vector>

#include "engine/program/program.h"
#include "planner/simulate/working_set.h"

namespace planscope {

class HeldValues {
 public:
  using WorkingSetOf = std::function<const WorkingSet&(PieceId)>;
  HeldValues(const Graph&, const Program&, WorkingSetOf);

  bool ends(ProgramValueId v) const { return ends_[static_cast<std::size_t>(v)]; }
  bool offloaded_by_free(ProgramValueId v) const { return offloaded_by_free_[static_cast<std::size_t>(v)]; }
  const std::vector<ProgramValueId>& ended_by(PieceId p) const { return of(ended_, p); }
  const std::vector<ProgramValueId>& taken_away_by(PieceId p) const { return of(away_, p); }
  const std::vector<ProgramValueId>& brought_back_by(PieceId p) const { return of(back_, p); }
  // Slots of a piece (leaves and results) whose values its backward ends: of those for which it runs once, and of those that all
  // runs of a step read, which its last one ends.
  struct EndedSlots {
    std::vector<int> each, last;
  };
  std::map<PieceId, EndedSlots> slots_ended() const;

 private:
  using Values = std::map<PieceId, std::vector<ProgramValueId>>;
  static const std::vector<ProgramValueId>& of(const Values&, PieceId);
  std::vector<ProgramValueId> saved_by(const Instruction& run) const;
  void hold_from_forward();
  void hold_from_replay(const Segment&);

  const Graph& graph_;
  const Program& program_;
  const WorkingSetOf working_set_of_;
  std::vector<bool> refilled_, ends_, offloaded_by_free_;  // by value
  Values ended_, away_, back_;
};

// How often a segment runs for one value.
std::int64_t runs_for(const Program&, const Segment&, ProgramValueId);

}  // namespace planscope
