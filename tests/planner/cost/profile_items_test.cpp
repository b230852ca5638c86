// What a profile of a Program asks for, and that its figures are found again.
#include "planner/cost/profile_items.h"

#include <catch2/catch.hpp>
#include <set>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/simulate/simulate.h"
#include "tests/support/model_builder.h"

using namespace planscope;

namespace {

Cluster two_devices() {
  Cluster c;
  c.kinds[0].type = {"test", {std::int64_t{1} << 40}, {{"float32", 1e12}}, 1e11, {2}};
  c.levels = {{"link", 2, {1}, 1e10, 1}};
  return c;
}

struct Case {
  Cluster cluster = two_devices();
  Materialized made;
  Case(const Graph& graph, const std::string& plan) {
    Result<Materialized> m = materialize(graph, *plan::parse_plan(plan, "a.plan"), cluster);
    INFO(to_string(m.diagnostics));
    REQUIRE(m.ok());
    made = std::move(*m);
  }
  std::vector<ProfileItem> items() const { return profile_items(*made.graph, made.program, cluster.device(0), {}); }
  std::array<Nanoseconds, 3> sources(const CostModel& costs) const {
    SimulationOptions options;
    options.costs = costs;
    const Result<Simulation> s = simulate(*made.graph, made.program, cluster, options);
    REQUIRE(s.ok());
    return s->classes[0].sources;
  }
};

constexpr std::size_t measured = 0, interpolated = 1, modelled = 2;

CostModel with(const std::vector<ProfileItem>& items, double us) {
  CostModel out;
  for (const ProfileItem& i : items) add(out.profiles["test"], i.key, {i.shapes, i.modelled_us, us});
  return out;
}

}  // namespace

TEST_CASE("equal operators of all layers are one item for each direction") {
  testing::TransformerSizes sizes;
  const Case two(testing::transformer(sizes), "devices 1\n");
  sizes.layers = 6;
  const Case six(testing::transformer(sizes), "devices 1\n");
  const auto items = two.items();
  CHECK(items.size() == six.items().size());
  std::set<std::pair<std::string, std::string>> keys;
  for (const ProfileItem& i : items) {
    CHECK(keys.emplace(i.key, i.shapes).second);
    CHECK(i.key.ends_with(i.backward ? " backward" : " forward"));
  }
}

TEST_CASE("a shard has the key of a whole operator of its size") {
  testing::TransformerSizes sizes;
  sizes.batch = 8;
  const Case split(testing::transformer(sizes), "devices 2 as data=2\ntrans * batch by data\n");
  sizes.batch = 4;
  const Case whole(testing::transformer(sizes), "devices 1\n");
  const auto shards = split.items(), wholes = whole.items();
  int same = 0;
  for (const ProfileItem& i : shards)
    for (const ProfileItem& j : wholes) same += i.key == j.key && i.shapes == j.shapes;
  CHECK(same > static_cast<int>(shards.size()) * 3 / 4);
}

TEST_CASE("once all items are measured, so is all compute time of operators") {
  const Case c(testing::transformer({}), "devices 2 as tensor=2\nlet L = layers[*]\ntrans * batch by tensor\n");
  CHECK(c.sources({})[measured] == 0);
  CHECK(c.sources({})[modelled] > 0);
  auto items = c.items();
  const auto operators = c.sources(with(items, 5));
  CHECK(operators[measured] > 0);
  CHECK(operators[interpolated] == 0);
  for (const ProfileItem& m : memory_items(c.cluster.device(0), {})) items.push_back(m);
  const auto all = c.sources(with(items, 5));
  CHECK(all[measured] == operators[measured]);
  CHECK(all[interpolated] > 0);  // updates, by what was measured of memory
  CHECK(all[modelled] == 0);
}

TEST_CASE("uneven blocks are never measured") {
  const Graph graph = testing::transformer({});
  const Case even(graph, "devices 2 as data=2\ntrans * batch by data\n");
  const PieceOp* bound = nullptr;
  const Piece* piece = nullptr;
  for (const Piece& p : even.made.program.pieces)
    for (const PieceOp& o : p.ops)
      if (!o.bindings.empty()) bound = &o, piece = &p;
  REQUIRE(bound);
  CHECK(is_uniform(*even.made.graph, even.made.program, *piece, *bound));
  PieceOp uneven = *bound;
  uneven.bindings[0].digit.sizes = {5, 3};
  CHECK_FALSE(is_uniform(*even.made.graph, even.made.program, *piece, uneven));
  PieceOp prefix = *bound;
  prefix.bindings[0].digit.reach = Reach::prefix;
  CHECK_FALSE(is_uniform(*even.made.graph, even.made.program, *piece, prefix));
}

TEST_CASE("samples stay in order, one for each shape, and views take what views take") {
  Profile p;
  add(p, "k", {"b", 20, 30});
  add(p, "k", {"a", 10, 20});
  add(p, "k", {"b", 20, 40});
  REQUIRE(p.samples["k"].size() == 2);
  CHECK(p.samples["k"][0].shapes == "a");
  CHECK(look_up(p, "k", "b", {20}) == Figure{{40}, FigureSource::measured});
  add(p, "k", {"view", 0, 3});
  add(p, "k", {"other view", 0, 5});
  CHECK(look_up(p, "k", "third", {0}) == Figure{{4}, FigureSource::interpolated});
  CHECK(look_up(p, "k", "middle", {15}) == Figure{{15 * 2}, FigureSource::interpolated});
  CHECK(look_up(p, "k", "small", {1}) == Figure{{2}, FigureSource::interpolated});
}
