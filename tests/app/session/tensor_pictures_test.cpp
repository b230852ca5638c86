// Every kind of conversion of the sample plans as its tensor's canvas draws it, against what `plan --explain` says of it: the
// moves, and device by device the tiles that its layouts mean.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <span>

#include "app/session/canvases/canvases.h"
#include "app/workbench/explain.h"
#include "tests/app/session/layout_text.h"
#include "tests/app/workbench/sample_plans.h"
#include "viz/scenes/scenes.h"
#include "viz/tensor/wire.h"
#include "viz/timeline/model.h"

using namespace planscope;
using namespace planscope::session;

namespace {

// A session that shows this evaluation, with this tensor selected.
State shown(const Evaluation& e, const Cluster& cluster, const std::string& tensor, bool gradient) {
  auto picture = std::make_shared<Picture>();
  picture->evaluation = std::shared_ptr<const Evaluation>(&e, [](const Evaluation*) {});
  picture->cluster = std::shared_ptr<const Cluster>(&cluster, [](const Cluster*) {});
  picture->study = std::make_shared<const Study>(picture->evaluation, picture->cluster);
  State s;
  s.documents.emplace_back();
  s.documents.back().shown = std::move(picture);
  s.current = 0;
  s.selection.tensor = tensor;
  s.look.gradient = gradient;
  return s;
}

bool same(const viz::MoveChip& drawn, const ExplainedMove& m) {
  return drawn.what == m.what && drawn.bytes.value == static_cast<double>(m.payload.count) &&
         drawn.time.value == m.time.count;
}

std::set<std::string> texts_of(const std::string& model, viz::Size& size) {
  const std::unique_ptr<viz::Scene> scene = viz::make_scene("tensor");
  REQUIRE(scene->load(model));
  size = scene->natural_size();
  viz::Canvas canvas;
  scene->draw(canvas, {0, 0, size.width, size.height}, viz::light_theme());
  std::set<std::string> out;
  for (const viz::Shape& s : canvas.list())
    if (const auto* t = std::get_if<viz::TextShape>(&s)) out.insert(t->text);
  return out;
}

TensorId tensor_named(const Graph& g, const std::string& name) {
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    if (g.tensor_name(t) == name) return t;
  FAIL("there is no tensor " << name);
  return -1;
}

bool holds(const viz::Tile& t, int device) {
  return std::any_of(t.devices.begin(), t.devices.end(), [&](const viz::TileDevices& d) { return d.contains(device); });
}

std::vector<int> indices(const std::vector<viz::TileRun>& runs) {
  std::vector<int> out;
  for (const viz::TileRun& r : runs)
    for (std::int64_t i = r.begin; i < r.end; ++i) out.push_back(static_cast<int>(i));
  return out;
}

// The tiles of one side that is drawn, against what its layout says in words; returns how many were compared.
int compare_tiles(const viz::TensorModel& m, const viz::TensorSide& side, const Graph& g, const Program& p, TensorId tensor) {
  const auto place = std::find_if(p.places.begin(), p.places.end(),
                                  [&](const Place& one) { return describe(p, one) == side.place; });
  REQUIRE(place != p.places.end());
  const std::span<const viz::Tile> tiles(m.tiles.data() + side.first, static_cast<std::size_t>(side.tiles));
  std::vector<std::int64_t> found(tiles.size(), 0);
  for (const int device : devices(p, *place)) {
    INFO("device " << device);
    std::vector<std::size_t> here;
    for (std::size_t k = 0; k < tiles.size(); ++k)
      if (holds(tiles[k], device)) here.push_back(k);
    REQUIRE(here.size() == 1);
    const viz::Tile& tile = tiles[here[0]];
    ++found[here[0]];
    REQUIRE(tile.blocks == 1);
    Point point = point_of(p, *place, device);
    for (std::size_t a = 0; a < point.size(); ++a)
      if (p.axes[a].grid < 0) point[a] = 0;
    const HeldByText said = held_by_text(side.layout, g, p, tensor, point);
    REQUIRE(tile.runs.size() == said.indices.size());
    const bool nothing = std::any_of(said.indices.begin(), said.indices.end(), [](const auto& one) { return one.empty(); });
    for (std::size_t d = 0; d < said.indices.size(); ++d)
      if (static_cast<int>(d) != said.by_key) CHECK(indices(tile.runs[d]) == (nothing ? std::vector<int>{} : said.indices[d]));
    CHECK(tile.keys.starts_with(said.keys));
    CHECK(tile.keys.empty() == said.keys.empty());
    CHECK(tile.part == said.part);
    CHECK(tile.part_of == said.parts);
    CHECK(tile.part_kind == said.part_kind);
  }
  for (std::size_t k = 0; k < tiles.size(); ++k) CHECK(tiles[k].count == found[k]);
  return static_cast<int>(tiles.size());
}

}  // namespace

TEST_CASE("every conversion of the sample plans is drawn with the bytes and the time that are explained") {
  std::set<std::string> kinds;
  int drawn = 0, compared = 0;
  for_each_sample_plan([&](const Evaluation& e, const Cluster& cluster) {
    const Program& p = e.made.program;
    const bool free = std::any_of(p.axes.begin(), p.axes.end(), [](const Axis& a) { return a.grid < 0; });
    const Result<std::vector<planscope::Conversion>> all = explain(*e.made.graph, p, cluster, "*");
    REQUIRE(all.ok());
    std::map<std::pair<std::string, bool>, std::vector<const ExplainedMove*>> moves;
    std::map<std::pair<std::string, bool>, std::set<std::string>> layouts;
    for (const planscope::Conversion& c : *all) {
      for (const std::string& layout : {c.from, c.to})
        layouts[{c.tensor, c.gradient}].insert(layout_text::accumulated(layout.substr(0, layout.find(" on ")), p));
      for (const ExplainedMove& m : c.chosen.moves)
        if (m.made >= 0 && m.payload.count > 0) moves[{c.tensor, c.gradient}].push_back(&m);
    }
    // Sizes of blocks that a plan lists are not said in words.
    const bool listed = std::any_of(p.layouts.begin(), p.layouts.end(), [](const Layout& l) {
      return std::any_of(l.splits.begin(), l.splits.end(), [](const Split& s) {
        return std::any_of(s.digits.begin(), s.digits.end(), [](const Digit& d) { return !d.sizes.empty(); });
      });
    });
    std::set<std::string> known;  // tensors that are converted in the same way look the same
    for (const auto& [key, wanted] : moves) {
      std::string way;
      for (const ExplainedMove* m : wanted) way += m->what + "\n";
      for (const std::string& layout : layouts[key]) way += layout + "\n";
      if (!known.insert(way).second) continue;
      INFO((key.second ? "gradient of " : "") << key.first << ": " << way);
      const std::string bytes = tensor_model(shown(e, cluster, key.first, key.second));
      const std::optional<viz::TensorModel> model = viz::decode_tensor(bytes);
      REQUIRE(model);
      viz::Size size;
      const std::set<std::string> texts = texts_of(bytes, size);
      for (const viz::TensorSide& s : model->sides) {
        INFO(s.title << " at " << s.place << ": " << s.layout);
        if (!s.moves.empty()) CHECK(layouts[key].contains(layout_text::accumulated(s.layout, p)));
        if (!listed) compared += compare_tiles(*model, s, *e.made.graph, p, tensor_named(*e.made.graph, key.first));
      }
      std::vector<const viz::MoveChip*> chips;
      for (const viz::TensorSide& s : model->sides)
        for (const viz::MoveChip& m : s.moves)
          if (m.bytes.value > 0) chips.push_back(&m);
      for (const viz::MoveChip* chip : chips) {
        CHECK(std::any_of(wanted.begin(), wanted.end(), [&](const ExplainedMove* m) { return same(*chip, *m); }));
        CHECK(texts.contains(chip->kind + " · " + viz::format_bytes(chip->bytes)));
        kinds.insert(chip->kind);
        ++drawn;
      }
      if (free) continue;  // at one index of a free axis not everything runs
      for (const ExplainedMove* m : wanted)
        CHECK(std::any_of(chips.begin(), chips.end(), [&](const viz::MoveChip* chip) { return same(*chip, *m); }));
    }
  });
  CHECK(drawn > 100);
  CHECK(compared > 1000);
  for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all", "send"}) {
    INFO(kind);
    CHECK(kinds.contains(kind));
  }
}
