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

using brute::Digits;

const Digits kDigits = {{1, 2, 1}, {2, 2, 1}};  // data, tensor

// Two dimensions that all axes together divide.
TensorId a_matrix(const Graph& g) {
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t) {
    const auto& dims = g.tensors[static_cast<std::size_t>(t)].dims;
    if (dims.size() == 2 && std::all_of(dims.begin(), dims.end(), [&](const auto& parts) {
          return parts.size() == 1 && g.classes[static_cast<std::size_t>(parts[0])].size % 8 == 0;
        }))
      return t;
  }
  return -1;
}

// Devices alike, and in pairs that are nearer to each other; links that many times slower.
std::vector<Cluster> clusters(double slower) {
  std::vector<Cluster> out;
  for (const char* name : {"dgx-a100x2", "dgx2-v100x2", "localx2"})
    for (const bool pairs : {false, true}) {
      Cluster c = *read_cluster(name);
      c.name += (pairs ? ", pairs, slower by " : ", slower by ") + std::to_string(slower);
      if (pairs) c.levels[0].arity = 2;
      for (Level& level : c.levels) level.bandwidth /= slower;
      out.push_back(std::move(c));
    }
  return out;
}

// Digits that two layouts hold in different ways, or in blocks: copies and parts of sums on both sides take no part.
std::vector<Digit> used(const std::vector<Digit>& digits, const Layout& a, const Layout& b) {
  std::vector<Digit> out;
  for (const Digit& d : digits)
    if ((brute::used(a, d) || brute::used(b, d)) && !(brute::partial(a, d) && brute::partial(b, d))) out.push_back(d);
  return out;
}

// Of some digits, those over which a layout is a part of a sum.
std::vector<Digit> summed(std::vector<Digit> digits, const Layout& l) {
  std::erase_if(digits, [&](const Digit& d) { return !brute::partial(l, d); });
  return digits;
}

// From every `step`th layout of some digits to all others.
int compare(const ConversionSpace& space, const std::vector<Digit>& digits, std::size_t layouts, std::size_t step) {
  const std::map<Layout, double> all = brute::distances(space, digits, Layout{});
  REQUIRE(all.size() == layouts);
  int compared = 0;
  std::size_t k = 0;
  for (const auto& [from, ignored] : all) {
    if (k++ % step != 0) continue;
    std::map<std::pair<Digits, Digits>, std::map<Layout, double>> best;  // by those that take part and end as sums
    for (const auto& [to, also_ignored] : all) {
      const Digits part = used(digits, from, to), sums = summed(part, to);
      const auto [all_from, fresh] = best.try_emplace({part, sums});
      if (fresh) all_from->second = brute::distances(space, part, from, -1, &sums);
      const std::optional<ConversionPath> found = cheapest_conversion(space, from, to);
      INFO(space.cluster.name << ": " << describe(space.program, space.graph, from, space.tensor) << " -> "
                              << describe(space.program, space.graph, to, space.tensor));
      REQUIRE(found);
      CHECK(found->cost == Approx(all_from->second.at(to)).epsilon(1e-9));
      Layout now = from;
      for (const Move& m : found->moves) now = apply(now, m);
      CHECK(now == to);
      ++compared;
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("the chosen conversion is the cheapest of all that there are") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  const TensorId matrix = a_matrix(g);
  REQUIRE(matrix >= 0);
  int compared = 0;
  for (const double slower : {1.0, 1e6})  // the latter: bytes are all that counts
    for (const Cluster& cluster : clusters(slower))
      for (const std::vector<std::int64_t>& strides :
           {std::vector<std::int64_t>{4, 2, 1}, std::vector<std::int64_t>{1, 2, 4}}) {
        p.grids[0].strides = strides;
        // each axis unused, partial, or on one of two dimensions, in both orders on one
        compared += compare({g, p, cluster, matrix, 1}, kDigits, 18, 1);
      }
  CHECK(compared == 18 * 18 * 24);
}

TEST_CASE("the chosen conversion is the cheapest over three axes") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  const std::vector<Digit> digits = {{0, 2, 1}, {1, 2, 1}, {2, 2, 1}};
  for (const Cluster& cluster : clusters(1)) compare({g, p, cluster, a_matrix(g), 0}, digits, 92, 12);
}

TEST_CASE("rows go by key on the cheapest of all ways") {
  const Graph g = tiny::tiny_experts();
  Program p = tiny::small_program(g);
  TensorId rows = -1, key = -1;  // the first product's
  for (const Op& op : g.ops)
    for (const Factor& f : op.factors)
      if (f.key >= 0 && key < 0) key = f.key, rows = op.outputs[0].tensor;
  REQUIRE(key >= 0);
  int compared = 0;
  for (const Cluster& cluster : clusters(1)) {
    const ConversionSpace space{g, p, cluster, rows, 1};
    const std::map<Layout, double> all = brute::distances(space, kDigits, Layout{}, key);
    for (const auto& [from, nothing] : all) {
      std::map<std::pair<Digits, Digits>, std::map<Layout, double>> best;
      for (const auto& [to, also_nothing] : all) {
        if (!is_keyed(from) && !is_keyed(to)) continue;
        const Digits part = used(kDigits, from, to), sums = summed(part, to);
        const auto [all_from, other] = best.try_emplace({part, sums});
        if (other) all_from->second = brute::distances(space, part, from, key, &sums);
        const double cost = all_from->second.at(to);
        const std::optional<ConversionPath> found = cheapest_conversion(space, from, to);
        INFO(cluster.name << ": " << describe(p, g, from, rows) << " -> " << describe(p, g, to, rows));
        REQUIRE(found);
        CHECK(found->cost <= cost + 1e-9);  // the brute force knows nothing of the other parts of the rows
        ++compared;
      }
    }
  }
  CHECK(compared > 1200);
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

TEST_CASE("a log-sum-exp in parts is combined where it was written, however cheap another way were") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  const TensorId t = a_matrix(g);
  const Layout from{{{0, 0, {kDigits[1]}}}, {{kDigits[0], PartialKind::merge}}};
  for (const double slower : {1.0, 1e6})
    for (const Cluster& cluster : clusters(slower))
      for (const Layout& to :
           {Layout{}, Layout{{{0, 0, {kDigits[0], kDigits[1]}}}, {}}, Layout{{{1, 0, {kDigits[1]}}}, {}}}) {
        const std::optional<ConversionPath> path = cheapest_conversion({g, p, cluster, t, 0}, from, to);
        INFO(cluster.name << ": " << describe(p, g, to, t));
        REQUIRE(path);
        CHECK(path->moves[0].kind == MoveKind::all_reduce);
        CHECK(path->moves[0].reduce == PartialKind::merge);
      }
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
