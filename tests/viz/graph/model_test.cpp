// What a graph may be, and its form as bytes.
#include <catch2/catch.hpp>

#include "tests/viz/graph/sample_graph.h"
#include "viz/graph/wire.h"

using namespace planscope::viz;
using planscope::testing::sample_graph;

TEST_CASE("a graph is read back as it was written") {
  const GraphModel m = sample_graph();
  REQUIRE(first_problem(m).empty());
  const std::string bytes = encode(m);
  const std::optional<GraphModel> again = decode_graph(bytes);
  REQUIRE(again);
  CHECK(encode(*again) == bytes);
  CHECK(again->nodes() == 5);
  CHECK(again->text(again->title[3]) == "mlp");
  CHECK(again->find("head") == 4);
  CHECK(again->find("tail") == -1);
}

TEST_CASE("damaged bytes of a graph are refused, whatever is damaged") {
  const std::string bytes = encode(sample_graph());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) REQUIRE_FALSE(decode_graph(bytes.substr(0, cut)));
  for (std::size_t k = 0; k < bytes.size(); ++k)
    for (const char wrong : {'\x00', '\x7f', '\xff'}) {
      std::string other = bytes;
      other[k] = wrong;
      const std::optional<GraphModel> m = decode_graph(other);
      if (m) REQUIRE(first_problem(*m).empty());  // a letter or a number may have changed: what is read is drawable
    }
}

TEST_CASE("the rules of a graph are told apart") {
  const auto broken = [](auto change) {
    GraphModel m = sample_graph();
    change(m);
    return first_problem(m);
  };
  CHECK(broken([](GraphModel& m) { m.x.pop_back(); }) == "columns of nodes have unequal lengths");
  CHECK(broken([](GraphModel& m) { m.next.push_back(0); }) == "columns of edges have unequal lengths");
  CHECK(broken([](GraphModel& m) { m.title[0] = 1000; }) == "a text is not there");
  CHECK(broken([](GraphModel& m) { m.to[0] = 5; }) == "a node or an edge is not there");
  CHECK(broken([](GraphModel& m) { m.parent[0] = 1; }) == "a node is in no box");
  CHECK(broken([](GraphModel& m) { m.parent[2] = 0; }) == "a node is in no box");
  CHECK(broken([](GraphModel& m) { m.band[0] = 2; }) == "a category is not there");
  CHECK(broken([](GraphModel& m) { m.point_x[0] = 1.0f / 0.0f; }) == "a number is not finite");
}
