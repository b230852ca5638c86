// The canvases for a page: scenes by number, input in, pixels and commands of the session out. What a page needs and no
// more; a text that is given back is valid until the next call.
//
//   const scene = scene_new("timeline")     // 0: there is no such canvas
//   scene_load(scene, pointer, length)      // 1: it is shown; 0: the bytes are of another canvas, or damaged
//   scene_input(scene, …)                   // commands, one a line
//   scene_draw(scene, width, height, ratio, dark)   // RGBA, scene_image_width() × scene_image_height()
#include <array>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/canvas/imgui_host.h"
#include "viz/scenes/scenes.h"

using namespace planscope::viz;

namespace {

struct Hosted {
  std::string kind, model;
  std::unique_ptr<Scene> scene;
  Size size{640, 480};
};

std::map<int, Hosted>& scenes() {
  static std::map<int, Hosted> all;
  return all;
}

// The page puts the fonts there before it asks for a picture.
ImGuiHost& host() {
  static ImGuiHost one({"/regular.ttf", "/bold.ttf"});
  return one;
}

const Image*& image() {
  static const Image* last = nullptr;
  return last;
}

const char* given(std::string text) {
  static std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

std::string lines(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& line : all) out += (out.empty() ? "" : "\n") + line;
  return out;
}

std::vector<std::string> words(const char* text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);)
    if (!word.empty()) out.push_back(word);
  return out;
}

Rect area(const Size& s) { return {0, 0, s.width, s.height}; }

const Theme& theme(int dark) {
  static const Theme themes[] = {light_theme(), dark_theme()};
  return themes[dark ? 1 : 0];
}

// The names that the page gives the keys.
constexpr std::array<std::pair<const char*, Key>, 31> key_names = {{
    {"a", Key::a},
    {"c", Key::c},
    {"d", Key::d},
    {"e", Key::e},
    {"f", Key::f},
    {"m", Key::m},
    {"n", Key::n},
    {"o", Key::o},
    {"p", Key::p},
    {"s", Key::s},
    {"w", Key::w},
    {"x", Key::x},
    {"z", Key::z},
    {"Home", Key::home},
    {"End", Key::end},
    {".", Key::period},
    {",", Key::comma},
    {"/", Key::slash},
    {"+", Key::plus},
    {"=", Key::plus},
    {"-", Key::minus},
    {"ArrowUp", Key::up},
    {"ArrowDown", Key::down},
    {"ArrowLeft", Key::left},
    {"ArrowRight", Key::right},
    {"PageUp", Key::page_up},
    {"PageDown", Key::page_down},
    {"Enter", Key::enter},
    {"Space", Key::space},
    {"Escape", Key::escape},
    {"?", Key::slash},
}};

std::vector<Key> keys_of(const char* names) {
  std::vector<Key> out;
  for (std::string word : words(names, ' ')) {
    if (word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z') word[0] = static_cast<char>(word[0] - 'A' + 'a');  // with Shift
    for (const auto& [name, key] : key_names)
      if (word == name) out.push_back(key);
  }
  return out;
}

}  // namespace

extern "C" {

int scene_new(const char* kind) {
  static int last = 0;
  std::unique_ptr<Scene> scene = make_scene(kind);
  if (!scene) return 0;
  scenes()[++last] = {kind, "", std::move(scene)};
  return last;
}

void scene_delete(int id) { scenes().erase(id); }

int scene_load(int id, const char* bytes, int size) {
  Hosted& h = scenes().at(id);
  const std::string_view model(bytes, static_cast<std::size_t>(size));
  if (!h.scene->load(model)) return 0;
  h.model = model;
  return 1;
}

void scene_mark(int id, const char* ids) { scenes().at(id).scene->mark(words(ids, '\n')); }

// Whether Control and a drag from there is the scene's own.
int scene_moves(int id, double x, double y) {
  const Hosted& h = scenes().at(id);
  return h.scene->moves_what_is_at({x, y}, area(h.size)) ? 1 : 0;
}

// The command that selects the thing at this point; empty where there is none.
const char* scene_line_at(int id, double x, double y) {
  const Hosted& h = scenes().at(id);
  return given(line_at(h.kind, h.model, h.scene->view(), {x, y}, area(h.size)));
}

// `buttons`: 1 pressed, 2 released, 4 the second press of two, 8 Shift, 16 Control, 32 the mouse is outside.
const char* scene_input(int id, double x, double y, double wheel, int buttons, const char* keys) {
  Hosted& h = scenes().at(id);
  Input in;
  if (!(buttons & 32)) in.mouse = Point{x, y};
  in.pressed = (buttons & 1) != 0, in.released = (buttons & 2) != 0, in.double_click = (buttons & 4) != 0;
  in.shift = (buttons & 8) != 0, in.control = (buttons & 16) != 0;
  in.wheel = wheel;
  in.keys = keys_of(keys);
  return given(lines(h.scene->apply(in, area(h.size))));
}

const unsigned char* scene_draw(int id, double width, double height, double ratio, int dark) {
  Hosted& h = scenes().at(id);
  h.size = {width, height};
  static Canvas canvas;
  canvas.clear();
  h.scene->draw(canvas, area(h.size), theme(dark));
  host().resize(h.size, ratio);
  image() = &host().frame(canvas.list(), theme(dark).background);
  return image()->rgba.data();
}

int scene_image_width() { return image() ? image()->width : 0; }
int scene_image_height() { return image() ? image()->height : 0; }

const char* scene_tooltip(int id) { return given(lines(scenes().at(id).scene->tooltip())); }
const char* scene_selected(int id) { return given(lines(scenes().at(id).scene->selected())); }
const char* scene_view(int id) { return given(scenes().at(id).scene->view()); }
void scene_set_view(int id, const char* json) { scenes().at(id).scene->set_view(json); }

}  // extern "C"
