// What is told of a tensor is what the Program does: every conversion is found again, and every device is in the tile
// that it holds.
#include "app/workbench/tensor_facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/selection.h"
#include "tests/app/workbench/sample_plans.h"

using namespace planscope;

namespace {

std::int64_t elements(const TensorTile& t) {
  std::int64_t out = 1;
  for (const std::vector<Interval>& runs : t.region) {
    std::int64_t sum = 0;
    for (const Interval& i : runs) sum += i.size();
    out *= sum;
  }
  return out;
}

// The tiles of a layout, device by device, against what the layout says of each.
void check_tiles(const Graph& g, const Program& p, TensorId t, const Layout& layout, const Place& place,
    const Point& index) {
  const Tiling tiling = tiles(g, p, t, layout, place, index, 1 << 20);
  INFO(g.tensor_name(t) << " as " << describe(p, g, layout, t));
  REQUIRE(tiling.devices == device_count(p, place));
  for (const int device : devices(p, place)) {
    Point point = point_of(p, place, device);
    for (std::size_t a = 0; a < point.size(); ++a)
      if (p.axes[a].grid < 0) point[a] = index[a];
    const TensorTile* mine = nullptr;
    for (const TensorTile& tile : tiling.tiles)
      for (const DeviceGroup& d : tile.devices)
        if (contains(d, device)) {
          REQUIRE(!mine);
          mine = &tile;
        }
    REQUIRE(mine);
    std::int64_t held = 0;
    for (const auto& region : regions(g, t, p, layout, point)) {
      std::int64_t one = 1;
      for (const auto& dim : region)
        for (const Interval& i : dim) one *= i.size();
      held += one;
    }
    if (!mine->hull) CHECK(elements(*mine) == held);
    CHECK(mine->part.has_value() == !layout.partials.empty());
    if (mine->part) {
      std::int64_t part = 0;
      for (const Partial& x : layout.partials) part = part * x.digit.size + digit_value(x.digit, point);
      CHECK(mine->part->first == part);
    }
  }
}

}  // namespace

TEST_CASE("every conversion of the sample plans is reported for its tensor, with the same moves", "[slow]") {
  std::size_t found = 0;
  for_each_sample_plan([&](const Evaluation& e, const Cluster& cluster) {
    const Graph& g = *e.made.graph;
    const Result<std::vector<Conversion>> all = explain(g, e.made.program, cluster, "*");
    REQUIRE(all.ok());
    std::map<std::pair<std::string, bool>, std::vector<const Conversion*>> by_tensor;
    for (const Conversion& c : *all) by_tensor[{c.tensor, c.gradient}].push_back(&c);
    for (const auto& [key, conversions] : by_tensor) {
      const std::string& tensor = key.first;
      if (tensor.find(".1.") != std::string::npos) continue;  // equal to that of layer 0
      INFO((key.second ? "gradient of " : "") << tensor);
      const Result<TensorFacts> t = tensor_facts(e, cluster, tensor,
          {.gradient = key.second, .index = {}, .every_place = true});
      REQUIRE(t.ok());
      if (key.second) CHECK(t->has_gradient);
      std::map<ProgramValueId, const TensorMove*> told;
      std::set<std::string> layouts;
      for (const TensorSide& w : t->writers) layouts.insert(w.layout);
      for (const TensorReader& r : t->readers) {
        layouts.insert(r.layout);
        for (const TensorMove& m : r.moves) told[m.move.made] = &m;
        for (const Conversion& hop : r.hops) {
          const auto of_hop = [&](const ExplainedMove& m) {
            return std::any_of(r.moves.begin(), r.moves.end(), [&](const TensorMove& one) { return one.move.made == m.made; });
          };
          CHECK(std::any_of(hop.chosen.moves.begin(), hop.chosen.moves.end(), of_hop));
          for (const ExplainedPath& other : hop.refused)
            for (const ExplainedMove& m : other.moves) {
              INFO("refused: " << m.what);
              if (m.time.count > 0) CHECK(m.payload.count > 0);
            }
        }
      }
      for (const Conversion* c : conversions)
        for (const ExplainedMove& m : c->chosen.moves) {
          if (m.made < 0) continue;
          INFO(m.what << " in " << c->segment);
          REQUIRE(told.contains(m.made));
          CHECK(told[m.made]->move.what == m.what);
          CHECK(told[m.made]->move.payload.count == m.payload.count);
          CHECK(told[m.made]->move.time.count == m.time.count);
          ++found;
        }
    }
  });
  CHECK(found > 500);
}

TEST_CASE("every device is in the one tile that it holds, whatever the layout") {
  std::size_t looked_at = 0;
  for_each_sample_plan([&](const Evaluation& e, const Cluster&) {
    const Program& p = e.made.program;
    std::set<std::tuple<LayoutId, PlaceId, std::size_t>> seen;
    for (const ProgramValue& v : p.values) {
      if (!seen.insert({v.layout, v.place,
          e.made.graph->tensors[static_cast<std::size_t>(v.tensor)].dims.size()}).second)
        continue;
      Point index(p.axes.size(), 0);
      check_tiles(*e.made.graph, p, v.tensor, p.layouts[static_cast<std::size_t>(v.layout)],
          p.places[static_cast<std::size_t>(v.place)], index);
      for (std::size_t a = 0; a < p.axes.size(); ++a)
        if (p.axes[a].grid < 0)
          index[a] = (p.axes[a].of < 0 ? p.axes[a].size : p.axes[static_cast<std::size_t>(p.axes[a].of)].size) - 1;
      check_tiles(*e.made.graph, p, v.tensor, p.layouts[static_cast<std::size_t>(v.layout)],
          p.places[static_cast<std::size_t>(v.place)], index);
      ++looked_at;
    }
  });
  CHECK(looked_at > 300);
}

TEST_CASE("readers of a value and contributions to its gradient") {
  const Evaluated s("llama_tiny",
                    "devices 4 as data=2 tensor=2\ntrans * batch by data\nuse tp(model.layers[*], tensor)\n",
                    "dgx-a100");
  for (const Op& op : s.graph().ops) {
    const std::string name = s.graph().tensor_name(op.outputs[0].tensor);
    if (name.find("layers.0.mlp.down_proj:linear") == std::string::npos) continue;
    const Result<TensorFacts> t = tensor_facts(s.evaluation, s.cluster, name, {});
    REQUIRE(t.ok());
    REQUIRE(t->writers.size() == 1);
    CHECK(t->writers[0].tiling.tiles.size() == 4);  // two halves of the batch, each two parts of a sum
    CHECK(t->writers[0].tiling.tiles[1].part == ValuePart{1, 1, 2, PartialKind::sum});
    REQUIRE(t->readers.size() == 1);
    REQUIRE(t->readers[0].moves.size() == 1);
    CHECK(t->readers[0].moves[0].move.kind == "all_reduce");
    CHECK(t->readers[0].tiling.tiles.size() == 2);
  }
  CHECK_FALSE(tensor_facts(s.evaluation, s.cluster, "nothing of that name", {}).ok());
}

TEST_CASE("a plan on thousands of devices is told in as few tiles as a small one") {
  const Evaluated s("llama_tiny",
                    "devices 8192 as data=1024 tensor=8\nmodel batch=2048\ntrans * batch by data\n"
                    "use zero(3, *, data)\n",
                    "dgx-a100x1024");
  std::size_t folded = 0;
  std::set<std::tuple<LayoutId, PlaceId>> seen;
  for (const ProgramValue& v : s.program().values) {
    if (!seen.insert({v.layout, v.place}).second) continue;
    const Tiling t = tiles(s.graph(), s.program(), v.tensor, s.program().layouts[static_cast<std::size_t>(v.layout)],
                           s.program().places[static_cast<std::size_t>(v.place)], Point(s.program().axes.size(), 0));
    CHECK(t.tiles.size() <= 64);
    CHECK(t.devices == 8192);
    std::int64_t sum = 0;
    for (const TensorTile& tile : t.tiles) {
      sum += tile.count;
      folded += tile.blocks > 1;
    }
    CHECK(sum == 8192);
  }
  CHECK(folded > 0);
}

TEST_CASE("sets of devices are written as ranges") {
  CHECK(devices_text({{.first = 3, .axes = {}, .listed = {}}}) == "3");
  CHECK(devices_text({{.first = 4, .axes = {{4, 1}}, .listed = {}}}) == "4–7");
  CHECK(devices_text({{.first = 0, .axes = {{4, 1}, {2, 8}}, .listed = {}}}) == "0–3, 8–11");
  CHECK(devices_text({{.first = 2, .axes = {{1024, 8}}, .listed = {}}}) == "2, 10, …, 8186");
  CHECK(devices_text({{.first = 0, .axes = {{4, 1}, {1024, 8}}, .listed = {}}}) == "0–3, 8–11, …, 8184–8187");
  CHECK(devices_text({{.first = 0, .axes = {{8, 1}, {1024, 8}}, .listed = {}}}) == "0–8191");
  CHECK(devices_text({{.first = 1, .axes = {}, .listed = {1, 3, 5, 7}}}) == "1, 3, 5, 7");
}
