#pragma once
// What of a timeline is selected elsewhere, as the ids of its marks say (scene.h), and which blocks that are. The
// canvas and tables of its blocks ask the same question.
//
//   const MarkedBlocks m = marked_blocks(model, parse_timeline_marks({"operator 12", "lane pipe=0"}));
//   is_marked(m, {lane, stream, block})
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "viz/timeline/model.h"

namespace planscope::viz {

struct TimelineMarks {
  std::set<int> lines, operators, tensors;  // of statements; numbers
  std::set<std::string> communicators;
  std::set<std::string> lanes;  // that run what is selected; none: all
  std::optional<std::pair<Microseconds, Microseconds>> time = {};  // that is selected
  std::set<std::string> within;                                    // the lanes of that time; none: all
  std::string stream;                                              // of a single block
  std::string find = {};                                           // a text that blocks were looked for with
  std::set<int> found_operators = {}, found_tensors = {};          // that have it in their names
};

// Ids that are not known are left out of account.
TimelineMarks parse_timeline_marks(const std::vector<std::string>& ids);

// Of every block, by lane and stream, how many before it are marked; without an entry none of the stream is.
struct MarkedBlocks {
  std::vector<std::vector<std::vector<std::int32_t>>> before;
  std::set<std::string> lanes;  // TimelineMarks::lanes
};
MarkedBlocks marked_blocks(const TimelineModel&, const TimelineMarks&);
MarkedBlocks these_blocks(const TimelineModel&, const std::vector<BlockRef>&);
int marked_within(const MarkedBlocks&, int lane, int stream, int first, int last);  // of blocks [first, last)
inline bool is_marked(const MarkedBlocks& m, const BlockRef& r) {
  return marked_within(m, r.lane, r.stream, r.block, r.block + 1) > 0;
}

// The block that was selected itself, by its lane, stream and times.
std::optional<BlockRef> chosen_block(const TimelineModel&, const TimelineMarks&);

// How a block is named in a command of the session: `time=1.000..2.500 lane="pipe=0" stream="compute"`.
std::string block_arguments(const std::string& lane, const std::string& stream, Microseconds start, Microseconds end);
std::string block_arguments(const TimelineModel&, const BlockRef&);

}  // namespace planscope::viz
