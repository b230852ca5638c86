#include "app/session/graph/visible.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Which of the equal ones that its node stands for an operator is in.
int instance_in(const FoldedModel& f, OpId op, int group) {
  int instance = f.instance_of[at(op)];
  for (int k = f.group_of[at(op)]; k != group && k > 0; k = f.groups[at(k)].parent) instance /= f.groups[at(k)].repeats;
  return instance;
}

void show(const FoldedModel& f, const std::set<std::string>& expanded, int group, int parent, VisibleGraph& out,
          std::vector<int>& node_of_group) {
  for (const int k : f.groups[at(group)].children) {
    const Group& g = f.groups[at(k)];
    const bool open = !g.children.empty() && expanded.contains(g.id);
    node_of_group[at(k)] = static_cast<int>(out.nodes.size());
    out.nodes.push_back({k, parent, open});
    if (open) show(f, expanded, k, node_of_group[at(k)], out, node_of_group);
  }
}

}  // namespace

bool VisibleGraph::is_next(const FoldedModel& f, OpId from, OpId to) const {
  std::vector<int> around;
  for (int n = nodes[at(node_of[at(from)])].parent; n >= 0; n = nodes[at(n)].parent)
    if (f.groups[at(nodes[at(n)].group)].repeats > 1) around.push_back(n);
  if (around.empty()) return false;
  for (int n = nodes[at(node_of[at(to)])].parent; n >= 0; n = nodes[at(n)].parent)
    if (std::find(around.begin(), around.end(), n) != around.end() &&
        repeat_of(f, from, nodes[at(n)].group) != repeat_of(f, to, nodes[at(n)].group))
      return true;
  return false;
}

VisibleGraph visible_graph(const Graph& g, const FoldedModel& f, const std::set<std::string>& expanded) {
  VisibleGraph out;
  std::vector<int> node_of_group(f.groups.size(), -1);
  show(f, expanded, 0, -1, out, node_of_group);
  out.node_of.resize(g.ops.size());
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    int k = f.group_of[at(o)];
    while (node_of_group[at(k)] < 0) k = f.groups[at(k)].parent;
    out.node_of[at(o)] = node_of_group[at(k)];
  }
  for (const Parameter& p : g.parameters)
    if (const std::vector<OpId>& readers = g.tensors[at(p.tensor)].readers; !readers.empty())
      for (int n = out.node_of[at(readers.front())]; n >= 0; n = out.nodes[at(n)].parent) {
        ++out.nodes[at(n)].parameters;
        out.nodes[at(n)].parameter_bytes += g.bytes(p.tensor);
      }
  struct Found {
    int first = 0;  // instance of the first producer
    std::set<int> instances;
  };
  std::map<std::tuple<int, int, bool>, std::pair<std::size_t, Found>> known;
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t) {
    const PTensor& tensor = g.tensors[at(t)];
    if (tensor.producer < 0) continue;
    const int from = out.node_of[at(tensor.producer)];
    std::set<std::pair<int, bool>> counted;  // nodes that read it
    for (const OpId reader : tensor.readers) {
      const int to = out.node_of[at(reader)];
      if (to == from) continue;
      const bool next = out.is_next(f, tensor.producer, reader);
      if (!counted.emplace(to, next).second) continue;
      const int instance = instance_in(f, tensor.producer, out.nodes[at(from)].group);
      const auto [it, fresh] = known.try_emplace({from, to, next}, out.edges.size(), Found{instance, {}});
      if (fresh) out.edges.push_back({.from = from, .to = to, .next = next});
      VisibleEdge& e = out.edges[it->second.first];
      if (it->second.second.instances.insert(instance).second) ++e.count;
      if (instance != it->second.second.first) continue;
      e.tensors.push_back(t);
    }
  }
  return out;
}

std::size_t count_visible(const FoldedModel& f, const std::set<std::string>& expanded) {
  std::size_t n = 0;
  std::vector<int> open = {0};
  while (!open.empty()) {
    const int k = open.back();
    open.pop_back();
    for (const int c : f.groups[at(k)].children) {
      ++n;
      const Group& g = f.groups[at(c)];
      if (!g.children.empty() && expanded.contains(g.id)) open.push_back(c);
    }
  }
  return n;
}

}  // namespace planscope::session
