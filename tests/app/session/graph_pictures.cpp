// Makes pictures of graphs: graph_pictures SCRIPT FILE.svg|FILE.png [WIDTH HEIGHT] runs a session script and draws the graph of its
// document, all of it unless a size is given; prints how long the first picture and an expansion have taken.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "app/session/canvases/canvases.h"
#include "app/session/script.h"
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#include "viz/canvas/svg.h"
#include "viz/scenes/scenes.h"

using namespace planscope;
using Steady = std::chrono::steady_clock;

namespace {

double ms(Steady::time_point from) { return std::chrono::duration<double, std::milli>(Steady::now() - from).count(); }

const session::CanvasInfo& graph_canvas() {
  for (const session::CanvasInfo& c : session::canvases())
    if (std::string(c.id) == "graph") return c;
  std::abort();
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return std::cerr << "graph_pictures SCRIPT FILE [WIDTH HEIGHT]\n", 2;
  session::Session s({.workspace = "", .cluster = "dgx-h100x1"});
  std::ifstream script(words[1]);
  const session::ScriptEnd end = session::run_script(script, words[1], s, std::cout);
  std::cerr << to_string(end.diagnostics);
  s.wait();
  const session::CanvasInfo& canvas = graph_canvas();
  const std::unique_ptr<viz::Scene> scene = viz::make_scene("graph");
  const session::State state = s.state();
  if (!state.document()) return std::cerr << "the script opens no document\n", 1;
  Steady::time_point begin = Steady::now();
  state.document()->graph.model->get();
  std::printf("folded %.1f ms, ", ms(begin)), begin = Steady::now();
  state.document()->graph.placed->get();
  std::printf("placed (%s %s) %.1f ms, ", state.document()->graph.placed->get().how.c_str(), state.document()->graph.placed->get().why.c_str(), ms(begin)), begin = Steady::now();
  if (state.document()->shown && state.document()->shown->figures_by_operator) state.document()->shown->figures_by_operator->get();
  std::printf("figures %.1f ms, ", ms(begin)), begin = Steady::now();
  const std::string bytes = canvas.model(state);
  std::printf("model %zu bytes %.1f ms, ", bytes.size(), ms(begin)), begin = Steady::now();
  if (!scene->load(bytes)) return std::cerr << "the canvas does not read its model\n", 1;
  scene->mark(canvas.marks(state));
  std::printf("loaded %.1f ms, ", ms(begin)), begin = Steady::now();
  const viz::Size size = count > 4 ? viz::Size{std::stod(words[3]), std::stod(words[4])} : scene->natural_size();
  const viz::Theme theme = count > 5 && std::string(words[5]) == "light" ? viz::light_theme() : viz::dark_theme();
  viz::Canvas drawing;
  scene->draw(drawing, {0, 0, size.width, size.height}, theme);
  std::printf("drawn %zu shapes %.1f ms\n", drawing.list().size(), ms(begin));
  const std::string file = words[2];
  if (file.ends_with(".svg")) {
    std::ofstream(file, std::ios::binary) << viz::to_svg(drawing.list(), size, {theme.background, "graph"});
  } else {
    viz::RasterOptions o;
    o.background = theme.background;
    o.fonts = {std::string(PLANSCOPE_FONT_DIR) + "/DejaVuSans.ttf", std::string(PLANSCOPE_FONT_DIR) + "/DejaVuSans-Bold.ttf"};
    const auto png = viz::encode_png(viz::raster_image(drawing.list(), size, o));
    std::ofstream(file, std::ios::binary) << std::string(png.begin(), png.end());
  }
  return 0;
}
