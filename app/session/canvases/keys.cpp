// Keys and gestures of the canvases, as their scenes in viz/ understand them.
#include "app/session/canvases/canvases.h"

namespace planscope::session {

namespace {

constexpr CanvasKey timeline_keys[] = {
    {"W, S, + and -", "zoom in and out, about the selection"},
    {"A, D", "move left and right"},
    {"F; Home", "fit the selection, then everything; everything"},
    {", and .", "what comes before, what comes next"},
    {"Up, Down", "the lane above, the lane below"},
    {"M; Escape", "mark a time, the last two span what is measured; take marks and the selection away"},
    {"C; E", "the critical path; memory"},
    {"Z; Shift+Z", "the view before; the view after"},
    {"O; P; X", "fold the lane; pin it; show its devices"},
    {"Shift+drag", "select a part of the step, to sum it"},
    {"wheel; Shift+wheel; Ctrl+wheel", "zoom; move; scroll the lanes"},
};
constexpr CanvasKey graph_keys[] = {
    {"arrows", "the next node that way, by way of what is communicated"},
    {"Enter, double click", "unfold the node, or fold it"},
    {"+ and -, wheel", "zoom in and out"},
    {"F; Home", "fit the node; everything"},
    {"W; S; D", "communication of the forward; of the backward; of the update"},
    {"A", "the neighbours of what is selected"},
    {"Shift+click", "the path from the selection to the node"},
    {"N", "the next node that was found"},
    {"Escape", "select nothing"},
};
constexpr CanvasKey tensor_keys[] = {
    {"Left, Right; Up, Down", "the next tile; the next layout"},
    {"PageUp, PageDown", "the next slice of the dimensions that are not drawn"},
    {", and .; N", "the next index of the first free axis; an index by its number"},
    {"D", "two other dimensions"},
    {"F; Home", "the whole tensor or its blocks; the view as it was first"},
    {"Escape", "select no tile"},
};
constexpr CanvasKey traffic_keys[] = {
    {"arrows", "the next cell"},
    {"PageUp, PageDown", "the next communicator"},
    {"W, S, + and -, wheel", "zoom in and out"},
    {"M", "bytes, messages or time"},
    {"F, Home", "everything"},
    {"Escape", "select nothing"},
};

}  // namespace

std::span<const CanvasKey> keys_of(const CanvasInfo& c) {
  const std::string_view scene = c.scene;
  if (scene == "graph") return graph_keys;
  if (scene == "tensor") return tensor_keys;
  return scene == "traffic" ? std::span<const CanvasKey>(traffic_keys) : std::span<const CanvasKey>(timeline_keys);
}

}  // namespace planscope::session
