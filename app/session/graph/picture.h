#pragma once
// The graph of a document as its panels and its canvas show it: what is visible, with what the plan that is shown does there.
//
//   GraphPicture p = graph_picture(document);
//   for (const NodePicture& n : p.nodes) n.title, n.splits, n.communication;
//
// Pure. Where no plan is predicted yet there are names, tensors and places on the screen alone.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/session/graph/figures.h"
#include "app/session/graph/placed.h"
#include "app/session/state.h"

namespace planscope::session {

// Messages of one kind, group and direction, in the sums of Communication.
struct Conversion {
  std::string kind;
  std::int64_t group = 1;
  bool gradient = false;
  double count = 0, bytes = 0, us = 0, exposed_us = 0;  // exposed_us -1: not known
};

struct PlaceRange {
  std::string place;
  std::string layers;  // of equal layers, which: `0–7`; empty: all
};

// Operators of which backward does not find their outputs where they were made.
struct StoragePart {
  std::int64_t operators = 0;
  std::string layers;  // of equal layers, which: `0–7`; empty: all
};

// What happens to the parameters that operators of a node are the first to read.
struct ParameterLane {
  int count = 0, trained = 0, offloaded = 0;  // parameters; those whose optimizer state waits in host memory
  std::int64_t bytes = 0;                     // whole
  std::int64_t home_bytes = 0;                // the sum of what a device that keeps one has of it
  std::vector<SplitText> splits;              // of their homes, of most bytes first
  std::vector<Conversion> fetch, gradient;
  double update_us = 0;  // on one device that has them
};

struct NodePicture {
  const Group* group = nullptr;
  int parent = -1;
  bool expanded = false;
  std::vector<SplitText> splits;    // of most operators first
  std::vector<PlaceRange> places;
  StoragePart recomputed, offloaded;
  double time_us = 0, kept_bytes = 0;
  std::vector<Conversion> communication;  // within it, its parameters' too
  std::vector<Conversion> within;         // of these: for what its operators pass to each other
  ParameterLane parameters;
  int found = 0;                          // of what is searched for: itself, or, while it is folded, groups in it
  double communication_us = 0;            // of these, and of what comes to it over edges forward
};

struct EdgePicture {
  const VisibleEdge* edge = nullptr;
  std::int64_t bytes = 0;  // of its tensors, whole: of the step's batch, on no device in particular
  std::vector<Conversion> conversions;
};

struct GraphPicture {
  std::shared_ptr<const FoldedModel> model;
  std::shared_ptr<const Once<PlacedGraph>> placed;
  std::shared_ptr<const Evaluation> evaluation;  // null: none
  std::vector<NodePicture> nodes;                // as PlacedGraph::visible
  std::vector<EdgePicture> edges;
  std::vector<int> first_operator;               // by node
};

GraphPicture graph_picture(const Document&, const std::string& search = "");

// `pipe=0`, `pipe=0: 0–15, pipe=1: 16–31`.
std::string text_of(const std::vector<PlaceRange>&);

// `recompute 68 of 136 in 0–1, offload`; empty: everything is kept.
std::string storage_text(const NodePicture&);

}  // namespace planscope::session
