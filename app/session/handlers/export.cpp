// Pictures of canvases and rows of panels as files.
#include <filesystem>

#include "app/session/core.h"
#include "app/session/csv.h"
#include "app/session/panels/panels.h"
#include "app/session/views.h"
#include "engine/base/text.h"
#include "viz/scenes/picture.h"

namespace planscope::session {

namespace {

struct PictureOptions {
  bool png = false, view = false;
  viz::Size size = {1600, 1000};  // of a view
  viz::Theme theme;
};

Result<std::string> picture(const State& s, const CanvasInfo& c, const PictureOptions& o) {
  if (!c.source(s).of) return no_picture(c, s);
  std::unique_ptr<viz::Scene> scene = looked_at(s, c);
  if (!scene) return error("the picture of " + std::string(c.title) + " cannot be drawn", "its data are not what is drawn: a fault of planscope");
  if (!o.view && !scene->show_all()) {
    State whole = s;
    whole.documents[static_cast<std::size_t>(s.current)].views.erase(c.id);
    scene = looked_at(whole, c);
    if (!scene) return error("the picture of " + std::string(c.title) + " cannot be drawn");
  }
  const viz::Size size = o.view ? o.size : scene->natural_size();
  if (o.png && !viz::makes_png())
    return error("this program makes no PNG files", "it was built without Dear ImGui", "a name that ends with .svg");
  const PictureOf of = c.of(s);
  const std::string above = of.what + (of.old.empty() ? "" : " (" + of.old + ")");
  const std::optional<std::string> bytes =
      o.png ? viz::scene_png(*scene, size, above, o.theme) : viz::scene_svg(*scene, size, above, o.theme);
  if (bytes) return *bytes;
  return error("the picture of " + std::string(c.title) + " would be larger than 2 MB",
               "it shows too much for as many pixels as that holds", "view=yes draws what is in view alone");
}

Result<PictureOptions> picture_options(const Invocation& i) {
  PictureOptions o{.png = i.get("path").ends_with(".png"), .view = i.get("view") == "yes", .theme = viz::light_theme()};
  if (i.has("view") && i.get("view") != "yes" && i.get("view") != "no") return error("'export' takes view=yes or no");
  if (i.get("colours") == "dark")
    o.theme = viz::dark_theme();
  else if (i.has("colours") && i.get("colours") != "light")
    return error("there are no colours '" + i.get("colours") + "'", "", "light or dark");
  if (!i.has("size")) return o;
  const std::vector<std::string> sides = split(i.get("size"), 'x');
  constexpr double least = 100, most = 10'000;
  double side[2] = {};
  for (std::size_t k = 0; k < 2; ++k) {
    if (sides.size() != 2 || sides[k].empty() || sides[k].size() > 5 ||
        sides[k].find_first_not_of("0123456789") != std::string::npos || (side[k] = std::stod(sides[k])) < least ||
        side[k] > most)
      return error("'" + printable(i.get("size")) + "' is no size of a picture", "",
                   "width and height from 100 to 10,000 pixels, as 1200x700");
  }
  o.size = {side[0], side[1]};
  const viz::Size largest = o.png ? viz::largest_png(o.size) : o.size;
  if (largest.width < o.size.width)
    return error("a .png file of " + i.get("size") + " pixels is too large", "it has at most 40 million of them, with its caption",
                 "size=" + std::to_string(static_cast<int>(largest.width)) + "x" + std::to_string(static_cast<int>(largest.height)) +
                     ", or an .svg file");
  return o;
}

Result<std::string> contents(const State& s, const Invocation& i) {
  const std::string what = i.get("what"), path = i.get("path");
  const auto ends = [&](const char* ending) { return path.ends_with(ending); };
  const Result<const CanvasInfo*> canvas = find_canvas(what);
  if (canvas.ok())
    for (const CanvasFile& f : (*canvas)->files)
      if (ends(f.ending)) return f.make(s);
  if (ends(".svg") || ends(".png")) {
    if (!canvas.ok()) return canvas.diagnostics;
    const Result<PictureOptions> options = picture_options(i);
    return options.ok() ? picture(s, **canvas, *options) : Result<std::string>(options.diagnostics);
  }
  if (ends(".csv") || ends(".json")) {
    const Result<Panel> panel = make_whole_panel(what, s);
    if (!panel.ok()) return panel.diagnostics;
    return ends(".csv") ? to_csv(*panel) : to_json(*panel).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return error("the ending of '" + path + "' names no kind of file of '" + what + "'", "",
               ".svg, .png, .csv or .json; .dot of the graph, .html of a comparison");
}

// As a cluster file, with what has been changed of it.
Result<std::string> cluster_text(const Document& d, const Workspace* w) {
  const Result<Cluster> cluster =
      open_cluster(d.cluster, declared_devices(d.latest ? d.latest->plan : plan::Plan{}), w);
  if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
  return print_cluster(*cluster);
}

Result<Done> export_file(Core& c, const Invocation& i) {
  const std::string path = i.get("path");
  const Result<std::string> bytes = exported(c.state, c.readable(), i);
  if (!bytes.ok()) return bytes.diagnostics;
  std::error_code ec;
  if (i.get("overwrite") != "yes" && std::filesystem::exists(path, ec)) {
    Diagnostic exists = error("there is a file already", "", "overwrite=yes replaces it");
    exists.file = path;
    return exists;
  }
  const Result<Done> written = write_file(path, *bytes);
  return written.ok() ? written : c.failed(written.diagnostics);
}

}  // namespace

bool exports_cluster(const Invocation& i) { return i.get("what") == "cluster" && i.get("path").ends_with(".json"); }

Result<std::string> exported(const State& s, const Workspace* w, const Invocation& i) {
  return exports_cluster(i) ? cluster_text(*s.document(), w) : contents(s, i);
}

void add_export_handlers(Handlers& all) { all["export"] = export_file; }

}  // namespace planscope::session
