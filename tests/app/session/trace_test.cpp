// Neighbours and paths in what is visible of a graph, against distances that are found another way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "app/session/graph/trace.h"

using namespace planscope;
using namespace planscope::session;

namespace {

constexpr int far = 1'000;

VisibleGraph random_graph(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  VisibleGraph v;
  v.nodes.resize(static_cast<std::size_t>(nodes));
  for (int to = 1; to < nodes; ++to)
    for (int k = 0; k < 2; ++k)
      if (const int from = static_cast<int>(random() % static_cast<unsigned>(to)); random() % 3 != 0) {
        VisibleEdge e;
        e.from = from, e.to = to;
        v.edges.push_back(e);
      }
  return v;
}

// Steps between all nodes, along the edges or in both directions (Floyd and Warshall).
std::vector<std::vector<int>> distances(const VisibleGraph& v, bool both) {
  const std::size_t n = v.nodes.size();
  std::vector<std::vector<int>> d(n, std::vector<int>(n, far));
  for (std::size_t k = 0; k < n; ++k) d[k][k] = 0;
  for (const VisibleEdge& e : v.edges) {
    const auto from = static_cast<std::size_t>(e.from), to = static_cast<std::size_t>(e.to);
    d[from][to] = 1;
    if (both) d[to][from] = 1;
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
  return d;
}

}  // namespace

TEST_CASE("a path has an edge between each two of its nodes, and none is shorter") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const VisibleGraph v = random_graph(seed, 24);
    const auto d = distances(v, false);
    for (int a = 0; a < 24; ++a)
      for (int b = 0; b < 24; ++b) {
        const std::vector<int> path = shortest_path(v, {a}, {b});
        const int along = d[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
        const int against = d[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)];
        const int wanted = along < far ? along : against;
        REQUIRE(path.empty() == (wanted >= far));
        if (path.empty()) continue;
        REQUIRE(static_cast<int>(path.size()) == wanted + 1);
        REQUIRE(path.front() == (along < far ? a : b));
        REQUIRE(path.back() == (along < far ? b : a));
        for (std::size_t k = 0; k + 1 < path.size(); ++k)
          REQUIRE(std::any_of(v.edges.begin(), v.edges.end(),
                              [&](const VisibleEdge& e) { return e.from == path[k] && e.to == path[k + 1]; }));
      }
  }
}

TEST_CASE("neighbours are all that is so many steps away, in both directions") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const VisibleGraph v = random_graph(seed, 24);
    const auto d = distances(v, true);
    for (const int steps : {0, 1, 3}) {
      const std::set<int> found = neighbours(v, {5}, steps);
      for (int n = 0; n < 24; ++n) REQUIRE(found.contains(n) == (d[5][static_cast<std::size_t>(n)] <= steps));
    }
  }
}
