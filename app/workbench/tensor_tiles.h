#pragma once
// How a layout cuts a tensor at a place: its tiles, each with the devices that hold it. As many tiles as a person can
// look at: where there would be more, blocks that lie one behind the other are told as one, and so are their devices.
//
//   const Tiling t = tiles(graph, program, tensor, layout, place, index);
//   t.tiles[0].region[1]     // rows 0:1024 of the second dimension
//   t.tiles[0].devices       // {0–3}
//
// `index` has the index of every free axis (others 0): what holds one index at a time is told at that one.
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/device_sets.h"
#include "engine/graph/graph.h"

namespace planscope {

struct ValuePart {  // parts [first, last] of `of`
  std::int64_t first = 0, last = 0, of = 1;
  PartialKind kind = PartialKind::sum;
  bool operator==(const ValuePart&) const = default;
};

// Of the region, the rows of `dim` whose element of `key` lies in `keys`; how many is known at run time only.
struct KeyBlock {
  int dim = 0;
  TensorId key = -1;
  Interval keys;
  std::int64_t expected_rows = 0;
  bool operator==(const KeyBlock&) const = default;
};

struct TensorTile {
  std::vector<DeviceGroup> devices;
  std::int64_t count = 0;                      // of devices
  std::vector<std::vector<Interval>> region;   // by dimension: indices, in ascending runs; empty: the tile is empty
  bool hull = false;                           // there are more runs than these: what lies between them is others'
  std::int64_t blocks = 1;                     // that this tile stands for
  std::optional<ValuePart> part;
  std::vector<KeyBlock> keys;
  std::string place;  // as the plan language names its devices; empty: it cannot
  bool empty() const;
  bool operator==(const TensorTile&) const = default;
};

struct Tiling {
  std::vector<TensorTile> tiles;  // by region, then by part
  std::int64_t blocks = 0;        // that there are, told or not
  std::int64_t devices = 0;
};

Tiling tiles(const Graph&, const Program&, TensorId, const Layout&, const Place&, const Point& index,
    std::int64_t most = 64);

std::string region_text(const std::vector<std::vector<Interval>>&);  // `0:8, 0:256+768:1024`
std::string_view name_of(PartialKind);                             // sum, merge, softmax
std::vector<std::string> dimension_names(const Graph&, TensorId);    // `batch`, `heads·head_dim`, `dim 2`

}  // namespace planscope
