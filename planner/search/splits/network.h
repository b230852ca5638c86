#pragma once
// The choice of splits as a cost network (planner/search/layout/network.h).
//
//   nodes   operators, with their strategies; tensors that several operators read (parameters too), with the sets of
//           ways in which they are read: equal reads and equal gradient contributions are converted once
//           parameters, where ZeRO may split them, with how they are read and how far they are split; layers, with what they
//           say of what waits for backward (storage.h); results whose place that decides, with where they are and their
//           bytes; conversions that it makes happen twice
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
#include "planner/search/layout/prices.h"
#include "planner/search/splits/storage.h"
#include "planner/search/splits/strategies.h"

namespace planscope::splits {

// What is split of parameters in a state of a node, by the operators whose `update`, `grad` and `fetch` say so.
struct ParameterNode {
  int node = -1;
  std::vector<OpId> readers;
  std::vector<int> zero;  // by state: 0 … 3
};

struct Memory {
  std::int64_t limit = 0;      // bytes of a device; 0: no memory row
  std::int64_t under_way = 1;  // micro-batches whose results wait for backward
};

struct Network {
  bool ended = false;  // before it was made: it is of no use
  // Where there are more than 10^5 pairs of strategies, kinds of operators keep 24, which cost least by themselves.
  int cut_kinds = 0;
  layouts::CostNetwork costs;
  std::vector<int> node_of;                       // by operator; -1: no parameter reaches it
  std::vector<int> kind_of;                       // by operator: into `strategies`; -1
  std::vector<std::vector<Strategy>> strategies;  // by kind
  std::vector<int> node_of_layer;                 // by layer of the Storage; -1: it has one word
  std::vector<ParameterNode> parameters;
  const Strategy& chosen(OpId o, const layouts::Choice& c) const {
    return strategies[static_cast<std::size_t>(kind_of[static_cast<std::size_t>(o)])]
                     [static_cast<std::size_t>(c[static_cast<std::size_t>(node_of[static_cast<std::size_t>(o)])])];
  }
};

// Ends soon once `ended` says so.
Network make_network(Space&, const plan::ModelInfo&, const Weights&, const Storage&, const Memory&,
                     const layouts::Ended& ended);

}  // namespace planscope::splits
