#include "app/session/graph/trace.h"

#include <algorithm>
#include <tuple>

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::vector<int> path_along(const std::vector<std::vector<int>>& next, const std::set<int>& from,
                            const std::set<int>& to) {
  std::vector<int> before(next.size(), -1), open(from.begin(), from.end());
  for (const int n : from) before[at(n)] = n;
  for (std::size_t k = 0; k < open.size(); ++k) {
    if (to.contains(open[k])) {
      std::vector<int> out = {open[k]};
      while (before[at(out.back())] != out.back()) out.push_back(before[at(out.back())]);
      return {out.rbegin(), out.rend()};
    }
    for (const int n : next[at(open[k])])
      if (before[at(n)] < 0) {
        before[at(n)] = open[k];
        open.push_back(n);
      }
  }
  return {};
}

}  // namespace

std::optional<int> node_named(const FoldedModel& f, const VisibleGraph& v, std::string_view id) {
  const std::optional<int> group = f.find(id);
  if (!group) return std::nullopt;
  for (int g = *group; g > 0; g = f.groups[at(g)].parent)
    for (std::size_t n = 0; n < v.nodes.size(); ++n)
      if (v.nodes[n].group == g) return static_cast<int>(n);
  return std::nullopt;
}

std::set<int> leaves(const VisibleGraph& v, int node) {
  std::set<int> out;
  for (int n = 0; n < static_cast<int>(v.nodes.size()); ++n)
    for (int around = n; !v.nodes[at(n)].expanded && around >= 0; around = v.nodes[at(around)].parent)
      if (around == node) out.insert(n);
  return out;
}

std::set<int> neighbours(const VisibleGraph& v, std::set<int> nodes, int steps) {
  for (int k = 0; k < steps; ++k) {
    std::set<int> more = nodes;
    for (const VisibleEdge& e : v.edges) {
      if (nodes.contains(e.from)) more.insert(e.to);
      if (nodes.contains(e.to)) more.insert(e.from);
    }
    if (more.size() == nodes.size()) break;
    nodes = std::move(more);
  }
  return nodes;
}

std::vector<int> shortest_path(const VisibleGraph& v, const std::set<int>& from, const std::set<int>& to) {
  std::vector<std::vector<int>> next(v.nodes.size());
  for (const VisibleEdge& e : v.edges) next[at(e.from)].push_back(e.to);
  const std::vector<int> out = path_along(next, from, to);
  return out.empty() ? path_along(next, to, from) : out;
}

std::vector<OpId> operators_shown(const Selected& s, const Graph& g) {
  if (!s.operators.empty()) return s.operators;
  std::vector<OpId> out;
  for (const int p : s.parameters)
    if (const std::vector<OpId>& readers = g.tensors[at(g.parameters[at(p)].tensor)].readers; !readers.empty())
      out.push_back(readers.front());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<char> edges_along(const FoldedModel& f, const VisibleGraph& v, const Graph& g,
                              const std::set<TensorId>& tensors) {
  std::set<std::tuple<int, int, bool>> passed;  // nodes, and whether it is to the next of equal layers
  const auto node = [&](OpId o) { return at(o) < v.node_of.size() ? v.node_of[at(o)] : -1; };
  for (const TensorId t : tensors) {
    const PTensor& tensor = g.tensors[at(t)];
    if (tensor.producer < 0) continue;
    for (const OpId reader : tensor.readers)
      passed.emplace(node(tensor.producer), node(reader), v.is_next(f, tensor.producer, reader));
  }
  std::vector<char> out;
  for (const VisibleEdge& e : v.edges) out.push_back(passed.contains({e.from, e.to, e.next}));
  return out;
}

std::vector<std::int64_t> operators_in(const VisibleGraph& v, const std::vector<OpId>& operators) {
  std::vector<std::int64_t> out(v.nodes.size(), 0);
  for (const OpId o : operators)
    for (int n = at(o) < v.node_of.size() ? v.node_of[at(o)] : -1; n >= 0; n = v.nodes[at(n)].parent) ++out[at(n)];
  return out;
}

std::vector<char> shown_as_selected(const FoldedModel& f, const VisibleGraph& v, const std::vector<OpId>& operators) {
  const std::vector<std::int64_t> in = operators_in(v, operators);
  std::vector<char> out;
  for (std::size_t n = 0; n < v.nodes.size(); ++n)
    out.push_back(in[n] > 0 && (!v.nodes[n].expanded || in[n] == f.groups[at(v.nodes[n].group)].operators));
  return out;
}

}  // namespace planscope::session
