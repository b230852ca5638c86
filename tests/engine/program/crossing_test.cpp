// Crossings against a brute force that tries every layout on both sides and counts every element of every message.
#include "engine/program/crossing.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/program/transfer.h"
#include "every_conversion.h"
#include "tests/support/model_builder.h"

using namespace planscope;

namespace {

constexpr std::int64_t kRows = 8, kColumns = 16;

// A grid of neighbouring devices.
struct Devices {
  std::int64_t first;
  std::vector<std::pair<std::string, std::int64_t>> axes;
};

// One place for each of two grids, that of the front first.
struct Pair {
  Graph graph;
  Program program;
  TensorId tensor = -1;

  Pair(const Devices& front, const Devices& back) {
    testing::ModelBuilder b;
    graph = b.graph(b.gelu("act", b.input("x", {kRows, kColumns})));
    for (TensorId t = 0; t < static_cast<TensorId>(graph.tensors.size()); ++t)
      if (graph.elements(t) == kRows * kColumns) tensor = t;
    program.device_count = 8;
    program.layouts = {{}};
    for (const Devices& d : {front, back}) add(d);
  }

  void add(const Devices& d) {
    const GridId id = static_cast<GridId>(program.grids.size());
    Grid grid{"g" + std::to_string(id), {}, {}, d.first, {}};
    std::int64_t stride = 1;
    for (const auto& [name, size] : d.axes) stride *= size;
    for (const auto& [name, size] : d.axes) {
      grid.axes.push_back(static_cast<AxisId>(program.axes.size()));
      grid.strides.push_back(stride /= size);
      program.axes.push_back({name, size, id});
    }
    program.grids.push_back(grid);
    program.places.push_back({id, {}});
  }

  std::vector<Digit> digits(PlaceId place) const {
    std::vector<Digit> out;
    for (const AxisId a : program.grids[static_cast<std::size_t>(place)].axes)
      out.push_back({a, program.axes[static_cast<std::size_t>(a)].size});
    return out;
  }

  ConversionSpace on(PlaceId place, const Cluster& c) const { return {graph, program, c, tensor, place}; }
};

bool is_whole(const Layout& l) { return l.partials.empty(); }

bool holds(const std::vector<std::vector<Interval>>& region, std::int64_t row, std::int64_t column) {
  return region[0][0].begin <= row && row < region[0][0].end && region[1][0].begin <= column &&
         column < region[1][0].end;
}

// Element by element.
Microseconds time_of(const Pair& p, const Cluster& cluster, const CrossingPair& pair) {
  const Place &from = p.program.places[0], &to = p.program.places[1];
  std::map<std::pair<int, int>, std::int64_t> elements;
  const auto region_of = [&](const Layout& l, const Place& place, int device) {
    return region(p.graph, p.tensor, l, point_of(p.program, place, device));
  };
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t column = 0; column < kColumns; ++column) {
      std::vector<int> holders;
      for (const int d : devices(p.program, from))
        if (holds(region_of(pair.sent, from, d), row, column)) holders.push_back(d);
      for (const int d : devices(p.program, to))
        if (holds(region_of(pair.got, to, d), row, column)) ++elements[{sender_of(p.program, from, to, holders, d), d}];
    }
  std::vector<PointToPoint> messages;
  for (const auto& [ends, n] : elements) messages.push_back({ends.first, ends.second, Bytes{4 * n}});
  return exchange_time(cluster, messages);
}

Cluster cluster_of(double slower) {
  Cluster c = *read_cluster("dgx-a100x2");
  c.levels[0].arity = 4;
  for (Level& l : c.levels) l.bandwidth /= slower;
  return c;
}

// Every way from every layout to every other one, and to every two.
void compare(const Pair& p, const Cluster& cluster, bool two_readers) {
  std::vector<std::vector<Layout>> layouts(2);
  std::map<Layout, std::map<Layout, double>> before, behind;  // from what is held; from what arrives
  for (const auto& [l, cost] : brute::distances(p.on(0, cluster), p.digits(0), Layout{})) layouts[0].push_back(l);
  for (const auto& [l, cost] : brute::distances(p.on(1, cluster), p.digits(1), Layout{})) layouts[1].push_back(l);
  for (const Layout& l : layouts[0]) before[l] = brute::distances(p.on(0, cluster), p.digits(0), l);
  for (const Layout& l : layouts[1]) behind[l] = brute::distances(p.on(1, cluster), p.digits(1), l);
  std::map<CrossingPair, double> times;
  for (const Layout& s : layouts[0])
    for (const Layout& g : layouts[1])
      if (is_whole(s) && is_whole(g)) times[{s, g}] = time_of(p, cluster, {s, g}).count;
  const CrossingSpace space{p.graph, p.program, cluster, p.tensor, 0, 1};
  const auto check = [&](const Layout& held, const std::vector<CrossingEnd>& read) {
    double best = 1e18;
    CrossingPair wanted;
    for (const auto& [pair, time] : times) {
      double cost = before.at(held).at(pair.sent) + time;
      for (const CrossingEnd& r : read) cost += r.times * behind.at(pair.got).at(r.layout);
      if (cost < best) wanted = pair;
      best = std::min(best, cost);
    }
    Layout sent = held;
    sent.partials.clear();
    const std::vector<Crossing> found =
        crossings(space, {{held, 1}}, read, {sent, translated(p.program, sent, 0, 1)}, 1);
    REQUIRE(found.size() == 1);
    const auto text = [&](const Layout& l) { return describe(p.program, p.graph, l, p.tensor); };
    INFO(text(held) << " sent " << text(found[0].pair.sent) << " got " << text(found[0].pair.got));
    INFO("wanted " << text(wanted.sent) << " got " << text(wanted.got));
    INFO("read " << text(read.front().layout) << " and " << text(read.back().layout));
    CHECK(found[0].time.count == Approx(times.at(found[0].pair)).epsilon(1e-9));
    CHECK(found[0].cost == Approx(best).epsilon(1e-9));
  };
  for (const Layout& held : layouts[0])
    for (const Layout& read : layouts[1]) {
      check(held, {{read, 1}});
      if (two_readers && is_whole(held) && is_whole(read)) check(held, {{layouts[1].back(), 1}, {read, 2}});
    }
}

}  // namespace

TEST_CASE("the chosen crossing is the cheapest of all that there are") {
  const std::vector<std::pair<Devices, Devices>> places = {
      {{0, {{"data", 2}, {"tensor", 2}}}, {4, {{"data", 2}, {"tensor", 2}}}},  // another node
      {{0, {{"tensor", 2}}}, {2, {{"data", 2}}}},                              // the same one, other names
      {{0, {{"data", 2}, {"tensor", 2}}}, {4, {{"data", 4}}}},                 // equal names, other sizes
      {{0, {{"data", 4}}}, {4, {{"tensor", 2}}}},
      {{4, {{"tensor", 2}}}, {0, {{"tensor", 2}, {"data", 2}}}},
      {{0, {{"data", 2}, {"tensor", 2}}}, {2, {{"data", 2}, {"tensor", 2}}}},  // overlapping, across the nodes
      {{0, {{"data", 2}, {"tensor", 2}}}, {2, {{"rows", 2}}}},                 // inside
      {{0, {{"data", 2}, {"tensor", 2}}}, {0, {{"tensor", 2}, {"data", 2}}}},  // the same devices, otherwise
  };
  const std::size_t which = GENERATE(0, 1, 2, 3, 4, 5, 6, 7);
  const double slower = GENERATE(1, 1e6);  // latencies count, bytes count
  const Pair p(places[which].first, places[which].second);
  CAPTURE(which, slower);
  compare(p, cluster_of(slower), which == 0 || which == 5);
}

TEST_CASE("a whole value goes in parts to another node, and is gathered there") {
  const Pair p({0, {{"tensor", 4}}}, {4, {{"tensor", 4}}});
  const Cluster cluster = cluster_of(1e6);
  const CrossingSpace space{p.graph, p.program, cluster, p.tensor, 0, 1};
  const Digit here = p.digits(0)[0], there = p.digits(1)[0];
  const std::vector<Crossing> best = crossings(space, {{{}, 1}}, {{{}, 1}}, {{}, {}}, 3);
  REQUIRE(best.size() == 3);
  CHECK(best[0].pair.got == Layout{{{0, 0, {there}}}, {}});
  for (std::size_t k = 1; k < best.size(); ++k) CHECK(best[k - 1].cost <= best[k].cost + 1e-6);
  const Layout sum{{}, {{here, PartialKind::sum}}};
  CHECK(crossings(space, {{sum, 1}}, {{{}, 1}}, {{}, {}}, 1)[0].pair.sent == Layout{{{0, 0, {here}}}, {}});
  const Cluster quick = cluster_of(1);  // 512 bytes: latencies are all
  CHECK(crossings({p.graph, p.program, quick, p.tensor, 0, 1}, {{{}, 1}}, {{{}, 1}}, {{}, {}}, 1)[0].pair ==
        CrossingPair{});
}

TEST_CASE("blocks that follow from coordinates cross as they are") {
  const Pair p({0, {{"data", 2}, {"tensor", 2}}}, {4, {{"data", 2}, {"tensor", 2}}});
  Digit turned = p.digits(0)[0];
  turned.start = 1;
  const Layout held{{{0, 0, {turned}}}, {}};
  const Cluster cluster = cluster_of(1e6);
  const std::vector<Crossing> found =
      crossings({p.graph, p.program, cluster, p.tensor, 0, 1}, {{held, 1}}, {{{}, 1}}, {held, {}}, 4);
  REQUIRE(found.size() == 1);
  CHECK(found[0].pair == CrossingPair{held, {}});
}

TEST_CASE("messages over axes that go side by side take as long as those of all of them") {
  const Cluster cluster = cluster_of(1e3);
  for (const std::int64_t data : {2, 4}) {
    const Pair p({0, {{"data", data}, {"tensor", 2}}}, {2 * data, {{"data", data}, {"tensor", 2}}});
    const Digit data0 = p.digits(0)[0], data1 = p.digits(1)[0], tensor0 = p.digits(0)[1], tensor1 = p.digits(1)[1];
    const Place &from = p.program.places[0], &to = p.program.places[1];
    for (const Sending& s : std::vector<Sending>{
             {p.tensor, from, to, {}, {}},
             {p.tensor, from, to, {{{0, 0, {data0}}}, {}}, {{{0, 0, {data1}}}, {}}},
             {p.tensor, from, to, {{{0, 0, {data0, tensor0}}}, {}}, {{{0, 0, {data1}}, {1, 0, {tensor1}}}, {}}},
             {p.tensor, from, to, {{{0, 0, {tensor0, data0}}}, {}}, {{{0, 0, {data1, tensor1}}}, {}}},
             {p.tensor, from, to, {{{1, 0, {tensor0}}}, {}}, {{{0, 0, {tensor1}}}, {}}}}) {
      INFO(describe(p.program, p.graph, s.sent, p.tensor) << " -> " << describe(p.program, p.graph, s.got, p.tensor));
      const double all = exchange_time(cluster, messages(p.graph, p.program, s)).count;
      CHECK(transfer_load(p.graph, p.program, cluster, {&s, 1}).time.count == Approx(all).epsilon(1e-12));
    }
  }
}

TEST_CASE("each device gets what it wants and does not hold, from devices that hold it") {
  const Pair p({0, {{"data", 2}, {"tensor", 2}}}, {2, {{"data", 2}, {"tensor", 2}}});  // two devices are of both
  const auto layouts = [&](int place) {
    std::vector<Layout> out = {{}};
    const std::vector<Digit> d = p.digits(place);
    for (const int dim : {0, 1})
      for (const Digit& a : d) {
        out.push_back({{{dim, 0, {a}}}, {}});
        for (const Digit& b : d)
          if (a != b) out.push_back({{{dim, 0, {a, b}}}, {}}), out.push_back({{{0, 0, {a}}, {1, 0, {b}}}, {}});
      }
    return out;
  };
  const auto held = [&](const Place& place, const Layout& l, int device) {
    std::vector<std::vector<Interval>> out = region(p.graph, p.tensor, l, point_of(p.program, place, device));
    return std::pair(out[0][0], out[1][0]);
  };
  const auto has = [](const std::pair<Interval, Interval>& r, std::int64_t i, std::int64_t k) {
    return i >= r.first.begin && i < r.first.end && k >= r.second.begin && k < r.second.end;
  };
  const Place &from = p.program.places[0], &to = p.program.places[1];
  const std::int64_t element = byte_size(p.graph.model->values[static_cast<std::size_t>(p.tensor)].dtype);
  for (const Layout& sent : layouts(0))
    for (const Layout& got : layouts(1)) {
      INFO(describe(p.program, p.graph, sent, p.tensor) << " -> " << describe(p.program, p.graph, got, p.tensor));
      std::map<int, std::int64_t> elements, wanted;  // that come, and have to come; by receiver
      for (const PointToPoint& m : messages(p.graph, p.program, {p.tensor, from, to, sent, got})) {
        CHECK(m.from != m.to);
        elements[m.to] += m.bytes.count / element;
      }
      for (const int device : devices(p.program, to)) {
        const auto want = held(to, got, device);
        const std::vector<int> senders = devices(p.program, from);
        const bool sends = std::find(senders.begin(), senders.end(), device) != senders.end();
        for (std::int64_t i = want.first.begin; i < want.first.end; ++i)
          for (std::int64_t k = want.second.begin; k < want.second.end; ++k)
            if (!sends || !has(held(from, sent, device), i, k)) ++wanted[device];
      }
      CHECK(elements == wanted);
    }
}

TEST_CASE("places meet at the innermost level of any two of their devices") {
  const Cluster cluster = cluster_of(1);
  const auto nearest = [&](std::vector<int> a, std::vector<int> b) { return nearest_level(cluster, a, b); };
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) CHECK(nearest({a}, {b}) == meeting_level(cluster, a, b));
  CHECK(nearest({7, 0}, {3, 6}) == std::min(meeting_level(cluster, 0, 3), meeting_level(cluster, 7, 6)));
  CHECK(nearest({1, 5}, {5, 2}) == -1);
}
