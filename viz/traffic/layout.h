#pragma once
// Where everything of a picture of communication lies on the screen: the matrix on the left, the links over time and
// the list of communicators on the right. Pure functions of model, view and area; drawing and hit testing use the same
// ones.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "viz/canvas/geometry.h"
#include "viz/traffic/model.h"

namespace planscope::viz {

enum class Measure : std::uint8_t { bytes, messages, time };

// What the user looks at. A value: copying it is a bookmark.
struct TrafficView {
  double from_row = 0, to_row = 0;       // rows, and columns, that the matrix shows from here on …
  double rows = 0;                       // … and so many of them; 0: all
  int only = -1;                         // one communicator alone; -1: all
  Measure measure = Measure::bytes;      // of the cells
  double scroll = 0;                     // pixels that the list is moved up
  std::optional<std::pair<int, int>> hover, selection;  // cell
  int hover_communicator = -1;
  std::set<std::string> marked = {};  // rows that are selected elsewhere, by their names
  std::set<int> marked_communicators = {}, marked_links = {};
  std::optional<Point> mouse, press;
  bool dragging = false;
  std::optional<int> range_chart;  // where a range of time is being dragged
};

struct TrafficLayout {
  Rect area, matrix;  // matrix: without its labels
  double cell = 1;    // width and height of one
  double from_row = 0, to_row = 0, rows = 1;
  std::vector<Rect> links, communicators;  // charts, and rows of the list
  struct Choice {
    std::string text, command;  // empty: it changes the view alone
    Rect rect;
    int kind = -1;  // of communication, by its place in kinds(); -1: of none
    bool on = false;
  };
  std::vector<Choice> choices;             // below the matrix: what its cells measure, and which kinds are shown
  Rect list;                               // what of the list is seen
  double list_height = 0;                  // of all of it
};

TrafficLayout lay_out(const TrafficModel&, const TrafficView&, const Rect& area);
std::optional<std::pair<int, int>> cell_at(const TrafficModel&, const TrafficLayout&, Point);

// The matrix of what is shown, row by row, and of each cell the communicator that has most; -1: nothing.
struct TrafficSums {
  std::vector<double> value;
  std::vector<std::int32_t> most;
  double largest = 0;
};
TrafficSums sums(const TrafficModel&, const TrafficView&);

double value_of(const TrafficModel&, Measure, std::size_t cell);
std::string value_text(Measure, double value);  // `1.2 MiB`, `3 messages`, `4 ms`
Microseconds time_at(const TrafficModel&, const Rect& chart, double x);

// Kinds of communication in the order in which they occur: the place of a kind is its colour.
std::vector<std::string> kinds(const TrafficModel&);

}  // namespace planscope::viz
