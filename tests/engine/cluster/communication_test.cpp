#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "engine/cluster/communication.h"

using namespace planscope;

namespace {

// 4 devices on a 10 us, 1 GB/s wire (1 byte = 1 ns); 3 such units on a 100 us, 0.5 GB/s link that 2 devices share.
Cluster toy() {
  Cluster c;
  c.name = "toy";
  c.kinds[0].type = {"d", {1 << 30}, {{"float32", 1e12}}, 1e11, {1.0}};
  c.levels = {{"wire", 4, {10.0}, 1e9, 1}, {"net", 3, {100.0}, 5e8, 2}};
  return c;
}

constexpr Collective kinds[] = {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                Collective::all_to_all, Collective::broadcast,  Collective::send};

double us(const Cluster& c, Collective kind, std::int64_t bytes, const DeviceGroup& g) {
  return collective_time(c, kind, Bytes{bytes}, g).count;
}

std::vector<std::int64_t> expand(const DeviceGroup& g) {
  std::vector<std::int64_t> devices = {g.first};
  for (const GroupAxis& a : g.axes) {
    std::vector<std::int64_t> next;
    for (const std::int64_t d : devices) {
      for (std::int64_t i = 0; i < a.size; ++i) next.push_back(d + i * a.stride);
    }
    devices = next;
  }
  std::sort(devices.begin(), devices.end());
  return devices;
}

}  // namespace

TEST_CASE("collectives inside one unit cost what the textbook says", "[communication]") {
  const Cluster c = toy();
  const DeviceGroup four{.first = 0, .axes = {{4, 1}}};
  // ring of 4: 3 steps of 10 us; 3/4 of 80,000 bytes at 1 byte/ns = 60 us
  CHECK(us(c, Collective::all_gather, 80000, four) == Approx(30 + 60));
  CHECK(us(c, Collective::reduce_scatter, 80000, four) == Approx(30 + 60));
  CHECK(us(c, Collective::all_reduce, 80000, four) == Approx(60 + 120));
  CHECK(us(c, Collective::all_to_all, 80000, four) == Approx(30 + 60));
  CHECK(us(c, Collective::broadcast, 80000, four) == Approx(60 + 80));
  const DeviceGroup neighbours{.first = 0, .axes = {{2, 1}}};
  CHECK(us(c, Collective::send, 80000, neighbours) == Approx(10 + 80));
}

TEST_CASE("collectives across units share links and carry less", "[communication]") {
  const Cluster c = toy();
  // one member per unit: 3 parties, ring of 2 steps of 100 us; 2/3 of 90,000 bytes at 0.25 byte/ns = 240 us
  const DeviceGroup across{.first = 1, .axes = {{3, 4}}};
  CHECK(us(c, Collective::all_gather, 90000, across) == Approx(200 + 240));
  // all 12: in the unit 30 + 3/4 * 120,000 ns = 120; between units 200 + 2/3 * 30,000 / 0.25 ns = 80
  const DeviceGroup all{.first = 0, .axes = {{12, 1}}};
  CHECK(us(c, Collective::all_gather, 120000, all) == Approx(120 + 280));
  CHECK(us(c, Collective::all_reduce, 120000, all) == Approx(2 * (120 + 280)));
  // 3 of 12 parts of 120,000 bytes go to the own unit (30 us), 8 of 12 go out (80,000 / 0.25 ns)
  CHECK(us(c, Collective::all_to_all, 120000, all) == Approx(30 + 30 + 200 + 320));
  // whole data in quarters between units, then the other three quarters inside
  CHECK(us(c, Collective::broadcast, 120000, all) == Approx(60 + 90 + 400 + 120));
  const DeviceGroup far{.first = 3, .axes = {{2, 1}}};  // devices 3 and 4 are in different units
  CHECK(us(c, Collective::send, 1000, far) == Approx(100 + 4));
}

TEST_CASE("long rings become trees", "[communication]") {
  Cluster c = toy();
  c.levels[1].arity = 1024;
  const DeviceGroup across{.first = 0, .axes = {{1024, 4}}};
  CHECK(us(c, Collective::all_gather, 0, across) == Approx(20 * 100));
}

TEST_CASE("a group of one costs nothing", "[communication]") {
  for (const Collective kind : kinds) CHECK(us(toy(), kind, 1 << 20, {.first = 2, .axes = {{1, 4}}}) == 0);
}

TEST_CASE("members per unit follow from strides as if counted", "[communication]") {
  std::mt19937 random(7);
  const Cluster c = *read_cluster("dgx-a100x8");
  for (int round = 0; round < 2000; ++round) {
    // a grid of powers of two over the cluster; a group takes some of its axes
    DeviceGroup g;
    std::int64_t stride = 1;
    while (stride < 64) {
      const std::int64_t size = std::min<std::int64_t>(64 / stride, std::int64_t{1} << (random() % 3));
      if (random() % 2)
        g.axes.push_back({size, stride});
      else
        g.first += stride * static_cast<std::int64_t>(random() % static_cast<unsigned>(size));
      stride *= size;
    }
    std::shuffle(g.axes.begin(), g.axes.end(), random);
    std::map<std::int64_t, std::int64_t> per_node;
    for (const std::int64_t d : expand(g)) ++per_node[d / 8];
    std::int64_t fullest = 0;
    for (const auto& [node, count] : per_node) fullest = std::max(fullest, count);
    CHECK(members_per_unit(c, g) == std::vector<std::int64_t>{fullest, g.size()});
  }
}

TEST_CASE("ragged and listed groups are counted by their fullest unit", "[communication]") {
  const Cluster c = toy();
  CHECK(members_per_unit(c, {.first = 3, .axes = {{4, 1}}}) == std::vector<std::int64_t>{3, 4});
  CHECK(members_per_unit(c, {.first = 2, .axes = {{2, 3}, {3, 1}}}) == std::vector<std::int64_t>{4, 6});
  CHECK(members_per_unit(c, {.first = 0, .axes = {}, .listed = {0, 5, 6, 11}}) == std::vector<std::int64_t>{2, 4});
  const DeviceGroup axes{.first = 1, .axes = {{3, 4}, {2, 1}}};
  const DeviceGroup list{.first = 0, .axes = {}, .listed = expand(axes)};
  for (const Collective kind : kinds) CHECK(us(c, kind, 777777, axes) == us(c, kind, 777777, list));
}

TEST_CASE("more bytes, more latency, less bandwidth never make it faster", "[communication]") {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    Cluster c = toy();
    c.levels[0].arity = 1 << (random() % 4);
    c.levels[1].arity = 1 + static_cast<int>(random() % 9);
    const std::int64_t inner = c.levels[0].arity;
    DeviceGroup g{.first = 0, .axes = {{c.levels[1].arity, inner}}};
    if (random() % 2) g.axes.push_back({inner, 1});
    const std::int64_t bytes = random() % 1000000;
    for (const Collective kind : kinds) {
      const double base = us(c, kind, bytes, g);
      CHECK(us(c, kind, bytes + 1000, g) >= base);
      for (std::size_t level = 0; level < 2; ++level) {
        Cluster slower = c;
        slower.levels[level].latency += Microseconds{5};
        CHECK(us(slower, kind, bytes, g) >= base);
        slower = c;
        slower.levels[level].bandwidth /= 2;
        CHECK(us(slower, kind, bytes, g) >= base);
      }
      Cluster wider = c;  // one more unit of the outermost level
      wider.levels[1].arity += 1;
      DeviceGroup more = g;
      more.axes[0].size += 1;
      if (kind != Collective::send) CHECK(us(wider, kind, bytes, more) >= base);
    }
    CHECK(us(c, Collective::all_reduce, bytes, g) ==
          Approx(us(c, Collective::all_gather, bytes, g) + us(c, Collective::reduce_scatter, bytes, g)));
  }
}

TEST_CASE("devices meet at the innermost level that holds both", "[communication]") {
  const Cluster c = toy();
  CHECK(meeting_level(c, 5, 5) == -1);
  CHECK(meeting_level(c, 4, 7) == 0);
  CHECK(meeting_level(c, 3, 4) == 1);
}
