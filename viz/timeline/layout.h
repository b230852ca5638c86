#pragma once
// Where everything of a timeline lies on the screen. Pure functions of model, view and area; drawing and hit testing
// use the same ones, so what is seen is what is hit.
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "viz/canvas/geometry.h"
#include "viz/timeline/index.h"

namespace planscope::viz {

// What the user looks at. A value: copying it is a bookmark.
struct TimelineView {
  TimeRange range{Microseconds{0}, Microseconds{1}};
  double scroll = 0;  // pixels that lanes are moved up
  bool show_memory = true, show_critical = false;
  std::vector<Microseconds> marks = {};  // that the user has set; the last two span what is measured
  std::optional<BlockRef> hover, selection;
  std::set<std::int32_t> marked = {};  // details that are selected elsewhere: their blocks are outlined
  std::optional<Point> mouse;  // inside the area
  std::optional<Point> press;  // where the button went down
  bool dragging = false;
};

struct LaneLayout {
  Rect label;
  std::vector<Rect> streams;
  Rect memory;  // empty: no curve
};

struct TimelineLayout {
  Rect area, ruler, body;  // body: right of the labels, below the ruler
  std::vector<LaneLayout> lanes;
  double content_height = 0;  // of all lanes, seen or not
  TimeScale scale;
};

TimelineLayout lay_out(const TimelineModel& model, const TimelineView& view, const Rect& area);

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
  double density;  // share of the time that is work (a single block: 1)
  std::array<double, block_kinds> share{};  // of each kind in that work, for runs of several
};

// Everything of the stream that is visible, in order. Runs narrower than `fold` pixels become one span; the number of
// spans is bound by the width, the time by spans × log(blocks).
std::vector<Span> visible_spans(const Stream& stream, const StreamIndex& index, const TimeScale& scale, Pixels fold);
inline constexpr Pixels default_fold{3};

struct MemoryPoint {
  double x, bytes;
};

// The visible part of a memory curve as a polyline of steps; where several steps fall on one pixel column, its least
// and greatest value are both reached.
std::vector<MemoryPoint> memory_curve(const Lane& lane, const MemoryIndex& index, const TimeScale& scale);

// The bytes in use at a time; 0 before the first step.
Bytes memory_at(const Lane& lane, Microseconds t);

// The block under a point; narrow blocks can be hit within 2 pixels. Nothing outside the body.
std::optional<BlockRef> hit_test(const TimelineModel& model, const TimelineLayout& layout, Point at);

}  // namespace planscope::viz
