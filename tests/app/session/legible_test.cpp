// Every canvas, in every way it lays things out, on plans of different kinds, at the sizes of windows: no text is
// cut off by the picture's edge, none covers another one, and none is empty.
#include <algorithm>
#include <optional>

#include "app/session/canvases/canvases.h"
#include "app/session/views.h"
#include "tests/app/session/steps.h"
#include "viz/scenes/scenes.h"

using namespace planscope;
using namespace planscope::session;
using planscope::testing::must;

namespace {

struct Seen {
  viz::Rect rect;
  std::string text;
};

// Texts as far as they are inside the clip that was in force.
std::vector<Seen> texts_of(const viz::DisplayList& list, const viz::Rect& area) {
  std::vector<viz::Rect> clips = {area};
  std::vector<Seen> out;
  for (const viz::Shape& s : list) {
    if (const auto* push = std::get_if<viz::PushClip>(&s)) clips.push_back(push->rect);
    if (std::holds_alternative<viz::PopClip>(s)) clips.pop_back();
    const auto* t = std::get_if<viz::TextShape>(&s);
    if (!t) continue;
    const viz::TextMetrics m = viz::metrics(t->style);
    // What letters cover, not the whole line.
    const viz::Rect r{t->at.x, t->at.y - 0.75 * m.ascent.value, viz::text_width(t->text, t->style).value,
                      0.75 * m.ascent.value};
    const viz::Rect visible = viz::intersection(r, clips.back());
    if (!visible.empty()) out.push_back({visible, t->text});
  }
  return out;
}

// The first text that is cut off by the picture's own edge, or by another text.
std::string problem(const viz::DisplayList& list, const viz::Rect& area) {
  for (const viz::Shape& s : list)
    if (const auto* t = std::get_if<viz::TextShape>(&s); t && t->text.empty()) return "an empty text";
  const std::vector<Seen> all = texts_of(list, area);
  constexpr double touch = 2;  // widths are estimates
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      const viz::Rect both = viz::intersection(all[a].rect, all[b].rect);
      if (both.width > touch && both.height > touch)
        return "'" + all[a].text + "' is covered by '" + all[b].text + "'";
    }
  return "";
}

std::string drawn(const State& s, const CanvasInfo& c, viz::Size size) {
  const std::unique_ptr<viz::Scene> scene = looked_at(s, c);
  if (size.width == 0) size = scene->natural_size();
  viz::Canvas canvas;
  const viz::Rect area{0, 0, size.width, size.height};
  scene->draw(canvas, area, viz::light_theme());
  return problem(canvas.list(), area);
}

struct Way {
  const char *model, *plan;
  std::vector<const char*> looks;  // each on its own, in this order
};

const std::vector<Way> ways = {
    {"gpt2_tiny", "gpt2_tiny-1f1b", 
     {"lanes idle", "lane pipe=0 fold=on", "lane pipe=1 pin=on", "lane pipe=2 devices=on", "select time=0..500"}},
    {"gpt2_tiny", "gpt2_tiny-data-tensor", 
     {"expand depth=2", "colour split", "colour time", "colour memory", "colour communication", "colour rule"}},
    {"llama_tiny", "llama_tiny-ring", 
     {"select operators=\"model.layers[0].self_attn.k_proj\"", "gradient on", "view traffic measure=time"}},
    {"llama_tiny", "llama_tiny-pipe-tensor", 
     {"select operators=\"model.layers[0].mlp.down_proj\"", "brush kind=all_reduce"}},
    {"mixtral_tiny", "mixtral_tiny-expert", {"select operators=\"model.layers[0]\"", "expand depth=3"}},
};

}  // namespace

TEST_CASE("no text of a canvas covers another one, however it is laid out") {
  int pictures = 0;
  for (const Way& w : ways) {
    Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
    must(s, std::string("open model=sample_models/") + w.model + ".pt2 plan=sample_models/plans/" + w.plan + ".plan");
    s.wait();
    std::vector<std::string> looks = {""};
    looks.insert(looks.end(), w.looks.begin(), w.looks.end());
    for (const std::string& look : looks) {
      if (!look.empty()) must(s, look);
      s.wait();
      const State state = s.state();
      for (const CanvasInfo& c : canvases())
        for (const viz::Size size : {viz::Size{0, 0}, viz::Size{1200, 700}, viz::Size{700, 420}, viz::Size{320, 200}}) {
          if (!c.source(state).of) continue;
          INFO(w.plan << ", " << look << ": " << c.id << " at " << size.width << " × " << size.height);
          CHECK(drawn(state, c, size) == "");
          ++pictures;
        }
    }
  }
  CHECK(pictures > 200);
}

TEST_CASE("timelines that are compared do not cover their texts, in any way of laying them out") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2 plan=sample_models/plans/gpt2_tiny-1f1b.plan");
  s.wait();
  must(s, "compare sample_models/plans/gpt2_tiny-gpipe-data.plan");
  s.wait();
  const CanvasInfo& compare = **find_canvas("compare");
  for (const char* align : {"time", "share", "task"})
    for (const char* overlay : {"runs", "all", "none"}) {
      must(s, std::string("align ") + align);
      must(s, std::string("overlay ") + overlay);
      REQUIRE(compare.source(s.state()).of);
      INFO(align << ", " << overlay);
      for (const viz::Size size : {viz::Size{0, 0}, viz::Size{1000, 600}, viz::Size{420, 240}})
        CHECK(drawn(s.state(), compare, size) == "");
    }
}
