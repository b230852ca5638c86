#pragma once
// Where everything of a timeline lies on the screen. Pure functions of model, view and area; drawing and hit testing
// use the same ones, so what is seen is what is hit.
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "viz/canvas/geometry.h"
#include "viz/timeline/index.h"
#include "viz/timeline/marks.h"

namespace planscope::viz {

// What the user looks at. A value: copying it is a bookmark.
struct TimelineView {
  TimeRange range{Microseconds{0}, Microseconds{1}};
  double scroll = 0;  // pixels that lanes are moved up
  bool show_memory = true, show_critical = false;
  std::vector<Microseconds> marks = {};  // that the user has set; the last two span what is measured
  std::optional<BlockRef> hover, selection;
  std::vector<Link> links = {};  // of the selection (dependencies.h)
  std::shared_ptr<const MarkedBlocks> marked = {};  // that are selected elsewhere: outlined; their lanes have a bar
  std::shared_ptr<const MarkedBlocks> found = {};   // by a text: with a bar at their head
  std::optional<TimeRange> time = {};      // that is selected, begin == end: a moment; in these lanes, none: in all
  std::set<std::string> time_lanes = {};
  std::optional<Point> mouse;  // inside the area
  std::optional<Point> press;  // where the button went down
  bool dragging = false;
  std::optional<BlockRef> moving;  // the button went down on it with Control: it is moved (reorder.h)
  bool selecting = false;  // the button went down with Shift: an area is drawn up
};

struct LaneLayout {
  Rect label;
  Rect toggle;  // of the label: folds the lane and unfolds it
  std::vector<Rect> streams;  // empty rectangles: folded away
  Rect memory;                // empty: no curve
};

struct TimelineLayout {
  Rect area, ruler, body;  // body: right of the labels, below the ruler
  Rect scrolled;           // body and labels below the pinned lanes: what is scrolled is seen there alone
  std::vector<LaneLayout> lanes;
  double content_height = 0;  // of all lanes, seen or not
  TimeScale scale;
};

TimelineLayout lay_out(const TimelineModel& model, const TimelineView& view, const Rect& area);

// Whether a lane, as scrolled, can be seen or pointed at there.
bool in_sight(const TimelineModel& model, const TimelineLayout& layout, int lane, double y);

// The height at which nothing has to be scrolled.
double natural_height(const TimelineModel& model, bool show_memory);

struct Tick {
  Microseconds at;
  std::string label;  // in one unit for all ticks
};

// Multiples of 1, 2 or 5 times a power of ten, no nearer to each other than `least_distance`.
std::vector<Tick> ticks(const TimeScale& scale, Pixels least_distance);

// A block, or a run of blocks that are too narrow to be told apart.
struct Span {
  double x, width;
  int first, last;  // blocks [first, last)
  BlockKind kind;
  std::array<double, block_kinds> share{};  // of each kind in the time of a run of several; they sum to at most 1
};

// Everything of the stream that is visible, in order. Runs narrower than `fold` pixels become one span; the number of
// spans is bound by the width, the time by spans × log(blocks). Long runs begin and end where the index has groups.
std::vector<Span> visible_spans(const Stream& stream, const StreamIndex& index, const TimeScale& scale, Pixels fold);
inline constexpr Pixels default_fold{3};

// A part of a memory curve in which one step is shown: that with the greatest bytes of those that fall on its pixels
// (where these are many, to less than a pixel).
struct MemoryColumn {
  double x, width;
  int step;
};

// The visible part of a memory curve, in order; columns are `least` pixels wide or more, and every peak has its column.
std::vector<MemoryColumn> memory_columns(const Lane& lane, const MemoryIndex& index, const TimeScale& scale, Pixels least);

// The bytes in use at a time; 0 before the first step.
Bytes memory_at(const Lane& lane, Microseconds t);
// The step that holds then; -1: before the first one.
int memory_step_at(const Lane& lane, Microseconds t);

// The block under a point; narrow blocks can be hit within 2 pixels. Nothing outside the body.
std::optional<BlockRef> hit_test(const TimelineModel& model, const TimelineLayout& layout, Point at);

// The lane whose label, streams or memory is under a point; -1: none.
int lane_at(const TimelineModel& model, const TimelineLayout& layout, Point at);
// The lane whose memory curve is under a point; -1: none.
int memory_lane_at(const TimelineModel& model, const TimelineLayout& layout, Point at);

// The edge of a block of the stream under the point (beside streams: of any of its lane) or the peak of the memory
// curve there that is nearest, if it is within `reach`; else the time of the point.
Microseconds snapped(const TimelineModel& model, const TimelineLayout& layout, Point at, Pixels reach);

}  // namespace planscope::viz
