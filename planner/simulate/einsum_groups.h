#pragma once
// How LibTorch computes an einsum of two operands: as one product of lists of matrices. Dimensions of the operands and of the
// result are one in these groups, each major to minor:
//
//   bsd,edf->besf    left: b s | d        right: d | e f    result: b s | e f
//   besf,efd->besd   left: e | b s | f    right: e | f | d  result: e | b s | d
//
// First those that both operands and the result have (of lists), then those of one operand and the result in the order of the
// result; what is summed is in the order of the alphabet. Dimensions of one element are in none. An operand whose dimensions
// of a group are not one stride in memory is copied; the result lies as its groups say, whatever the order of its letters.
// Source: aten/src/ATen/native/Linear.cpp, einsum and sumproduct_pair.
#include <array>
#include <optional>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

using DimGroups = std::vector<std::vector<int>>;

struct EinsumGroups {
  std::array<DimGroups, 2> operands;
  DimGroups result;
};

// Nothing: no einsum of two, or one that sums nothing, which is a product of elements.
std::optional<EinsumGroups> einsum_groups(const Graph&, const PieceOp&);

}  // namespace planscope
