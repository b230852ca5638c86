#pragma once
// Where everything of a tensor's picture lies on the screen. Pure functions of model, view and area; drawing and hit
// testing use the same ones. Writers stand on the left, readers on the right, the moves between them in the middle;
// below is a strip of all devices.
//
// Two dimensions are drawn, downwards and to the right; of the others one index each is looked at. Tiles that hold
// parts of one value stand at the same place: each has a swatch there.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "viz/canvas/geometry.h"
#include "viz/tensor/model.h"

namespace planscope::viz {

// What the user looks at. A value: copying it is a bookmark.
struct TensorView {
  int down = -1, right = -1;     // dimensions; -1: the tensor has no other one
  std::vector<std::int64_t> at;  // by dimension: the index of those that are not drawn
  bool whole = false;            // all of both dimensions, also where little of them is held at this index
  double scroll = 0;             // pixels that sides are moved up
  int side = -1, tile = -1;      // selected: a side, and a tile of the model; -1: none
  int hover_side = -1, hover_tile = -1, hover_chip = -1;
  std::optional<std::int64_t> hover_device;
  std::set<int> marked_sides = {}, marked_tiles = {};  // that are selected elsewhere
  std::optional<Point> mouse, press;
  std::optional<int> slide = {};  // the slider that is being dragged
};

// Two dimensions that are cut, else the last ones that have several indices.
TensorView first_view(const TensorModel&);

struct TileShape {
  int tile = 0;              // of the model
  std::vector<Rect> rects;   // where it lies; of parts of one value the same for all
  Rect swatch;               // of one of several parts; empty: it stands alone
  int stack = 1;             // tiles at this place
};

struct SidePicture {
  int side = 0;
  Rect frame, picture;           // picture: the whole tensor
  std::vector<TileShape> tiles;  // that are seen at the indices that are looked at; none where the side is out of sight
  std::vector<int> empty;        // tiles that hold nothing
};

struct ChipPicture {
  int side = 0, move = 0;
  Rect rect;
};

enum class ButtonKind : std::uint8_t { gradient, index, slice, dimensions };
struct Button {
  ButtonKind kind = ButtonKind::index;
  int which = 0;  // axis or dimension
  int step = 0;   // -1, 1
  Rect rect;
  std::string text;
};

// Which index of a free axis, or of a dimension that is not drawn, is looked at.
struct Slider {
  ButtonKind kind = ButtonKind::index;
  int which = 0;
  std::int64_t size = 1, index = 0;
  Rect track;
};
std::int64_t index_at(const Slider&, double x);
Rect knob(const Slider&, std::int64_t index);

// The indices of a dimension that are drawn: all, or those that some tile has where that is less than a quarter.
TileRun drawn(const TensorModel&, const TensorView&, int dimension);

struct TensorLayout {
  Rect area, header, body, strip;
  std::vector<SidePicture> sides;
  std::vector<ChipPicture> chips;
  std::vector<Button> buttons;
  std::vector<Slider> sliders;
  std::vector<Rect> cells;  // of the strip
  std::int64_t devices_per_cell = 1;
  double content_height = 0;
};

TensorLayout lay_out(const TensorModel&, const TensorView&, const Rect& area);
double natural_height(const TensorModel&);

// What is said of paths that were refused, below the moves of a reader: the time of each, then its moves.
std::vector<std::string> refused_lines(const TensorSide&);

// Where blocks begin along a dimension, ascending.
std::vector<std::int64_t> borders(const TensorModel&, int dimension);

}  // namespace planscope::viz
