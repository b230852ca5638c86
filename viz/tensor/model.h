#pragma once
// What a picture of one tensor shows, as plain data: the tiles of its writer and of its readers, the devices that hold
// each, and the moves between. Filled by others; nothing here knows where it comes from.
//
// Sides stand one behind the other: writers first. The tiles of a side are tiles[first, first + count), their runs and
// devices lie in the tables beside. first_problem() tests that everything points to what is there. A model without
// sides is legal: nothing is selected.
//
//   TensorModel m;
//   m.dimensions = {{"batch", 8}, {"hidden", 1024}};
//   m.sides.push_back({.title = "down_proj", .layout = "[batch/data, hidden]", .first = 0, .tiles = 2});
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "viz/canvas/units.h"

namespace planscope::viz {

struct TensorDimension {
  std::string name;
  std::int64_t size = 1;
};

struct TensorAxis {  // a free axis, of whose indices one is shown
  std::string name;
  std::int64_t size = 1, index = 0;
};

struct TileRun {  // indices [begin, end) of a dimension
  std::int64_t begin = 0, end = 0;
};

// Devices first + sum of c * stride, 0 <= c < size over the axes; or the listed ones, ascending.
struct TileDevices {
  std::int64_t first = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // size, stride
  std::vector<std::int64_t> listed;
  bool contains(std::int64_t device) const;
};

struct Tile {
  std::vector<std::vector<TileRun>> runs;  // by dimension; empty ones: the tile is empty
  std::vector<TileDevices> devices;
  std::string devices_text, place;  // `0–3`; as a plan names it, empty where it cannot
  std::int64_t count = 1;           // of devices
  std::int64_t blocks = 1;          // that it stands for
  std::int32_t part = -1, part_last = -1, part_of = 1;  // of the value; -1: the whole
  std::string part_kind, keys;      // `sum`; `expert 0:2, about 512 rows`
  std::int32_t colour = 0;          // equal ones have the same first device
};

struct MoveChip {
  std::string kind, what;
  Bytes bytes;
  Microseconds time, exposed;  // exposed: below 0 where it is not known
  std::int32_t shared = 1;     // readers that get what it makes
};

struct TensorSide {
  std::string title, place, layout, segment;
  std::int32_t first = 0, tiles = 0;
  std::int32_t writer = -1;  // of readers: which side writes for it; -1: this is a writer
  std::vector<MoveChip> moves;
  std::vector<std::string> refused;  // other ways, with their times
};

struct TensorModel {
  std::string name, dtype;
  bool gradient = false, has_gradient = false;
  std::int64_t devices = 1;
  std::vector<TensorDimension> dimensions;
  std::vector<TensorAxis> axes;
  std::vector<TensorSide> sides;
  std::vector<Tile> tiles;
};

std::string first_problem(const TensorModel&);  // in words, or empty

}  // namespace planscope::viz
