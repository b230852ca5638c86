#pragma once
// Blocks of a timeline found by name, and the way to them.
//
//   const std::vector<BlockRef> all = find_blocks(model, "o_proj", {operators, tensors});   // in order of time
//   const int k = next_block(model, all, {lane, stream, block}, true);  // after it, around the end
//   view = show_block(view, model, all[k]);
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "viz/timeline/layout.h"

namespace planscope::viz {

// Numbers of what has the text in its name: blocks say them by number alone.
struct NamedThings {
  std::set<std::int32_t> operators, tensors;
};

std::string lower_case(std::string_view);

// Blocks with the text in their label, title, task or communicator, whatever the case, and those that compute or
// send what is named so; by their start, those at once in the order of lanes.
std::vector<BlockRef> find_blocks(const TimelineModel&, std::string_view text, const NamedThings&);

// Where in `all`, which is not empty, the next (or previous) one stands, seen from a block; from nowhere: the first
// or last.
int next_block(const TimelineModel&, const std::vector<BlockRef>& all, const std::optional<BlockRef>& from,
               bool forward);

// With the block in the middle of the time that is shown, as wide that it can be read, and its lane in sight.
TimelineView show_block(TimelineView, const TimelineModel&, const BlockRef&);

}  // namespace planscope::viz
