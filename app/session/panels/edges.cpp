#include <cmath>

#include "app/session/graph/trace.h"
#include "app/session/marked.h"
#include "app/session/panels/graph_cells.h"
#include "app/session/panels/panels.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

const std::string& id_of(const GraphPicture& p, int node) { return p.nodes[static_cast<std::size_t>(node)].group->id; }

std::string tensor_of(const State& s, const VisibleEdge& e) { return s.document()->model->graph.tensor_name(e.tensors[0]); }

}  // namespace

std::string text_of(const Conversion& c) {
  return c.kind + " among " + std::to_string(c.group) + (c.gradient ? ", gradient" : "") + ": " + bytes_text(c.bytes) +
         ", " + time_text(c.us) +
         (c.exposed_us < 0    ? ""
          : c.exposed_us == 0 ? ", hidden"
                              : ", " + time_text(c.exposed_us) + " exposed");
}

Json json_of(const std::vector<Conversion>& all) {
  Json out = Json::array();
  for (const Conversion& c : all)
    out.push_back({{"kind", c.kind},
                   {"group", c.group},
                   {"count", std::round(c.count * 1e6) / 1e6},  // a message of several tensors counts with a share at each
                   {"bytes", std::llround(c.bytes)},
                   {"us", c.us},
                   {"exposed_us", c.exposed_us < 0 ? Json() : Json(c.exposed_us)},
                   {"gradient", c.gradient}});
  return out;
}

Cell conversions_cell(const std::vector<Conversion>& all) {
  std::vector<std::string> texts;
  for (const Conversion& c : all) texts.push_back(text_of(c));
  return {json_of(all), texts.empty() ? "–" : join(texts, "; ")};
}

Json json_of(const GraphPicture& p, const EdgePicture& e) {
  return {{"from", id_of(p, e.edge->from)}, {"to", id_of(p, e.edge->to)}, {"next", e.edge->next}};
}

// The edges of the graph, with what is communicated on them.
Panel edges_panel(const State& s) {
  Panel p{.id = "edges", .title = "Edges", .kind = PanelKind::table};
  p.empty =
      "Lists the tensors that pass between the nodes of the graph, and what is communicated for them. Open a model.";
  p.columns = {{"from", "From"},
               {"to", "To"},
               {"next", "Next layer"},
               {"tensor", "Tensor"},
               {"tensors", "Tensors", Unit::count},
               {"count", "Equal", Unit::count},
               {"bytes", "Whole", Unit::bytes},
               {"conversions", "Communication, per device of every class"}};
  const Document* d = s.document();
  if (!d) return p;
  say_whether_current(p, *d);
  const GraphPicture g = graph_picture(*d);
  const std::vector<char> marked = edges_along(*g.model, g.placed->get().visible, d->model->graph, Marked(s).tensors());
  for (std::size_t k = 0; k < g.edges.size(); ++k) {
    const VisibleEdge& e = *g.edges[k].edge;
    const std::string tensor = tensor_of(s, e);
    TableRow row{.id = std::to_string(k)};
    row.cells = {cell(id_of(g, e.from)),
                 cell(id_of(g, e.to)),
                 cell(e.next),
                 cell(tensor),
                 cell(e.tensors.size(), Unit::count),
                 cell(e.count, Unit::count),
                 cell(g.edges[k].bytes, Unit::bytes),
                 conversions_cell(g.edges[k].conversions)};
    row.command = "select tensor=\"" + tensor + "\"";
    row.selected = marked[k];
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
