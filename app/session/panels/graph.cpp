#include <cmath>

#include "app/session/graph/trace.h"
#include "app/session/marked.h"
#include "app/session/panels/graph_cells.h"
#include "app/session/panels/panels.h"
#include "engine/base/enumeration.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Cell splits_cell(const std::vector<SplitText>& splits) {
  constexpr std::size_t shown = 4;
  Json all = Json::array();
  std::vector<std::string> texts;
  for (const SplitText& s : splits) {
    all.push_back(s.text());
    texts.push_back(s.text());
  }
  return {std::move(all), texts.empty() ? "–" : enumeration(texts, shown, " · ", " · ")};
}

Json parameters_json(const ParameterLane& p) {
  if (p.count == 0) return nullptr;
  Json home = Json::array();
  for (const SplitText& s : p.splits) home.push_back(s.text());
  return {{"count", p.count},
          {"trained", p.trained},
          {"bytes", p.bytes},
          {"home", home},
          {"home_bytes", p.home_bytes},
          {"fetch", json_of(p.fetch)},
          {"gradient", json_of(p.gradient)},
          {"update_us", p.update_us},
          {"state_offloaded", p.offloaded}};
}

Cell parameters_cell(const ParameterLane& p) {
  if (p.count == 0) return {parameters_json(p), "–"};
  std::vector<std::string> homes;
  for (const SplitText& s : p.splits) homes.push_back(s.text());
  return {parameters_json(p), std::to_string(p.count) + ", " + bytes_text(static_cast<double>(p.bytes)) + ", home " +
                                  (homes.empty() ? "whole" : join(homes, " · ")) + ", update " +
                                  time_text(p.update_us)};
}

Json edges_json(const State& s, const GraphPicture& g) {
  Json out = Json::array();
  for (const EdgePicture& e : g.edges) {
    Json edge = json_of(g, e);
    edge["tensor"] = s.document()->model->graph.tensor_name(e.edge->tensors[0]);
    edge["tensors"] = e.edge->tensors.size();
    edge["count"] = e.edge->count;
    edge["bytes"] = e.bytes;
    edge["conversions"] = json_of(e.conversions);
    out.push_back(std::move(edge));
  }
  return out;
}

}  // namespace

// The table twin of the graph: a row for each of its nodes.
Panel graph_panel(const State& s) {
  Panel p{.id = "graph", .title = "Graph", .kind = PanelKind::tree};
  p.empty = "Shows how a model is computed: its modules, equal layers once, and what passes between them. Open a model.";
  p.rows_id = "nodes";
  p.columns = {{"id", "Node"},
               {"parent", "In", Unit::none, true},
               {"label", "Name", Unit::none, true},
               {"kind", "Kind"},
               {"found", "Found", Unit::count, true},
               {"count", "Equal", Unit::count},
               {"operators", "Operators", Unit::count},
               {"expanded", "Expanded", Unit::none, true},
               {"place", "Place"},
               {"splits", "Split"},
               {"storage", "For backward"},
               {"time_us", "Time", Unit::microseconds},
               {"kept_bytes", "Holds at the peak", Unit::bytes},
               {"communication_us", "Communication", Unit::microseconds},
               {"communication", "Within", Unit::none},
               {"parameters", "Parameters", Unit::none},
               {"x", "X", Unit::none, true},
               {"y", "Y", Unit::none, true},
               {"width", "Width", Unit::none, true},
               {"height", "Height", Unit::none, true}};
  const Document* d = s.document();
  if (!d) return p;
  say_whether_current(p, *d);
  const GraphPicture g = graph_picture(*d, s.search);
  const PlacedGraph& placed = g.placed->get();
  std::size_t talking = 0;
  for (const EdgePicture& e : g.edges) talking += !e.conversions.empty();
  p.facts = {{"colour", "Coloured by", cell(s.colour)},
             {"edges", "Edges",
              {edges_json(s, g), std::to_string(g.edges.size()) + ", " + std::to_string(talking) + " with communication"}}};
  if (!s.search.empty()) {
    int found = 0;
    for (const NodePicture& n : g.nodes) found += n.found;
    p.facts.push_back({"found", "Found '" + s.search + "'", cell(found, Unit::count)});
  }
  const std::vector<char> selected = shown_as_selected(*g.model, placed.visible, Marked(s).operators());
  Json marked = Json::array();
  for (std::size_t k = 0; k < selected.size(); ++k)
    if (selected[k] && !g.nodes[k].expanded) marked.push_back(g.nodes[k].group->id);
  if (!marked.empty())
    p.facts.push_back({"selected", "Selected", {marked, std::to_string(marked.size()) + " of the nodes"}});
  if (!placed.why.empty()) p.facts.push_back({"layout", "Layout", cell(placed.how + ": " + placed.why)});
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    const NodePicture& n = g.nodes[k];
    const Group& group = *n.group;
    const bool known = g.evaluation != nullptr;
    const std::string parent = n.parent < 0 ? "" : g.nodes[static_cast<std::size_t>(n.parent)].group->id;
    const auto text = [](const std::string& t) { return cell(t.empty() ? Json() : Json(t)); };
    const auto number = [&](double v, Unit unit) { return cell(known ? Json(v) : Json(), unit); };
    const auto for_scripts = [](Json v) { return Cell{std::move(v), ""}; };
    const auto pixels = [&](double v) { return for_scripts(static_cast<std::int64_t>(std::lround(v))); };
    const viz::Rect& at = placed.layout.nodes[k];
    TableRow row{.id = group.id, .parent = parent};
    row.cells = {cell(group.id),
                 for_scripts(parent.empty() ? Json() : Json(parent)),
                 for_scripts(group.label),
                 text(group.kind),
                 s.search.empty() ? for_scripts(nullptr) : cell(n.found, Unit::count),
                 cell(group.count, Unit::count),
                 cell(group.operators, Unit::count),
                 for_scripts(n.expanded),
                 text(text_of(n.places)),
                 splits_cell(n.splits),
                 text(storage_text(n)),
                 number(n.time_us, Unit::microseconds),
                 number(n.kept_bytes, Unit::bytes),
                 number(n.communication_us, Unit::microseconds),
                 conversions_cell(n.communication),
                 known ? parameters_cell(n.parameters) : Cell{nullptr, "–"},
                 pixels(at.x),
                 pixels(at.y),
                 pixels(at.width),
                 pixels(at.height)};
    row.command = "select operators=\"" + group.selector + "\"";
    row.selected = k < selected.size() && selected[k];
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
