#pragma once
// The choice of splits as a cost network (planner/search/layout/network.h).
//
//   nodes   operators, with their strategies; tensors that several operators read (parameters too), with the sets of
//           ways in which they are read: equal reads and equal gradient contributions are converted once
//   edges   a tensor with one reader: conversion and gradient conversion between writer and reader; else writer - tensor with
//           these, and tensor - reader, which is free where the reader's way is in the set and impossible elsewhere
//
// Operators that are alike (rule, sizes, types, names of factors, surroundings as far as their strategies ask) are one kind,
// and so are pairs; this is all that the solver needs to share the work of equal layers.
//
// Sets have at most three ways; two where that would be more than 400 sets; two that differ on one axis alone where even
// that would be; one where these are more than 100. What the network leaves out is listed in choose.h.
#include <vector>

#include "planner/search/layout/network.h"
#include "planner/search/splits/strategies.h"

namespace planscope::splits {

struct Network {
  bool too_large = false;  // more than 10^5 pairs of strategies: nothing else is said
  layouts::CostNetwork costs;
  std::vector<int> node_of;                       // by operator; -1: no parameter reaches it
  std::vector<int> kind_of;                       // by operator: into `strategies`; -1
  std::vector<std::vector<Strategy>> strategies;  // by kind
  const Strategy& chosen(OpId o, const layouts::Choice& c) const {
    return strategies[static_cast<std::size_t>(kind_of[static_cast<std::size_t>(o)])]
                     [static_cast<std::size_t>(c[static_cast<std::size_t>(node_of[static_cast<std::size_t>(o)])])];
  }
};

// `limit`: bytes of a device; 0: no memory row. `alike`: of alike.h.
Network make_network(Space&, const plan::ModelInfo&, const std::vector<int>& alike, const Weights&, std::int64_t limit);

}  // namespace planscope::splits
