// The graph of the model that is open, with what the plan that is shown does in it, and which of its nodes are selected.
#include <algorithm>

#include "app/session/canvases/canvases.h"
#include "app/session/canvases/graph_colours.h"
#include "app/session/graph/dot_text.h"
#include "app/session/graph/picture.h"
#include "app/session/graph/trace.h"
#include "app/session/marked.h"
#include "app/session/panels/graph_cells.h"
#include "engine/base/enumeration.h"
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

// Axes that split the same factors together, `heads, out ÷ 8 tensor`, `batch ÷ 2 data, 8 mb`. Those that split most of
// what is in a node come first: where there is no room for all, they tell nodes apart.
std::vector<std::string> split_texts(const std::vector<SplitText>& splits) {
  constexpr std::size_t shown = 3;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  for (const SplitText& s : splits)
    if (!s.factor.empty() && std::find(axes.begin(), axes.end(), std::pair(s.axis, s.blocks)) == axes.end())
      axes.emplace_back(s.axis, s.blocks);
  struct Together {
    std::vector<std::string> factors, axes;
  };
  std::vector<Together> all;
  for (const auto& [axis, blocks] : axes) {
    std::vector<std::string> factors;
    for (const SplitText& s : splits)
      if (s.axis == axis && s.blocks == blocks && !s.factor.empty()) factors.push_back(s.factor);
    auto same = std::find_if(all.begin(), all.end(), [&](const Together& t) { return t.factors == factors; });
    if (same == all.end()) same = all.insert(all.end(), {std::move(factors), {}});
    same->axes.push_back(std::to_string(blocks) + " " + axis);
  }
  std::stable_sort(all.begin(), all.end(), [](const Together& a, const Together& b) {
    return std::pair(b.factors.size(), a.axes.size()) < std::pair(a.factors.size(), b.axes.size());
  });
  std::vector<std::string> out;
  for (Together& t : all) {
    if (t.factors.size() > shown) {
      t.factors.resize(shown);
      t.factors.back() += " …";
    }
    out.push_back(join(t.factors, ", ") + " ÷ " + join(t.axes, ", "));
  }
  return out;
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

// `12 ms exposed`, without the time where it is all of it; empty: it is not known.
std::string exposed_text(const std::vector<Conversion>& all) {
  double exposed = 0;
  for (const Conversion& c : all)
    if (c.exposed_us < 0)
      return "";
    else
      exposed += c.exposed_us;
  const std::string of = time_text(exposed);
  return exposed == 0 ? " hidden" : of == time_text(us_of(all)) ? " exposed" : " · " + of + " exposed";
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
    if (!n.within.empty() && !n.expanded) {
      const double us = us_of(n.within);
      about.within = us >= 1 ? "↑↓ " + time_text(us) : "↑↓";
    }
    about.found = n.found;
    if (g_.evaluation && group.kind != group.label) about.kind = group.kind;
    lines(n, about);
    if (!n.expanded) lane(k, about);
    facts(n, about);
    m_.add_node(about, placed_.layout.nodes[at(k)]);
  }

  // The lines of a node: its splits; what is recomputed or offloaded, and its place; time and memory.
  void lines(const NodePicture& n, viz::NodeAbout& about) const {
    std::vector<std::string> first = split_texts(n.splits);
    std::vector<std::string> where;
    if (const std::string storage = storage_text(n); !storage.empty()) where.push_back(storage);
    if (!one_place_ && !n.places.empty())
      where.push_back(n.places.size() == 1 ? n.places[0].place
                                           : std::to_string(n.places.size()) + " places: " + text_of(n.places));
    std::vector<std::string> figures;
    if (g_.evaluation) figures.push_back(time_text(n.time_us));
    if (g_.evaluation && n.kept_bytes >= 1) figures.push_back("holds " + bytes_text(n.kept_bytes));
    if (about.state == viz::NodeState::expanded) {
      std::vector<std::string> all = where;
      all.insert(all.end(), figures.begin(), figures.end());
      if (n.group->count > 1) all.insert(all.begin(), "equal in the model");
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
    about.facts.push_back("time " + time_text(n.time_us) + " on a device that runs it; at its peak " +
                          bytes_text(n.kept_bytes));
    for (const Conversion& c : n.within) about.facts.push_back("within: " + text_of(c));
    const ParameterLane& p = n.parameters;
    if (p.count == 0) return;
    std::vector<std::string> homes;
    for (const SplitText& s : p.splits) homes.push_back(s.text());
    about.facts.push_back(parameters_text(p.count, p.bytes) + ", at home " +
                          (homes.empty() ? "whole" : join(homes, " · ")) + ": " +
                          bytes_text(static_cast<double>(p.home_bytes)) + " on those devices that keep them");
    for (const Conversion& c : p.fetch) about.facts.push_back("fetch: " + text_of(c));
    for (const Conversion& c : p.gradient) about.facts.push_back("gradient: " + text_of(c));
    about.facts.push_back(update_text(p));
  }

  static std::string parameters_text(int count, std::int64_t bytes) {
    return with_commas(count) + (count == 1 ? " parameter " : " parameters ") + bytes_text(static_cast<double>(bytes));
  }

  static std::string update_text(const ParameterLane& p) {
    if (p.trained == 0) return "not trained";
    return "update " + time_text(p.update_us) +
           (p.offloaded == 0           ? ""
            : p.offloaded == p.trained ? ", state in host memory"
                                       : ", state in host memory in part");
  }

  void lane(int k, viz::NodeAbout& about) const {
    const NodePicture& n = g_.nodes[at(k)];
    const VisibleNode& of_model = placed_.visible.nodes[at(k)];
    if (of_model.parameters == 0) return;
    if (!g_.evaluation) {
      about.lane.emplace_back(viz::LaneKind::home, parameters_text(of_model.parameters, of_model.parameter_bytes));
      return;
    }
    const ParameterLane& p = n.parameters;
    const std::vector<std::string> homes = split_texts(p.splits);
    about.lane.emplace_back(viz::LaneKind::home, bytes_text(static_cast<double>(p.bytes)) + " at home " +
                                                     (homes.empty() ? "whole" : join(homes, " · ")));
    const auto sent = [&](viz::LaneKind kind, const char* name, std::vector<Conversion> all) {
      if (all.empty()) return;
      std::sort(all.begin(), all.end(), [](const Conversion& a, const Conversion& b) { return a.us > b.us; });
      about.lane.emplace_back(kind, name + all[0].kind + (all.size() > 1 ? " +" + std::to_string(all.size() - 1) : "") +
                                        " " + sums_text(all));
    };
    sent(viz::LaneKind::fetch, "fetch ", p.fetch);
    sent(viz::LaneKind::gradient, "gradient ", p.gradient);
    about.lane.emplace_back(viz::LaneKind::update, update_text(p));
  }

  void edge(std::size_t k) {
    const VisibleEdge& e = *g_.edges[k].edge;
    const std::string tensor = state_.document()->model->graph.tensor_name(e.tensors[0]);
    const std::string text = and_more(tensor, e.tensors.size() - 1) + " · " +
                             bytes_text(static_cast<double>(g_.edges[k].bytes)) + " whole" +
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
    viz::ChipAbout about{.title = (gradient ? "← " : "") + own[0].kind + " of " + with_commas(own[0].group) +
                                  (own.size() > 1 ? " +" + std::to_string(own.size() - 1) : ""),
                         .about = sums_text(own) + exposed_text(own), .gradient = gradient};
    for (const Conversion& c : own) {
      about.exposed = about.exposed || c.exposed_us != 0;  // where it is not known, it is not said to be hidden
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

}  // namespace

CanvasSource graph_source(const State& s) {
  const Document* d = s.document();
  if (!d) return {};
  CanvasSource out{d->graph.model, s.colour + "\n" + s.search};
  if (d->shown && d->shown->evaluation) out.of = d->shown->evaluation;
  for (const std::string& id : *d->graph.expanded) out.with += "\n" + id;
  if (s.colour != "difference") return out;
  if (const ComparedEntry* other = compared_plan(*d))
    out.with += "\n" + other->name + "\n" + other->text;
  else if (d->base && d->base->evaluation)
    out.with += "\n" + d->base->text;
  return out;
}

std::string graph_model(const State& s) {
  const GraphPicture g = graph_picture(*s.document(), s.search);
  return viz::encode(Filler(s, g).run());
}

Result<std::string> graph_dot(const State& s) {
  return dot_text(graph_picture(*s.document()), s.document()->model->graph);
}

std::vector<std::string> graph_marks(const State& s) {
  std::vector<std::string> out;
  const Document* d = s.document();
  if (!d) return out;
  const FoldedModel& f = d->graph.model->get();
  const VisibleGraph& v = d->graph.placed->get().visible;
  const Marked marked(s);
  const std::vector<char> nodes = shown_as_selected(f, v, marked.operators());
  const std::vector<char> edges = edges_along(f, v, d->model->graph, marked.tensors());
  for (std::size_t n = 0; n < v.nodes.size(); ++n)
    if (nodes[n]) out.push_back(f.groups[at(v.nodes[n].group)].id);
  for (std::size_t e = 0; e < edges.size(); ++e)
    if (edges[e]) out.push_back("edge " + std::to_string(e));
  if (const std::vector<OpId> changed = changed_operators(s); !changed.empty()) {
    const std::vector<char> with = shown_as_selected(f, v, changed);
    for (std::size_t n = 0; n < v.nodes.size(); ++n)
      if (with[n]) out.push_back("changed " + f.groups[at(v.nodes[n].group)].id);
  }
  return out;
}

}  // namespace planscope::session
