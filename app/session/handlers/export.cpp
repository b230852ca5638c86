// Pictures of canvases and rows of panels as files.
#include "app/session/canvases/canvases.h"
#include "app/session/comparison_page.h"
#include "app/session/core.h"
#include "app/session/csv.h"
#include "app/session/panels/panels.h"
#include "app/workbench/traffic.h"
#include "engine/base/text.h"
#include "viz/scenes/picture.h"
#include "viz/scenes/scenes.h"

namespace planscope::session {

namespace {

std::string caption(const Document& d) {
  std::string out = d.model->model->name + " · " + d.name + " on " + d.cluster;
  if (!d.shown) return out;
  const Figures f = figures_of(*d.shown);
  if (f.step_us) out += " · step " + cell(*f.step_us, Unit::microseconds).text;
  if (!f.verdict.empty()) out += " · " + f.verdict;
  return out + (d.current() ? "" : " (of an older text)");
}

Result<std::string> picture(const State& s, const std::string& id, bool png, const viz::Theme& theme) {
  std::vector<std::string> ids;
  for (const CanvasInfo& c : canvases()) {
    ids.push_back(c.id);
    if (id != c.id) continue;
    if (!c.source(s).of) return error("there is no picture of " + std::string(c.title), "the plan has errors, or is not written yet");
    const std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
    if (!scene || !scene->load(c.model(s))) return error("the picture of " + std::string(c.title) + " cannot be drawn");
    scene->mark(c.marks(s));
    if (!png) return viz::scene_svg(*scene, caption(*s.document()), theme);
    const std::optional<std::string> bytes = viz::scene_png(*scene, caption(*s.document()), theme);
    if (!bytes) return error("this program makes no PNG files", "it was built without Dear ImGui", "a name that ends with .svg");
    return *bytes;
  }
  const std::string near = nearest(id, ids);
  return error("there is no picture '" + printable(id) + "'", "there are " + join(ids, ", "), near.empty() ? "" : "did you mean '" + near + "'?");
}

Result<Done> export_file(Core& c, const Invocation& i) {
  const std::string what = i.get("what"), path = i.get("path");
  const auto ends = [&](const char* ending) { return path.ends_with(ending); };
  if (i.has("colours") && i.get("colours") != "light" && i.get("colours") != "dark")
    return error("there are no colours '" + i.get("colours") + "'", "", "light or dark");
  Result<std::string> bytes =
      error("the ending of '" + path + "' names no kind of file", "", ".svg, .png, .csv, .json or .html");
  if (ends(".svg") || ends(".png")) {
    bytes = picture(c.state, what, ends(".png"), i.get("colours") == "dark" ? viz::dark_theme() : viz::light_theme());
  } else if (ends(".html")) {
    bytes = what == "compare" ? comparison_page(c.state)
                              : Result<std::string>(error("'" + printable(what) + "' is not written as a page", "",
                                                          "compare, or .svg, .csv"));
  } else if (ends(".json") && what == "cluster") {
    const Document& d = *c.document();
    const Result<Cluster> cluster =
        open_cluster(d.cluster, declared_devices(d.latest ? d.latest->plan : plan::Plan{}), c.readable());
    if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
    bytes = print_cluster(*cluster);
  } else if ((ends(".csv") || ends(".json")) && what == "traffic") {  // the pattern, for those who tune collectives
    const Document& d = *c.document();
    if (!d.shown || !d.shown->evaluation) return error("there is no traffic", "no plan has been predicted");
    const TrafficFacts t = traffic(*d.shown->evaluation, *d.shown->cluster);
    bytes = ends(".csv") ? traffic_csv(t) : traffic_json(t);
  } else if (ends(".csv") || ends(".json")) {
    const Result<Panel> panel = make_panel(what, c.state);
    if (!panel.ok()) return panel.diagnostics;
    bytes = ends(".csv") ? to_csv(*panel) : to_json(*panel).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (!bytes.ok()) return bytes.diagnostics;
  const Result<Done> written = write_file(path, *bytes);
  return written.ok() ? written : c.failed(written.diagnostics);
}

}  // namespace

void add_export_handlers(Handlers& all) { all["export"] = export_file; }

}  // namespace planscope::session
