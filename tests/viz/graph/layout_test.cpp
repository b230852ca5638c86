// Where nodes lie: boxes hold what is in them, nothing overlaps, edges go from left to right.
#include "viz/graph_layout/layout.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace planscope::viz;

namespace {

// Nodes in boxes, each with an edge from some before it.
LayoutRequest random_request(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  LayoutRequest r;
  std::vector<int> boxes = {-1}, leaves;
  for (int k = 0; k < nodes; ++k) {
    const bool box = random() % 5 == 0;
    r.nodes.push_back({boxes[random() % boxes.size()], box, 80.0 + static_cast<double>(random() % 100), 66});
    if (box)
      boxes.push_back(k);
    else
      leaves.push_back(k);
  }
  for (std::size_t k = 1; k < leaves.size(); ++k)
    if (const int from = leaves[random() % k]; random() % 4 != 0) r.edges.push_back({from, leaves[k]});
  return r;
}

bool inside(const Rect& outer, const Rect& r) {
  constexpr double slack = 0.01;
  return r.x >= outer.x - slack && r.y >= outer.y - slack && r.right() <= outer.right() + slack && r.bottom() <= outer.bottom() + slack;
}

bool around(const LayoutRequest& r, int box, int node) {
  for (int n = node; n >= 0; n = r.nodes[static_cast<std::size_t>(n)].parent)
    if (n == box) return true;
  return false;
}

void check(const LayoutRequest& r, const GraphLayout& l) {
  REQUIRE(l.nodes.size() == r.nodes.size());
  REQUIRE(l.edges.size() == r.edges.size());
  for (std::size_t a = 0; a < l.nodes.size(); ++a) {
    CHECK(inside({0, 0, l.size.width, l.size.height}, l.nodes[a]));
    if (r.nodes[a].parent >= 0) CHECK(inside(l.nodes[static_cast<std::size_t>(r.nodes[a].parent)], l.nodes[a]));
    if (!r.nodes[a].box) CHECK(l.nodes[a].width == Approx(r.nodes[a].width));
    for (std::size_t b = a + 1; b < l.nodes.size(); ++b)
      if (!around(r, static_cast<int>(a), static_cast<int>(b))) CHECK(intersection(inset(l.nodes[a], 0.01), l.nodes[b]).empty());
  }
  for (std::size_t e = 0; e < l.edges.size(); ++e) {
    const Rect from = l.nodes[static_cast<std::size_t>(r.edges[e].from)], to = l.nodes[static_cast<std::size_t>(r.edges[e].to)];
    REQUIRE(l.edges[e].size() >= 2);
    CHECK(std::abs(l.edges[e].front().x - from.right()) < 2);
    CHECK(std::abs(l.edges[e].back().x - to.x) < 2);
  }
}

}  // namespace

TEST_CASE("the layered layout keeps boxes and nodes apart") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const LayoutRequest r = random_request(seed, 5 + static_cast<int>(seed));
    check(r, layered_layout(r));
  }
}

TEST_CASE("an edge goes to the right in the layered layout of a list") {
  LayoutRequest r;
  for (int k = 0; k < 6; ++k) r.nodes.push_back({-1, false, 100, 66});
  r.edges = {{0, 1}, {1, 2}, {0, 3}, {3, 5}, {2, 5}, {4, 5}};
  const GraphLayout l = layered_layout(r);
  for (const LayoutEdge& e : r.edges)
    CHECK(l.nodes[static_cast<std::size_t>(e.from)].right() + layout_rank_gap <= l.nodes[static_cast<std::size_t>(e.to)].x + 0.01);
}

TEST_CASE("an empty graph, one node and a circle have a layout") {
  CHECK(layered_layout({}).nodes.empty());
  LayoutRequest r;
  r.nodes.push_back({-1, false, 100, 66});
  CHECK(layered_layout(r).size == Size{100, 66});
  r.nodes.push_back({-1, false, 100, 66});
  r.edges = {{0, 1}, {1, 0}};
  CHECK(layered_layout(r).edges.size() == 2);
}

TEST_CASE("a graph in the language of Graphviz, and its answer") {
  LayoutRequest r;
  r.nodes = {{-1, false, 72, 72}, {-1, true, 0, 0}, {1, false, 144, 72}};
  r.edges = {{0, 2}};
  const std::string dot = to_dot(r);
  CHECK(dot.find("n0 [width=1.0000 height=1.0000]") != std::string::npos);
  CHECK(dot.find("subgraph cluster_1 {\nn2 [width=2.0000 height=1.0000]\n}") != std::string::npos);
  CHECK(dot.find("n0 -> n2") != std::string::npos);
  const std::string plain =
      "graph 1 6 2\nnode n0 0.5 1 1 1 \"\" solid box black lightgrey\nnode n2 4 1 2 1 \"\" solid box black lightgrey\n"
      "edge n0 n2 4 1 1 1.5 1 2.5 1 3 1 solid black\nstop\n";
  const std::optional<GraphLayout> l = read_plain(r, plain);
  REQUIRE(l);
  check(r, *l);
  CHECK(l->nodes[2].x - l->nodes[0].right() == Approx(144));
  CHECK(l->nodes[1].y == Approx(l->nodes[2].y - layout_box_header));
  for (std::size_t cut = 0; cut + 2 < plain.size(); ++cut) CHECK_FALSE(read_plain(r, plain.substr(0, cut)));
  CHECK_FALSE(read_plain(r, "graph 1 6 2\nnode n7 0 0 1 1\nstop\n"));
  CHECK_FALSE(read_plain(r, "graph 1 6 2\nedge n0 n2 100000000 1 1\nstop\n"));
}
