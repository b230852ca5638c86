// How the graph of a model is looked at: which nodes are expanded, by what they are coloured, and what lies beside
// them.
#include <algorithm>

#include "app/session/core.h"
#include "app/session/graph/trace.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// The node that is named; without one the root.
Result<int> node_of(const FoldedModel& f, const Invocation& i) {
  if (!i.has("node")) return 0;
  const std::string id = i.get("node");
  if (const std::optional<int> k = f.find(id)) return *k;
  std::vector<std::string> ids;
  for (std::size_t k = 1; k < f.groups.size(); ++k) ids.push_back(f.groups[k].id);
  const std::string near = nearest(id, ids);
  return error("the graph has no node '" + printable(id) + "'", "", near.empty() ? "" : "did you mean '" + near + "'?");
}

// What is in a group, itself first, down to a depth below it.
void walk(const FoldedModel& f, int k, int depth, const std::function<void(int)>& visit) {
  visit(k);
  if (depth > 0)
    for (const int c : f.groups[static_cast<std::size_t>(k)].children) walk(f, c, depth - 1, visit);
}

constexpr int kEverything = 1'000'000;

Result<Done> expand(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const FoldedModel& f = d.graph.model->get();
  const Result<int> node = node_of(f, i);
  if (!node.ok()) return node.diagnostics;
  if (*node == 0 && !i.has("all") && !i.has("depth") && !i.has("only"))
    return error("'expand' needs a node, a kind or a depth");
  std::set<std::string> expanded = *d.graph.expanded;
  const auto show = [&](int k) {  // and what is around it
    for (; k > 0; k = f.groups[static_cast<std::size_t>(k)].parent)
      if (!f.groups[static_cast<std::size_t>(k)].children.empty()) expanded.insert(f.groups[static_cast<std::size_t>(k)].id);
  };
  if (i.has("only")) {
    expanded.clear();
    for (const std::string& id : split(i.get("only"), '\n'))
      if (const std::optional<int> k = f.find(id)) show(*k);
  } else if (i.has("all")) {
    bool found = false;
    walk(f, *node, kEverything, [&](int k) {
      if (k == 0 || f.groups[static_cast<std::size_t>(k)].kind != i.get("all")) return;
      found = true;
      show(k);
    });
    if (!found) return error("no node is of the kind '" + printable(i.get("all")) + "'");
  } else {
    const int depth = i.has("depth") ? std::stoi(i.get("depth")) : 1;
    if (*node > 0 && f.groups[static_cast<std::size_t>(*node)].children.empty())
      return error("'" + i.get("node") + "' cannot be expanded", "it is one operator");
    walk(f, *node, depth - (*node > 0), show);
  }
  if (const std::size_t boxes = count_visible(f, expanded); boxes > kMostBoxes)
    return error("the graph would have " + std::to_string(boxes) + " nodes", "at most " + std::to_string(kMostBoxes) + " are drawn at once",
                 "expand less of it, or collapse other nodes first");
  if (expanded != *d.graph.expanded) d.graph = look_at(d.model, d.graph, std::move(expanded));
  return Done{};
}

Result<Done> collapse(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const FoldedModel& f = d.graph.model->get();
  if (!i.has("node") && !i.has("all")) {
    const std::vector<std::string> first = first_expanded(f);
    d.graph = look_at(d.model, d.graph, {first.begin(), first.end()});
    return Done{};
  }
  const Result<int> node = node_of(f, i);
  if (!node.ok()) return node.diagnostics;
  std::set<std::string> expanded = *d.graph.expanded;
  const auto fold = [&](int k) { expanded.erase(f.groups[static_cast<std::size_t>(k)].id); };
  walk(f, *node, kEverything, [&](int k) {
    if (!i.has("all")) return fold(k);
    if (f.groups[static_cast<std::size_t>(k)].kind == i.get("all")) walk(f, k, kEverything, fold);
  });
  if (expanded != *d.graph.expanded) d.graph = look_at(d.model, d.graph, std::move(expanded));
  return Done{};
}

Result<Done> find(Core& c, const Invocation& i) {
  const std::string text = i.get("text");
  const FoldedModel& f = c.document()->graph.model->get();
  if (!text.empty() && std::none_of(f.groups.begin(), f.groups.end(), [&](const Group& g) { return is_found(g, text); }))
    return error("no node of the graph has '" + printable(text) + "' in its name or kind");
  c.state.search = text;
  return Done{};
}

Result<Done> colour(Core& c, const Invocation& i) {
  const std::string by = i.get("by");
  std::vector<std::string> all(std::begin(kColours), std::end(kColours));
  if (std::find(all.begin(), all.end(), by) == all.end())
    return error("the graph cannot be coloured by '" + printable(by) + "'", "it can by " + join(all, ", "));
  c.state.colour = by;
  return Done{};
}

void select_nodes(Core& c, const std::vector<int>& nodes) {
  const Document& d = *c.document();
  std::vector<std::string> selectors;
  for (const int n : nodes)
    selectors.push_back(
        d.graph.model->get()
            .groups[static_cast<std::size_t>(d.graph.placed->get().visible.nodes[static_cast<std::size_t>(n)].group)]
            .selector);
  c.state.selection = {.operators = join(selectors, ", "), .tensor = {}, .place = {}};
}

Result<Done> select_neighbours(Core& c, const Invocation& i) {
  const Document& d = *c.document();
  const std::vector<OpId> selected =
      c.state.selected ? operators_shown(*c.state.selected, d.model->graph) : std::vector<OpId>{};
  if (selected.empty()) return error("what is selected has no operators");
  const VisibleGraph& v = d.graph.placed->get().visible;
  const std::vector<std::int64_t> in = operators_in(v, selected);
  std::set<int> here;
  for (std::size_t n = 0; n < in.size(); ++n)
    if (in[n] > 0 && !v.nodes[n].expanded) here.insert(static_cast<int>(n));
  const std::set<int> all = neighbours(v, here, i.has("steps") ? std::stoi(i.get("steps")) : 1);
  select_nodes(c, {all.begin(), all.end()});
  return Done{};
}

Result<Done> select_path(Core& c, const Invocation& i) {
  const Document& d = *c.document();
  const VisibleGraph& v = d.graph.placed->get().visible;
  const FoldedModel& f = d.graph.model->get();
  std::vector<std::set<int>> ends;
  for (const char* end : {"from", "to"}) {
    const Result<int> group = node_of(f, {i.id, {{"node", i.get(end)}}});
    if (!group.ok()) return group.diagnostics;
    ends.push_back(leaves(v, *node_named(f, v, i.get(end))));
  }
  const std::vector<int> path = shortest_path(v, ends[0], ends[1]);
  if (path.empty()) return error("no tensor passes from '" + i.get("from") + "' to '" + i.get("to") + "', or back");
  select_nodes(c, path);
  return Done{};
}

}  // namespace

void add_graph_handlers(Handlers& all) {
  all["expand"] = expand;
  all["collapse"] = collapse;
  all["find"] = find;
  all["colour"] = colour;
  all["neighbours"] = select_neighbours;
  all["path"] = select_path;
}

}  // namespace planscope::session
