#pragma once
// What a graph shows, as plain data in columns: nodes, boxes around nodes (expanded ones), edges, and chips on edges where something
// is communicated. Texts are kept once each; everything else names them by their place. Filled by others; nothing here knows what a
// plan is.
//
// Rules: all columns of nodes (of edges, of chips) are of equal length, places are within what they name, a box comes before what is
// in it. first_problem() tests this. An empty model is legal.
//
//   GraphModel m;
//   const int a = m.add_node({.id = "embed", .title = "embed", .command = "select operators=\"embed\""}, {0, 0, 132, 66});
//   const int b = m.add_node({.id = "layers[*]", .title = "layers × 32", .state = NodeState::folded}, {250, 0, 132, 66});
//   m.add_chip(m.add_edge(a, b, {{132, 33}, {250, 33}}), {"all_reduce", "64 MiB · 1.2 ms"});
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "viz/canvas/geometry.h"

namespace planscope::viz {

enum class NodeState : std::uint8_t { single, folded, expanded };

// By what the nodes are coloured: kinds, each with a colour of its own; or how much, from 0 to 1.
enum class ColourKind : std::uint8_t { none, categories, time, memory, communication };

// A line of the lane of parameters below a node: where they are kept between steps, how they come to what reads them,
// how their gradients go back, and their update.
enum class LaneKind : std::uint8_t { home, fetch, gradient, update };

struct NodeAbout {
  std::string id, title;
  NodeState state = NodeState::single;
  int parent = -1;                        // a box
  std::vector<std::string> lines = {};    // below the title, at most three are drawn
  std::string kind = {};                  // what it is: behind the title where there is room
  std::string within = {};                // what is communicated in it: beside the title
  std::vector<std::string> facts = {};    // shown when pointed at
  std::string command = {};               // what choosing it runs
  std::vector<std::pair<int, double>> bands = {};  // categories with their shares of the node; they sum to 1
  double level = 0;                       // from 0 to 1, where the colour says how much
  int found = 0;                          // how much in it is what is searched for
  std::vector<std::pair<LaneKind, std::string>> lane = {};  // of its parameters, a line of each kind at most
};

struct ChipAbout {
  std::string title, about;
  bool gradient = false, exposed = false;
  std::vector<std::string> facts = {};
};

struct GraphModel {
  std::string name;   // of the whole, the first of the breadcrumbs
  std::string empty;  // what is said where there are no nodes
  double width = 0, height = 0;
  std::vector<std::string> texts;

  std::vector<std::int32_t> id, title, kind, within, command, parent;  // by node
  std::vector<std::uint8_t> state;
  std::vector<std::int32_t> found;
  std::vector<float> x, y, w, h, level;
  std::vector<std::int32_t> line_end, fact_end, band_end, lane_end;  // by node: where its own end in the next columns
  std::vector<std::int32_t> line, fact, lane_text;
  std::vector<std::uint8_t> lane_kind;
  std::vector<std::int16_t> band;
  std::vector<float> band_share;

  std::vector<std::int32_t> from, to, edge_text, edge_command;  // by edge
  std::vector<std::uint8_t> next;                               // to the next of equal layers: two ends without a line between
  std::vector<std::int32_t> point_end;
  std::vector<float> point_x, point_y;

  std::vector<std::int32_t> chip_edge, chip_title, chip_about, chip_fact_end, chip_fact;  // by chip
  std::vector<std::uint8_t> chip_gradient, chip_exposed;

  ColourKind colour = ColourKind::none;
  std::string colour_name;                   // `place`
  std::vector<std::int32_t> category;        // texts of the legend, by category
  std::string most;                          // what level 1 stands for: `2.1 ms`
  std::string search;                        // what is searched for; empty: nothing is

  int nodes() const { return static_cast<int>(id.size()); }
  int edges() const { return static_cast<int>(from.size()); }
  int chips() const { return static_cast<int>(chip_edge.size()); }
  NodeState state_of(int n) const { return static_cast<NodeState>(state[static_cast<std::size_t>(n)]); }
  Rect rect(int n) const {
    const auto k = static_cast<std::size_t>(n);
    return {x[k], y[k], w[k], h[k]};
  }
  const std::string& text(std::int32_t t) const { return texts[static_cast<std::size_t>(t)]; }
  int find(const std::string& node_id) const;  // -1: there is none

  int add_node(const NodeAbout&, const Rect&);
  int add_edge(int from_node, int to_node, const std::vector<Point>& line, const std::string& text = "", const std::string& command = "",
               bool to_next = false);
  void add_chip(int edge, const ChipAbout&);
  std::int32_t intern(const std::string&);

  std::unordered_map<std::string, std::int32_t> interned;  // while it is filled
};

// The places of an element in a column whose ends are given: [begin, end).
struct Span32 {
  std::int32_t begin = 0, end = 0;
};
Span32 span_of(const std::vector<std::int32_t>& ends, int k);

std::string first_problem(const GraphModel&);  // in words; empty: none

}  // namespace planscope::viz
