#include "app/session/comparison_page.h"

#include "app/session/canvases/canvases.h"
#include "app/session/comparing.h"
#include "app/session/html.h"
#include "app/session/panels/panels.h"
#include "engine/base/text.h"
#include "viz/scenes/picture.h"
#include "viz/scenes/scenes.h"

namespace planscope::session {

namespace {

std::string figure(const State& s) {
  for (const CanvasInfo& c : canvases()) {
    if (std::string_view(c.id) != "compare" || !c.source(s).of) continue;
    const std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
    if (scene && scene->load(c.model(s)))
      return "<section><h2>" + html_text("Timelines, by " + s.align) + "</h2>\n" +
             viz::scene_svg(*scene, scene->natural_size(), "", viz::light_theme())
                 .value_or("<p>They are left out: their picture would be larger than 2 MB.</p>\n") +
             "</section>\n";
  }
  return "";
}

// The script of every plan: what the figures are of.
std::string scripts(const Comparison& c) {
  std::string out;
  for (const ComparedEntry& e : c.entries)
    if (e.evaluation)
      out += "<section><h2>" + html_text("Plan " + e.name) + "</h2>\n<pre>" + html_text(e.text) + "</pre></section>\n";
  return out;
}

}  // namespace

Result<std::string> comparison_page(const State& s) {
  const Document* d = s.document();
  if (const std::string why = why_no_comparison(s); !why.empty()) return error("there is no comparison", why, "compare PLAN");
  const auto section = [&](const Panel& p) { return p.rows.empty() ? std::string() : to_html(p); };
  const std::string body = section(compare_panel(s)) + section(beside_panel(s)) + figure(s) +
                           (d->measured ? section(measured_panel(s)) : std::string()) + scripts(*d->comparison);
  return html_page(comparison_title(*d->comparison, d->model->model->name), body);
}

}  // namespace planscope::session
