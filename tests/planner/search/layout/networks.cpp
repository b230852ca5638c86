#include "tests/planner/search/layout/networks.h"

#include <algorithm>

namespace planscope::layouts {

namespace {

double uniform(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

int whole(std::mt19937& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

Kind random_kind(int strategies, int rows, std::mt19937& random) {
  Kind k;
  for (int s = 0; s < strategies; ++s) k.cost.push_back(uniform(random, -0.5, 2));
  k.memory.resize(rows);
  for (auto& row : k.memory)
    for (int s = 0; s < strategies; ++s) row.push_back(whole(random, 0, 3) == 0 ? 0 : whole(random, 10, 100));
  return k;
}

Matrix random_pair(int strategies, std::mt19937& random) {
  Matrix m{strategies, strategies, {}};
  for (int i = 0; i < strategies * strategies; ++i)
    m.values.push_back(i % (strategies + 1) == 0 ? 0 : uniform(random, 0.1, 3));
  return m;
}

}  // namespace

CostNetwork random_network(const Shaped& shape, std::mt19937& random) {
  CostNetwork n;
  const int kinds = shape.alike ? 2 : shape.nodes;
  for (int k = 0; k < kinds; ++k) n.kinds.push_back(random_kind(shape.strategies, shape.rows, random));
  for (int i = 0; i < shape.nodes; ++i) n.nodes.push_back(shape.alike ? whole(random, 0, kinds - 1) : i);
  for (int i = 0; i < shape.nodes; ++i)
    for (int j = 0; j < shape.nodes; ++j) {
      if (i == j || uniform(random, 0, 1) > shape.edges / 2) continue;
      const bool reuse = shape.alike && n.pairs.size() >= 2;
      if (!reuse) n.pairs.push_back(random_pair(shape.strategies, random));
      n.edges.push_back({i, j, reuse ? whole(random, 0, 1) : static_cast<int>(n.pairs.size()) - 1});
    }
  for (int r = 0; r < shape.rows; ++r) {
    double least = 0, most = 0;
    for (const int k : n.nodes) {
      const auto [low, high] = std::minmax_element(n.kinds[k].memory[r].begin(), n.kinds[k].memory[r].end());
      least += static_cast<double>(*low);
      most += static_cast<double>(*high);
    }
    n.limits.push_back(std::max<std::int64_t>(0, static_cast<std::int64_t>(least + shape.tightness * (most - least))));
  }
  return n;
}

Locks random_locks(const CostNetwork& n, std::mt19937& random) {
  Locks locks;
  for (int i = 0; i < static_cast<int>(n.nodes.size()); ++i) {
    if (whole(random, 0, 3) > 0) continue;
    locks[i] = {whole(random, 0, n.kind(i).strategies() - 1)};
    if (whole(random, 0, 1)) locks[i].push_back(whole(random, 0, n.kind(i).strategies() - 1));
  }
  return locks;
}

CostNetwork layered_network(int layers, int strategies, double memory_per_node, unsigned seed) {
  const std::vector<std::vector<int>> layer = {{-1},    {0}, {0}, {0}, {1},  {2},      {4, 5, 3}, {6},
                                               {-1, 7}, {8}, {9}, {9}, {10}, {11, 12}, {13},      {8, 14}};
  std::mt19937 random(seed);
  CostNetwork n;
  for (std::size_t k = 0; k <= layer.size(); ++k) {
    Kind kind;
    kind.memory.resize(1);
    for (int s = 0; s < strategies; ++s) {
      kind.cost.push_back(uniform(random, 0.5, 2));
      kind.memory[0].push_back(whole(random, 50, 400) + 4 * whole(random, 10, 300));
    }
    n.kinds.push_back(std::move(kind));
  }
  for (const auto& producers : layer)
    for (std::size_t p = 0; p < producers.size(); ++p) n.pairs.push_back(random_pair(strategies, random));
  n.nodes = {static_cast<int>(layer.size())};
  for (int l = 0; l < layers; ++l) {
    const int first = static_cast<int>(n.nodes.size());
    int pair = 0;
    for (int k = 0; k < static_cast<int>(layer.size()); ++k) {
      n.nodes.push_back(k);
      for (const int producer : layer[k]) n.edges.push_back({first + producer, first + k, pair++});
    }
  }
  n.limits = {static_cast<std::int64_t>(static_cast<double>(n.nodes.size()) * memory_per_node)};
  return n;
}

std::optional<double> least_cost(const CostNetwork& n, const Locks& locks) {
  std::vector<std::vector<int>> allowed;
  for (int i = 0; i < static_cast<int>(n.nodes.size()); ++i) allowed.push_back(allowed_strategies(n, locks, i));
  std::optional<double> least;
  std::vector<std::size_t> at(n.nodes.size(), 0);
  Choice choice(n.nodes.size());
  while (true) {
    for (std::size_t i = 0; i < at.size(); ++i) choice[i] = allowed[i][at[i]];
    if (fits(n, memory_of(n, choice))) {
      const double cost = cost_of(n, choice);
      if (!least || cost < *least) least = cost;
    }
    std::size_t i = 0;
    for (; i < at.size() && ++at[i] == allowed[i].size(); ++i) at[i] = 0;
    if (i == at.size()) return least;
  }
}

bool keeps_locks(const CostNetwork& n, const Locks& locks, const Choice& choice) {
  for (int i = 0; i < static_cast<int>(n.nodes.size()); ++i) {
    const std::vector<int> allowed = allowed_strategies(n, locks, i);
    if (std::find(allowed.begin(), allowed.end(), choice[i]) == allowed.end()) return false;
  }
  return true;
}

}  // namespace planscope::layouts
