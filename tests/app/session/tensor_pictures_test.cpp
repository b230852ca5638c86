// Every kind of conversion of the sample plans as its tensor's canvas draws it, against what `plan --explain` says of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "app/session/canvases/canvases.h"
#include "app/workbench/explain.h"
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

}  // namespace

TEST_CASE("every conversion of the sample plans is drawn with the bytes and the time that are explained") {
  std::set<std::string> kinds;
  int drawn = 0;
  for_each_sample_plan([&](const Evaluation& e, const Cluster& cluster) {
    const Program& p = e.made.program;
    const bool free = std::any_of(p.axes.begin(), p.axes.end(), [](const Axis& a) { return a.grid < 0; });
    const Result<std::vector<planscope::Conversion>> all = explain(*e.made.graph, p, cluster, "*");
    REQUIRE(all.ok());
    std::map<std::pair<std::string, bool>, std::vector<const ExplainedMove*>> moves;
    for (const planscope::Conversion& c : *all)
      for (const ExplainedMove& m : c.chosen.moves)
        if (m.made >= 0 && m.payload.count > 0) moves[{c.tensor, c.gradient}].push_back(&m);
    std::set<std::string> known;  // tensors that are converted in the same way look the same
    for (const auto& [key, wanted] : moves) {
      std::string way;
      for (const ExplainedMove* m : wanted) way += m->what + "\n";
      if (!known.insert(way).second) continue;
      INFO((key.second ? "gradient of " : "") << key.first << ": " << way);
      const std::string bytes = tensor_model(shown(e, cluster, key.first, key.second));
      const std::optional<viz::TensorModel> model = viz::decode_tensor(bytes);
      REQUIRE(model);
      viz::Size size;
      const std::set<std::string> texts = texts_of(bytes, size);
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
  for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all", "send"}) {
    INFO(kind);
    CHECK(kinds.contains(kind));
  }
}
