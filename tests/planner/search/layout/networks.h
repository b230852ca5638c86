#pragma once
// Cost networks to test with, and the best choice of small ones by trying all.
#include <optional>
#include <random>

#include "planner/search/layout/network.h"

namespace planscope::layouts {

struct Shaped {
  int nodes = 6, strategies = 3, rows = 1;
  double edges = 0.4;      // of all pairs of nodes
  double tightness = 0.5;  // of memory: 0 the least that each row needs, 1 the most
  bool alike = true;       // few kinds and pairs, so that messages repeat
};
CostNetwork random_network(const Shaped&, std::mt19937&);
Locks random_locks(const CostNetwork&, std::mt19937&);

// Sixteen operators a layer with residual edges, the same costs in every layer.
CostNetwork layered_network(int layers, int strategies, double memory_per_node, unsigned seed);

std::optional<double> least_cost(const CostNetwork&, const Locks&);  // nothing: no choice keeps the limits
bool keeps_locks(const CostNetwork&, const Locks&, const Choice&);

}  // namespace planscope::layouts
