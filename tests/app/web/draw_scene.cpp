// Draws a canvas as the desktop does: draw_scene SCENE MODEL WIDTH HEIGHT RATIO dark|light VIEW MARKS writes its pixels (RGBA,
// rows from the top) to standard output. MODEL: a file with what GET /api/canvases/NAME answers; RATIO: pixels for one of WIDTH
// and HEIGHT; VIEW: what is looked at, as JSON; MARKS: ids, one a line. For the comparison with the page.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "viz/canvas/imgui_host.h"
#include "viz/scenes/scenes.h"

using namespace planscope::viz;

int main(int count, char** words) {
  if (count != 9) return std::cerr << "draw_scene SCENE MODEL WIDTH HEIGHT RATIO dark|light VIEW MARKS\n", 2;
  const std::unique_ptr<Scene> scene = make_scene(words[1]);
  std::ostringstream model;
  model << std::ifstream(words[2], std::ios::binary).rdbuf();
  if (!scene || !scene->load(model.str())) return std::cerr << "the model is not of a canvas '" << words[1] << "'\n", 1;
  scene->set_view(words[7]);
  std::vector<std::string> marks;
  std::istringstream ids(words[8]);
  for (std::string id; std::getline(ids, id);) marks.push_back(id);
  scene->mark(marks);
  const Size size{std::stod(words[3]), std::stod(words[4])};
  const Theme theme = std::string(words[6]) == "dark" ? dark_theme() : light_theme();
  Canvas canvas;
  scene->draw(canvas, {0, 0, size.width, size.height}, theme);
  ImGuiHost host({PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"});
  host.resize(size, std::stod(words[5]));
  const Image& image = host.frame(canvas.list(), theme.background);
  std::cout.write(reinterpret_cast<const char*>(image.rgba.data()), static_cast<std::streamsize>(image.rgba.size()));
  return std::cout.good() ? 0 : 1;
}
