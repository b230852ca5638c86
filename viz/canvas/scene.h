#pragma once
// One canvas as a surface hosts it, whichever it is: it is given a model as bytes and input as it comes, draws itself, and answers
// with commands of the session. The same in a Qt window and in a browser; a host knows no canvas by name (viz/scenes makes them).
//
//   std::unique_ptr<Scene> scene = make_scene("timeline");
//   if (!scene->load(bytes)) …                      // bytes of another canvas, or damaged: the picture stays as it was
//   for (const std::string& line : scene->apply(input, area)) session.apply(*parse_invocation(line));
//   Canvas canvas;
//   scene->draw(canvas, area, dark_theme());
//
// Coordinates are pixels of the picture; the area may lie anywhere. Not thread-safe.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/canvas/display_list.h"
#include "viz/canvas/theme.h"

namespace planscope::viz {

enum class Key {
  a, c, d, e, f, m, n, o, p, s, w, x, z,  // letters, without modifiers
  home, end, period, comma, slash, plus, minus,
  up, down, left, right, page_up, page_down, enter, space, escape,
};

struct Input {
  std::optional<Point> mouse;  // none: outside
  bool pressed = false;        // the left button went down since the last input
  bool released = false;
  bool double_click = false;   // the press was the second of two
  double wheel = 0;            // notches, up is positive
  bool shift = false, control = false;
  std::vector<Key> keys = {};
};

class Scene {
 public:
  virtual ~Scene() = default;

  // A model as its encode() has written it. The view stays where it is: nothing moves on the screen that has not changed.
  virtual bool load(std::string_view bytes) = 0;
  // What is selected in the session, by the ids that the model gives its things.
  virtual void mark(const std::vector<std::string>& ids) = 0;
  // Commands of the session that the input asks for, as lines of a session script; they are not applied to the scene itself.
  virtual std::vector<std::string> apply(const Input&, const Rect& area) = 0;
  // Whether dragging with Control from there moves something within the canvas; else a surface carries what is there.
  virtual bool moves_what_is_at(Point, const Rect&) const { return false; }
  virtual void draw(Canvas&, const Rect& area, const Theme&) const = 0;
  virtual std::vector<std::string> tooltip() const = 0;  // of what is under the mouse, a fact a line; empty: nothing is
  virtual std::vector<std::string> selected() const { return {}; }  // the same of what was selected here last

  // What is looked at, as one line of JSON: it can be kept, sent, and set again. Members that are not known are left out of account.
  virtual std::string view() const = 0;
  virtual void set_view(std::string_view json) = 0;
  // Looks at everything: where the view has been moved to is given up; switches, indices and what is measured stay.
  // False: this canvas cannot tell them apart, a scene whose view was never set shows everything.
  virtual bool show_all() { return false; }
  // The size at which the whole can be read, for pictures of the whole.
  virtual Size natural_size() const = 0;
};

}  // namespace planscope::viz
