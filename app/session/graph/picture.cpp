#include "app/session/graph/picture.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "app/workbench/stage_text.h"
#include "engine/base/enumeration.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void add(std::vector<Conversion>& all, const Communication& c) {
  auto found = std::find_if(all.begin(), all.end(), [&](const Conversion& o) {
    return o.kind == c.kind && o.group == c.group && o.gradient == c.gradient;
  });
  if (found == all.end()) found = all.insert(all.end(), {c.kind, c.group, c.gradient});
  found->count += c.count, found->bytes += c.bytes, found->us += c.us;
  found->exposed_us = found->exposed_us < 0 || c.exposed_us < 0 ? -1 : found->exposed_us + c.exposed_us;
}

// The group with equal layers that a group is, or the nearest that it is in; 0: none.
int equal_layers_around(const FoldedModel& f, int group) {
  while (group > 0 && f.groups[at(group)].repeats == 1) group = f.groups[at(group)].parent;
  return group;
}

// A group that is found counts as one; else what is found in it.
int found_in(const FoldedModel& f, int group, const std::string& search) {
  if (is_found(f.groups[at(group)], search)) return 1;
  int n = 0;
  for (const int c : f.groups[at(group)].children) n += found_in(f, c, search);
  return n;
}

class Maker {
 public:
  Maker(const Graph& g, const FoldedModel& f, const VisibleGraph& v, const PlanFigures& figures, GraphPicture& out)
      : f_(f),
        v_(v),
        figures_(figures),
        out_(out),
        splits_(v.nodes.size()),
        places_(v.nodes.size()),
        recomputed_(v.nodes.size()),
        offloaded_(v.nodes.size()),
        homes_(v.nodes.size()) {
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
      for (int n = v.node_of[at(o)]; n >= 0; n = v.nodes[at(n)].parent) add_operator(o, n);
    for (std::size_t n = 0; n < v.nodes.size(); ++n) finish(static_cast<int>(n));
    for (std::size_t k = 0; k < figures.parameters.size(); ++k)
      add_parameter(g.parameters[k].tensor, figures.parameters[k]);
    for (std::size_t n = 0; n < v.nodes.size(); ++n) {
      std::vector<std::pair<SplitText, std::int64_t>> splits(homes_[n].begin(), homes_[n].end());
      std::stable_sort(splits.begin(), splits.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
      for (auto& [text, bytes] : splits) out.nodes[n].parameters.splits.push_back(std::move(text));
    }
    for (std::size_t k = 0; k < v.edges.size(); ++k) edges_[{v.edges[k].from, v.edges[k].to, v.edges[k].next}] = k;
    for (const Communication& c : figures.communications) place(c);
  }

 private:
  void add_operator(OpId o, int n) {
    const OperatorFigures& of = figures_.of[at(o)];
    NodePicture& node = out_.nodes[at(n)];
    node.time_us += of.time_us;
    node.kept_bytes += of.kept_bytes;
    for (const int s : of.splits) ++splits_[at(n)][s];
    const int layers = equal_layers_around(f_, v_.nodes[at(n)].group), layer = layers > 0 ? repeat_of(f_, o, layers) : 0;
    if (of.storage == Storage::recompute) ++node.recomputed.operators, recomputed_[at(n)].insert(layer);
    if (of.storage == Storage::offload) ++node.offloaded.operators, offloaded_[at(n)].insert(layer);
    if (of.place >= 0) places_[at(n)][of.place].insert(layer);
  }

  void finish(int n) {
    NodePicture& node = out_.nodes[at(n)];
    std::vector<std::pair<int, std::int64_t>> splits(splits_[at(n)].begin(), splits_[at(n)].end());
    std::stable_sort(splits.begin(), splits.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [s, count] : splits) node.splits.push_back(figures_.splits[at(s)]);
    const auto& places = places_[at(n)];
    const int layers = equal_layers_around(f_, v_.nodes[at(n)].group);
    for (const auto& [p, numbers] : places)
      node.places.push_back({figures_.places[at(p)], layers > 0 && places.size() > 1 ? ranges_text(numbers) : ""});
    const auto which = [&](const std::set<int>& numbers) {
      const bool some = layers > 0 && !numbers.empty() && std::ssize(numbers) < f_.groups[at(layers)].repeats;
      return some ? ranges_text(numbers) : std::string();
    };
    node.recomputed.layers = which(recomputed_[at(n)]), node.offloaded.layers = which(offloaded_[at(n)]);
  }

  void add_parameter(TensorId tensor, const ParameterFigures& f) {
    if (f.reader < 0) return;
    parameters_.insert(tensor);
    for (int n = v_.node_of[at(f.reader)]; n >= 0; n = v_.nodes[at(n)].parent) {
      ParameterLane& lane = out_.nodes[at(n)].parameters;
      ++lane.count;
      lane.trained += f.trained;
      lane.offloaded += f.state == Storage::offload;
      lane.bytes += f.bytes;
      lane.home_bytes += f.home_bytes;
      lane.update_us += f.update_us;
      for (const SplitText& s : f.splits) homes_[at(n)][s] += f.bytes;
    }
  }

  void place(const Communication& c) {
    const OpId inside = c.from < 0 ? c.to : c.to < 0 ? c.from : -1;
    if (inside < 0 && c.from < 0) return;
    const int from = v_.node_of[at(inside >= 0 ? inside : c.from)], to = v_.node_of[at(inside >= 0 ? inside : c.to)];
    for (int n = to; n >= 0; n = v_.nodes[at(n)].parent) out_.nodes[at(n)].communication_us += c.us;
    const auto edge = from == to ? edges_.end() : edges_.find({from, to, v_.is_next(f_, c.from, c.to)});
    if (edge != edges_.end()) return add(out_.edges[edge->second].conversions, c);
    NodePicture& node = out_.nodes[at(to)];
    add(node.communication, c);
    const bool of_parameter = c.from < 0 && parameters_.contains(c.tensor);
    add(!of_parameter ? node.within : c.gradient ? node.parameters.gradient : node.parameters.fetch, c);
  }

  const FoldedModel& f_;
  const VisibleGraph& v_;
  const PlanFigures& figures_;
  GraphPicture& out_;
  std::vector<std::map<int, std::int64_t>> splits_;     // by node: how many operators
  std::vector<std::map<int, std::set<int>>> places_;    // by node and place: layers
  std::vector<std::set<int>> recomputed_, offloaded_;   // by node: layers
  std::vector<std::map<SplitText, std::int64_t>> homes_;  // by node: bytes
  std::set<TensorId> parameters_;
  std::map<std::tuple<int, int, bool>, std::size_t> edges_;
};

}  // namespace

GraphPicture graph_picture(const Document& d, const std::string& search) {
  GraphPicture out;
  out.model = {d.graph.model, &d.graph.model->get()};
  out.placed = d.graph.placed;
  const FoldedModel& f = *out.model;
  std::future<void> figures;  // found while the layout is
  if (d.shown && d.shown->evaluation)
    figures = std::async(std::launch::async, [of = d.shown->figures_by_operator] { of->get(); });
  const VisibleGraph& v = out.placed->get().visible;
  out.first_operator.assign(v.nodes.size(), -1);
  for (const VisibleNode& n : v.nodes) {
    NodePicture node;
    node.group = &f.groups[at(n.group)];
    node.parent = n.parent;
    node.expanded = n.expanded;
    if (!search.empty())  // what an expanded one holds has nodes of its own
      node.found = n.expanded ? is_found(f.groups[at(n.group)], search) : found_in(f, n.group, search);
    out.nodes.push_back(std::move(node));
  }
  // At the sizes of the plan, where it is known to be of this model.
  const Graph& sized = d.shown && d.shown->evaluation && d.shown->evaluation->made.graph->ops.size() == v.node_of.size()
                           ? *d.shown->evaluation->made.graph
                           : d.model->graph;
  for (const VisibleEdge& e : v.edges) {
    out.edges.push_back({&e, 0, {}});
    for (const TensorId t : e.tensors) out.edges.back().bytes += sized.bytes(t);
  }
  for (OpId o = 0; o < static_cast<OpId>(v.node_of.size()); ++o)
    for (int n = v.node_of[at(o)]; n >= 0 && out.first_operator[at(n)] < 0; n = v.nodes[at(n)].parent) out.first_operator[at(n)] = o;
  if (!d.shown || !d.shown->evaluation) return out;
  const Graph& g = *d.shown->evaluation->made.graph;
  if (g.ops.size() != v.node_of.size()) return out;
  out.evaluation = d.shown->evaluation;
  Maker(g, f, v, d.shown->figures_by_operator->get(), out);
  return out;
}

std::string text_of(const std::vector<PlaceRange>& places) {
  constexpr std::size_t shown = 4;
  std::vector<std::string> parts;
  for (const PlaceRange& p : places) parts.push_back(p.place + (p.layers.empty() ? "" : ": " + p.layers));
  return enumeration(parts, shown, "; ", "; ");
}

std::string storage_text(const NodePicture& n) {
  const std::int64_t all = n.group->operators;
  std::vector<std::string> out;
  for (const auto& [part, what] : {std::pair{&n.recomputed, "recompute"}, std::pair{&n.offloaded, "offload"}}) {
    if (part->operators == 0) continue;
    out.push_back(what);
    if (part->operators < all) out.back() += " " + std::to_string(part->operators) + " of " + std::to_string(all);
    if (!part->layers.empty()) out.back() += " in " + part->layers;
  }
  return join(out, ", ");
}

}  // namespace planscope::session
