// Conversions against a brute force that knows every move and does not look at the target.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/program/conversion.h"
#include "every_conversion.h"
#include "small_program.h"
#include "tiny_experts.h"

using namespace planscope;

namespace {

const std::vector<Digit> kDigits = {{1, 2, 1}, {2, 2, 1}};  // data, tensor

}  // namespace

TEST_CASE("the chosen conversion is the cheapest of all that there are") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  TensorId matrix = -1;  // two dimensions that both axes divide
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    if (g.tensors[static_cast<std::size_t>(t)].dims.size() == 2 && g.elements(t) % 16 == 0) matrix = t;
  REQUIRE(matrix >= 0);
  std::set<Layout> all;
  for (const auto& [l, cost] : brute::distances({g, p, *read_cluster("dgx-a100"), matrix, 0}, kDigits, Layout{}))
    all.insert(l);
  REQUIRE(all.size() == 18);  // each axis unused, partial, or on one of two dimensions, in both orders on one
  int compared = 0;
  for (const char* name : {"dgx-a100", "dgx2-v100", "local"})
    for (const std::vector<std::int64_t>& strides :
         {std::vector<std::int64_t>{4, 2, 1}, std::vector<std::int64_t>{1, 2, 4}}) {
      const Cluster cluster = *read_cluster(name);
      p.grids[0].strides = strides;
      const ConversionSpace space{g, p, cluster, matrix, 0};
      for (const Layout& from : all) {
        const std::map<Layout, double> best = brute::distances(space, kDigits, from);
        for (const auto& [to, cost] : best) {
          const std::optional<ConversionPath> found = cheapest_conversion(space, from, to);
          INFO(name << ": " << describe(p, g, from, matrix) << " -> " << describe(p, g, to, matrix));
          REQUIRE(found);
          CHECK(found->cost == Approx(cost).epsilon(1e-9));
          Layout now = from;
          for (const Move& m : found->moves) now = apply(now, m);
          CHECK(now == to);
          ++compared;
        }
      }
    }
  CHECK(compared == 18 * 18 * 6);
}

TEST_CASE("rows go by key on the cheapest of all ways") {
  const Graph g = tiny::tiny_experts();
  Program p = tiny::small_program(g);
  TensorId rows = -1, key = -1;  // the first product's
  for (const Op& op : g.ops)
    for (const Factor& f : op.factors)
      if (f.key >= 0 && key < 0) key = f.key, rows = op.outputs[0].tensor;
  REQUIRE(key >= 0);
  const Cluster cluster = *read_cluster("dgx-a100");
  const ConversionSpace space{g, p, cluster, rows, 0};
  const std::map<Layout, double> all = brute::distances(space, kDigits, Layout{}, key);
  int compared = 0;
  for (const auto& [from, nothing] : all) {
    for (const auto& [to, cost] : brute::distances(space, kDigits, from, key)) {
      if (!is_keyed(from) && !is_keyed(to)) continue;
      const std::optional<ConversionPath> found = cheapest_conversion(space, from, to);
      INFO(describe(p, g, from, rows) << " -> " << describe(p, g, to, rows));
      REQUIRE(found);
      CHECK(found->cost == Approx(cost).epsilon(1e-9));
      ++compared;
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("other ways are listed in the order of their cost") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  const Cluster cluster = *read_cluster("dgx-a100");
  const TensorId t = p.values[0].tensor;
  const Layout partial{{}, {{kDigits[1], PartialKind::sum}}};
  const std::vector<ConversionPath> ways = conversions({g, p, cluster, t, 0}, partial, Layout{}, 3);
  REQUIRE_FALSE(ways.empty());
  CHECK(ways[0].moves == cheapest_conversion({g, p, cluster, t, 0}, partial, Layout{})->moves);
  for (std::size_t k = 1; k < ways.size(); ++k) CHECK(ways[k - 1].cost <= ways[k].cost);
}

TEST_CASE("blocks rotate where they are at home on the devices that turn them") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  p.axes.push_back({"ring", 2, -1});
  const Digit data{1, 2, 1}, ring{4, 2, 1}, turned{4, 2, 1, {}, 1, 1, 1, 0};
  PresetRequest request;
  request.devices = 8;
  const Cluster cluster = *read_cluster("local", request);
  const ConversionSpace space{g, p, cluster, 2, 0};
  const Layout home{{{1, 0, {data}}}, {}}, away{{{1, 0, {turned}}}, {}};
  const auto there = cheapest_conversion(space, home, away);
  REQUIRE(there);
  REQUIRE(there->moves.size() == 1);
  CHECK(there->moves[0].kind == MoveKind::rotate);
  CHECK(apply(home, there->moves[0]) == away);
  const Layout parts{{{1, 0, {turned}}}, {{data, PartialKind::sum}}},
      sent{{{1, 0, {data}}}, {{ring, PartialKind::sum}}};
  const auto back = cheapest_conversion(space, parts, sent);
  REQUIRE(back);
  REQUIRE(back->moves.size() == 1);
  CHECK(back->moves[0].kind == MoveKind::rotate_back);
  CHECK(apply(parts, back->moves[0]) == sent);
  const Layout reduced{{{1, 0, {turned}}}, {}};
  CHECK_FALSE(cheapest_conversion(space, parts, reduced));  // devices hold different blocks
}

TEST_CASE("blocks of two axes rotate, and one of those of every index is taken") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  const AxisId half = static_cast<AxisId>(p.axes.size()), ring = half + 1;
  p.axes.push_back({"half", 2, -1});
  p.axes.push_back({"ring", 4, -1});
  const Digit one{half, 2, 1}, mirrored{1, 2, 1, {}, half, 1, 1, 0}, turned{ring, 4, 1, {}, 1, 1, 1, 0}, data{1, 2, 1};
  Digit every = one;
  every.reach = Reach::every;
  PresetRequest request;
  request.devices = 8;
  const Cluster cluster = *read_cluster("local", request);
  const ConversionSpace space{g, p, cluster, g.ops[0].outputs[0].tensor, 0};  // [8, 6, 16]
  const auto only = [&](const Layout& from, const Layout& to) -> Move {
    const auto path = cheapest_conversion(space, from, to);
    const bool single = path && path->moves.size() == 1 && apply(from, path->moves[0]) == to;
    Move none;
    none.kind = MoveKind::to_partial;
    return single ? path->moves[0] : none;
  };
  const Layout home{{{0, 0, {every, mirrored}}}, {}}, away{{{0, 0, {turned}}}, {}};
  CHECK(only(home, away).kind == MoveKind::rotate);
  CHECK(only(home, {{{0, 0, {one, mirrored}}}, {}}).kind == MoveKind::slice);
  CHECK(only({{{0, 0, {turned}}}, {{data, PartialKind::sum}}},
             {{{0, 0, {every, mirrored}}}, {{{ring, 4, 1}, PartialKind::sum}}})
            .kind == MoveKind::rotate_back);
  CHECK_FALSE(cheapest_conversion(space, home, Layout{}));
  const Layout uneven_home{{{1, 0, {every, mirrored}}}, {}},
      uneven{{{1, 0, {turned}}}, {}};  // 6 are not 4 equal blocks
  CHECK_FALSE(cheapest_conversion(space, uneven_home, uneven));
}
