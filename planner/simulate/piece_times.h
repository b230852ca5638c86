#pragma once
// How long pieces take on the devices of their place, and what memory they work with; pieces of equal kinds on devices of equal
// kinds together.
//
//   PieceTimes pieces(graph, program, cluster, options.costs, kinds);
//   pieces.of(piece).forward
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/base/saturated.h"
#include "planner/simulate/held_values.h"
#include "planner/simulate/steps.h"
#include "planner/simulate/working_set.h"

namespace planscope {

// Sums of a few do not wrap; a step with so much is not played.
inline Nanoseconds to_ns(Microseconds t) { return std::min(saturated(t.count * 1000), kMostNanoseconds); }

struct PieceTime {
  Nanoseconds forward = 0, backward = 0;
  Nanoseconds weights = 0;  // the part of backward that is gradients of parameters
  std::array<Nanoseconds, 3> forward_sources{}, backward_sources{}, weights_sources{};
  WorkingSet memory;
  std::optional<WorkingSet> memory_of_last;  // if it is another one in the last run of a step
};

class PieceTimes {
 public:
  // `kinds`: of devices, by place. All outlive it.
  PieceTimes(const Graph&, const Program&, const Cluster&, const CostModel&, const std::vector<std::vector<int>>& kinds);

  const PieceTime& of(PieceId) const;

  // These slots of a piece end with its backward. (Parameters that were gathered for it, say: autograd alone holds them when its
  // backward begins, or when its last one does.)
  void end_with_backward(PieceId, HeldValues::EndedSlots);

 private:
  const PieceTime& time_of(PieceId, int kind, PlaceId);
  // Layers that cut attention alike see alike.
  double seen(const PieceOp&);
  // The gradients of an operator's operands cost alike: those of parameters, of all.
  double weight_share(const Piece&, const PieceOp&) const;

  const Graph& graph_;
  const Program& program_;
  const Cluster& cluster_;
  const CostModel& costs_;
  const std::vector<std::vector<int>>& kinds_;
  std::vector<char> parameter_;                                  // by tensor
  std::map<std::pair<int, std::vector<int>>, PieceTime> times_;  // by kind of piece and those of its devices
  std::map<std::tuple<const PieceTime*, std::vector<int>, std::vector<int>>, PieceTime>
      ended_;  // … and slots that end
  std::map<std::pair<std::vector<ClassId>, std::vector<std::tuple<int, int, Digit>>>, double>
      seen_;  // by factors and cuts
  std::vector<const PieceTime*> pieces_;
};

}  // namespace planscope
