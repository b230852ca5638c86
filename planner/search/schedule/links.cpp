#include "planner/search/schedule/links.h"

#include <algorithm>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Neighbour {
  int task, edge;
};

std::vector<std::vector<Neighbour>> neighbours(const Problem& p) {
  std::vector<std::vector<Neighbour>> out(p.tasks.size());
  for (std::size_t e = 0; e < p.edges.size(); ++e) {
    out[at(p.edges[e].from)].push_back({p.edges[e].to, static_cast<int>(e)});
    out[at(p.edges[e].to)].push_back({p.edges[e].from, static_cast<int>(e)});
  }
  return out;
}

// Bridges by depth-first numbers (Tarjan, 1974), without recursion.
std::vector<bool> bridges(const Problem& p, const std::vector<std::vector<Neighbour>>& near) {
  std::vector<bool> out(p.edges.size(), false);
  std::vector<int> number(p.tasks.size(), -1), low(p.tasks.size(), 0);
  struct Frame {
    int task, edge;
    std::size_t next;
  };
  int count = 0;
  for (int root = 0; root < static_cast<int>(p.tasks.size()); ++root) {
    if (number[at(root)] >= 0) continue;
    std::vector<Frame> stack = {{root, -1, 0}};
    number[at(root)] = low[at(root)] = count++;
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (f.next < near[at(f.task)].size()) {
        const Neighbour n = near[at(f.task)][f.next++];
        if (n.edge == f.edge) continue;
        if (number[at(n.task)] >= 0) {
          low[at(f.task)] = std::min(low[at(f.task)], number[at(n.task)]);
          continue;
        }
        number[at(n.task)] = low[at(n.task)] = count++;
        stack.push_back({n.task, n.edge, 0});
        continue;
      }
      const Frame done = f;
      stack.pop_back();
      if (stack.empty()) break;
      const int parent = stack.back().task;
      low[at(parent)] = std::min(low[at(parent)], low[at(done.task)]);
      out[at(done.edge)] = low[at(done.task)] > number[at(parent)];
    }
  }
  return out;
}

}  // namespace

Links links(const Problem& p) {
  const auto near = neighbours(p);
  Links out;
  out.bridge = bridges(p, near);
  out.ring.assign(p.tasks.size(), -1);
  out.part.assign(p.tasks.size(), -1);
  for (int root : p.topological) {
    if (out.part[at(root)] >= 0) continue;
    std::vector<Links::Visit> waiting = {{root, -1, -1}};
    out.part[at(root)] = out.parts;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const Links::Visit v = waiting[i];
      // A ring is entered at one task; all its tasks follow that one.
      if (out.ring[at(v.task)] < 0) {
        std::vector<int> inside = {v.task};
        for (std::size_t j = 0; j < inside.size(); ++j)
          for (const Neighbour& n : near[at(inside[j])])
            if (!out.bridge[at(n.edge)] && out.part[at(n.task)] < 0) {
              out.part[at(n.task)] = out.parts;
              inside.push_back(n.task);
            }
        if (inside.size() > 1) {
          for (int t : inside) out.ring[at(t)] = static_cast<int>(out.ring_root.size());
          out.ring_root.push_back(v.task);
          for (std::size_t j = 1; j < inside.size(); ++j) waiting.push_back({inside[j], v.task, -1});
        }
      }
      for (const Neighbour& n : near[at(v.task)])
        if (out.bridge[at(n.edge)] && out.part[at(n.task)] < 0) {
          out.part[at(n.task)] = out.parts;
          waiting.push_back({n.task, v.task, n.edge});
        }
    }
    out.walk.insert(out.walk.end(), waiting.begin(), waiting.end());
    ++out.parts;
  }
  return out;
}

std::optional<Terms> terms(const Problem& p, const Links& l, const std::vector<std::int64_t>& c) {
  Terms out{std::vector<std::int64_t>(p.edges.size(), 0), std::vector<std::int64_t>(p.tasks.size(), 0)};
  std::vector<std::int64_t> below = c;  // of a task and all that was reached through it
  for (auto v = l.walk.rbegin(); v != l.walk.rend(); ++v) {
    const std::int64_t sum = below[at(v->task)];
    if (v->parent < 0) {
      if (sum != 0) return std::nullopt;
      continue;
    }
    below[at(v->parent)] += sum;
    if (v->edge >= 0)
      out.bridges[at(v->edge)] = p.edges[at(v->edge)].to == v->task ? sum : -sum;
    else
      out.tasks[at(v->task)] = sum;  // the root's own k is 0
  }
  return out;
}

}  // namespace planscope::schedule
