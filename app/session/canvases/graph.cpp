// The graph of the model that is open, with what the plan that is shown does in it, and which of its nodes are selected.
#include <algorithm>
#include <set>

#include "app/session/canvases/canvases.h"
#include "app/session/canvases/graph_colours.h"
#include "app/session/graph/picture.h"
#include "app/session/panels/graph_cells.h"
#include "engine/base/format.h"
#include "engine/base/text.h"
#include "viz/graph/wire.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

// By axis: `out, heads ÷ 4 tensor`.
std::vector<std::string> split_texts(const std::vector<SplitText>& splits) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> out;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  for (const SplitText& s : splits)
    if (!s.factor.empty() && std::find(axes.begin(), axes.end(), std::pair(s.axis, s.blocks)) == axes.end())
      axes.emplace_back(s.axis, s.blocks);
  for (const auto& [axis, blocks] : axes) {
    std::vector<std::string> factors;
    for (const SplitText& s : splits)
      if (s.axis == axis && s.blocks == blocks && !s.factor.empty()) factors.push_back(s.factor);
    if (factors.size() > shown) {
      factors.resize(shown);
      factors.back() += " …";
    }
    out.push_back(join(factors, ", ") + " ÷ " + std::to_string(blocks) + " " + axis);
  }
  return out;
}

std::string storage_text(const NodePicture& n) {
  const auto part = [&](std::int64_t some, const char* what) {
    return some == 0 ? std::string() : some == n.group->operators ? std::string(what) : std::string(what) + " in part";
  };
  std::vector<std::string> parts;
  for (const std::string& p : {part(n.recomputed, "recompute"), part(n.offloaded, "offload")})
    if (!p.empty()) parts.push_back(p);
  return join(parts, ", ");
}

double us_of(const std::vector<Conversion>& all) {
  double us = 0;
  for (const Conversion& c : all) us += c.us;
  return us;
}

std::string sums_text(const std::vector<Conversion>& all) {
  double bytes = 0;
  for (const Conversion& c : all) bytes += c.bytes;
  return bytes_text(bytes) + " · " + time_text(us_of(all));
}

class Filler {
 public:
  Filler(const State& s, const GraphPicture& g) : state_(s), g_(g), placed_(g.placed->get()), one_place_(one_place(g)) {}

  viz::GraphModel run() {
    m_.name = state_.document()->model->model->name;
    m_.search = state_.search;
    for (std::size_t k = 0; k < g_.nodes.size(); ++k) node(static_cast<int>(k));
    for (std::size_t k = 0; k < g_.edges.size(); ++k) edge(k);
    m_.width = std::max(m_.width, placed_.layout.size.width);
    m_.height = std::max(m_.height, placed_.layout.size.height);
    colour_graph(state_, g_, m_);
    return std::move(m_);
  }

 private:
  static bool one_place(const GraphPicture& g) {
    std::string place;
    for (const NodePicture& n : g.nodes)
      for (const PlaceRange& p : n.places) {
        if (!place.empty() && place != p.place) return false;
        place = p.place;
      }
    return true;
  }

  void node(int k) {
    const NodePicture& n = g_.nodes[at(k)];
    const Group& group = *n.group;
    viz::NodeAbout about{.id = group.id,
                         .title = group.label + (group.repeats > 1 ? " × " + std::to_string(group.repeats) : ""),
                         .parent = n.parent,
                         .command = "select operators=" + quoted(group.selector)};
    about.state = n.expanded               ? viz::NodeState::expanded
                  : group.children.empty() ? viz::NodeState::single
                                           : viz::NodeState::folded;
    if (!n.communication.empty() && !n.expanded) {
      const double us = us_of(n.communication);
      about.within = us >= 1 ? "↑↓ " + time_text(us) : "↑↓";
    }
    about.found = n.found;
    lines(n, about);
    facts(n, about);
    m_.add_node(about, placed_.layout.nodes[at(k)]);
  }

  // What differs from node to node: splits, then the place and what waits for backward, then the figures.
  void lines(const NodePicture& n, viz::NodeAbout& about) const {
    std::vector<std::string> first = split_texts(n.splits);
    std::vector<std::string> where;
    if (!one_place_ && !n.places.empty())
      where.push_back(n.places.size() == 1 ? n.places[0].place
                                           : std::to_string(n.places.size()) + " places, " + n.places.front().place + " …");
    if (const std::string storage = storage_text(n); !storage.empty()) where.push_back(storage);
    std::vector<std::string> figures;
    if (g_.evaluation) figures.push_back(time_text(n.time_us));
    if (g_.evaluation && n.kept_bytes >= 1) figures.push_back("kept " + bytes_text(n.kept_bytes));
    if (about.state == viz::NodeState::expanded) {
      std::vector<std::string> all = where;
      all.insert(all.end(), figures.begin(), figures.end());
      if (n.group->count > 1) all.insert(all.begin(), "all equal");
      about.lines.push_back(join(all, " · "));
      return;
    }
    if (!g_.evaluation) {
      if (n.group->kind != n.group->label) about.lines.push_back(n.group->kind);
      if (n.group->operators > n.group->count) about.lines.push_back(with_commas(n.group->operators) + " operators");
      return;
    }
    if (first.size() > 1 && !where.empty()) first = {join(first, " · ")};
    for (std::size_t k = 0; k < std::min<std::size_t>(2, first.size()); ++k) about.lines.push_back(first[k]);
    if (first.empty()) about.lines.push_back("whole");
    if (!where.empty()) about.lines.push_back(join(where, " · "));
    about.lines.push_back(join(figures, " · "));
  }

  void facts(const NodePicture& n, viz::NodeAbout& about) const {
    const Group& group = *n.group;
    about.facts.push_back(group.kind + (group.count > 1 ? " · " + with_commas(group.count) + " equal" : "") + " · " +
                          with_commas(group.operators) + (group.operators == 1 ? " operator" : " operators"));
    if (!g_.evaluation) return;
    std::vector<std::string> splits;
    for (const SplitText& s : n.splits) splits.push_back(s.text());
    about.facts.push_back(splits.empty() ? "whole" : join(splits, " · "));
    if (!n.places.empty()) about.facts.push_back("on " + text_of(n.places));
    if (const std::string storage = storage_text(n); !storage.empty()) about.facts.push_back(storage);
    about.facts.push_back("time " + time_text(n.time_us) + ", on a device in the mean; kept at the peak " +
                          bytes_text(n.kept_bytes));
    for (const Conversion& c : n.communication) about.facts.push_back("within: " + text_of(c));
  }

  void edge(std::size_t k) {
    const VisibleEdge& e = *g_.edges[k].edge;
    const std::string tensor = state_.document()->model->graph.tensor_name(e.tensor);
    const std::string text = tensor + (e.tensors > 1 ? " and " + std::to_string(e.tensors - 1) + " more" : "") + " · " +
                             bytes_text(static_cast<double>(e.bytes)) + " whole" +
                             (e.count > 1 ? " · " + with_commas(e.count) + " equal" : "");
    const std::string command = "select tensor=" + quoted(tensor);
    const int edge = m_.add_edge(e.from, e.to, placed_.layout.edges[k], text, command, e.next);
    for (const bool gradient : {false, true}) chip(edge, gradient, g_.edges[k].conversions);
  }

  // One chip for each direction: what takes longest by name, all in its sums.
  void chip(int edge, bool gradient, const std::vector<Conversion>& conversions) {
    std::vector<Conversion> own;
    for (const Conversion& c : conversions)
      if (c.gradient == gradient) own.push_back(c);
    if (own.empty()) return;
    std::sort(own.begin(), own.end(), [](const Conversion& a, const Conversion& b) { return a.us > b.us; });
    viz::ChipAbout about{.title = (gradient ? "← " : "") + own[0].kind + (own.size() > 1 ? " +" + std::to_string(own.size() - 1) : ""),
                         .about = sums_text(own), .gradient = gradient};
    for (const Conversion& c : own) {
      about.exposed = about.exposed || c.exposed_us > 0;
      about.facts.push_back(text_of(c));
    }
    m_.add_chip(edge, about);
  }

  const State& state_;
  const GraphPicture& g_;
  const PlacedGraph& placed_;
  const bool one_place_;
  viz::GraphModel m_;
};

// Whether a node is what is selected, or in it.
bool is_in(const Group& g, const std::string& selection) {
  if (g.selector == selection || g.id == selection) return true;
  if (g.id.size() <= selection.size() || !g.id.starts_with(selection)) return false;
  const char next = g.id[selection.size()];
  return next == '.' || next == ':' || next == '[' || next == '@';
}

}  // namespace

CanvasSource graph_source(const State& s) {
  const Document* d = s.document();
  if (!d) return {};
  CanvasSource out{d->graph.model, s.colour + "\n" + s.search};
  if (d->shown && d->shown->evaluation) out.of = d->shown->evaluation;
  for (const std::string& id : *d->graph.expanded) out.with += "\n" + id;
  if (s.colour == "difference" && d->base && d->base->evaluation) out.with += "\n" + d->base->text;
  return out;
}

std::string graph_model(const State& s) {
  const GraphPicture g = graph_picture(*s.document(), s.search);
  return viz::encode(Filler(s, g).run());
}

std::vector<std::string> graph_marks(const State& s) {
  std::vector<std::string> out;
  const Document* d = s.document();
  if (!d) return out;
  const FoldedModel& f = d->graph.model->get();
  const VisibleGraph& v = d->graph.placed->get().visible;
  if (!s.selection.operators.empty())
    for (const VisibleNode& n : v.nodes)
      if (is_in(f.groups[at(n.group)], s.selection.operators)) out.push_back(f.groups[at(n.group)].id);
  std::set<int> nodes;
  if (!s.selection.tensor.empty()) {
    const Graph& g = d->model->graph;
    for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
      if (g.tensors[at(t)].producer >= 0 && g.tensor_name(t) == s.selection.tensor) nodes.insert(v.node_of[at(g.tensors[at(t)].producer)]);
  }
  if ((s.selection.statement > 0 || !s.selection.place.empty()) && d->shown && d->shown->evaluation) {
    const PlanFigures& figures = d->shown->figures_by_operator->get();
    for (std::size_t o = 0; o < std::min(figures.of.size(), v.node_of.size()); ++o) {
      const OperatorFigures& of = figures.of[o];
      if ((s.selection.statement > 0 && of.statement == s.selection.statement) ||
          (of.place >= 0 && figures.places[at(of.place)] == s.selection.place))
        nodes.insert(v.node_of[o]);
    }
  }
  for (const int n : nodes) out.push_back(f.groups[at(v.nodes[at(n)].group)].id);
  return out;
}

}  // namespace planscope::session
