#include "planner/search/schedule/problem.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "planner/search/schedule/rows.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Tasks in an order in which edges of distance 0 lead forward; shorter than the tasks if there is a cycle.
std::vector<int> sorted(int tasks, const std::vector<Edge>& edges) {
  std::vector<int> waiting(at(tasks), 0), out;
  std::vector<std::vector<int>> next(at(tasks));
  for (const Edge& e : edges) {
    if (e.distance != 0) continue;
    ++waiting[at(e.to)];
    next[at(e.from)].push_back(e.to);
  }
  for (int t = 0; t < tasks; ++t)
    if (waiting[at(t)] == 0) out.push_back(t);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (int t : next[at(out[i])])
      if (--waiting[at(t)] == 0) out.push_back(t);
  return out;
}

}  // namespace

void index_edges(Problem& p) {
  p.into.assign(p.tasks.size(), {});
  p.out_of.assign(p.tasks.size(), {});
  for (std::size_t e = 0; e < p.edges.size(); ++e) {
    if (p.edges[e].distance != 0) continue;
    p.into[at(p.edges[e].to)].push_back(static_cast<int>(e));
    p.out_of[at(p.edges[e].from)].push_back(static_cast<int>(e));
  }
}

namespace {

// Edges that another path makes unnecessary go.
void reduce(Problem& p) {
  index_edges(p);
  std::vector<bool> keep(p.edges.size(), true);
  for (int t = 0; t < static_cast<int>(p.tasks.size()); ++t) {
    if (p.out_of[at(t)].size() < 2) continue;
    std::map<int, std::int64_t> around;  // the longest path to a task that begins with another edge
    for (int e : p.out_of[at(t)]) {
      const Edge& first = p.edges[at(e)];
      const std::vector<std::int64_t> rest = longest_paths(p, first.to);
      for (int other : p.out_of[at(t)]) {
        const Edge& o = p.edges[at(other)];
        const bool twin = o.to == first.to;
        if (other == e || !keep[at(e)] || !keep[at(other)] || rest[at(o.to)] < 0) continue;
        const std::int64_t along = first.span + rest[at(o.to)];
        if (along > o.span || (along == o.span && (!twin || other > e))) keep[at(other)] = false;
      }
    }
  }
  std::vector<Edge> left;
  for (std::size_t e = 0; e < p.edges.size(); ++e)
    if (keep[e]) left.push_back(p.edges[e]);
  p.edges = std::move(left);
  index_edges(p);
}

}  // namespace

namespace {

// A relation of every micro-batch is an edge of what repeats, one of some (or of a block with itself) pairs of runs.
void add_relation(const Case& c, const std::vector<std::vector<int>>& task_of, const Relation& r, Problem& p) {
  const std::vector<int>& from = task_of[at(r.before)];
  const std::vector<int>& to = task_of[at(r.after)];
  const int copies = static_cast<int>(from.size()), count = copies * p.rounds;
  const int low = std::max(0, -r.distance), high = std::min(count, count - r.distance);
  const int first = std::max(low, r.first);
  const int last = static_cast<int>(std::min<std::int64_t>(high, std::int64_t{r.first} + r.count));
  if (first >= last) return;
  if (first == low && last == high && r.before != r.after) {
    for (int i = 0; i < copies; ++i) {
      const int sum = i + r.distance, rounds = static_cast<int>(floor_div(sum, copies));
      p.edges.push_back({from[at(i)], to[at(sum - rounds * copies)], c.blocks[at(r.before)].time, rounds, r.row});
    }
    return;
  }
  const auto run = [&](const std::vector<int>& tasks, int m) { return tasks[at(m % copies)] * p.rounds + m / copies; };
  for (int m = first; m < last; ++m) p.pairs.push_back({run(from, m), run(to, m + r.distance), r.row});
}

// Between two tasks the edge of the least distance is all that binds what repeats. Others of rows become pairs.
void keep_strongest(Problem& p) {
  std::map<std::pair<int, int>, const Edge*> strongest;
  const auto stronger = [](const Edge& a, const Edge& b) {
    return a.distance <= b.distance && a.span >= b.span && (a.distance < b.distance || a.row < b.row);
  };
  for (const Edge& e : p.edges) {
    const Edge*& best = strongest.try_emplace({e.from, e.to}, &e).first->second;
    if (stronger(e, *best)) best = &e;
  }
  std::vector<Edge> left;
  for (const Edge& e : p.edges) {
    const Edge& best = *strongest.at({e.from, e.to});
    if (e.row < 0 || &best == &e || !stronger(best, e)) {
      left.push_back(e);
      continue;
    }
    for (int n = std::max(0, -e.distance); n < p.rounds && n + e.distance < p.rounds && best.distance < e.distance; ++n)
      p.pairs.push_back({e.from * p.rounds + n, e.to * p.rounds + n + e.distance, e.row});
  }
  p.edges = std::move(left);
}

}  // namespace

Problem make_problem(const Case& c) {
  Problem p;
  p.devices = c.devices;
  p.resources = c.devices * static_cast<int>(c.streams.size());
  p.memory = c.memory;
  for (int n : c.micro_batches) p.rounds = std::gcd(p.rounds, n);
  std::vector<std::vector<int>> task_of(c.blocks.size());  // by copy
  for (std::size_t b = 0; b < c.blocks.size(); ++b) {
    const Block& block = c.blocks[b];
    const int copies = c.micro_batches[at(block.kind)] / p.rounds;
    for (int i = 0; i < copies; ++i) {
      task_of[b].push_back(static_cast<int>(p.tasks.size()));
      Task t{static_cast<int>(b), i, block.time, block.memory, {}, block.devices};
      for (int d : block.devices) t.resources.push_back(d * static_cast<int>(c.streams.size()) + block.stream);
      p.tasks.push_back(std::move(t));
    }
  }
  for (const Precedence& a : c.after) {
    const int copies = static_cast<int>(task_of[at(a.before)].size());
    for (int i = 0; i < copies; ++i) {
      const int sum = i + a.distance;
      const int rounds = static_cast<int>(floor_div(sum, copies));
      p.edges.push_back({task_of[at(a.before)][at(i)], task_of[at(a.after)][at(sum - rounds * copies)],
                         c.blocks[at(a.before)].time + a.delay, rounds});
    }
  }
  for (const Relation& r : c.order) add_relation(c, task_of, r, p);
  if (!c.order.empty()) keep_strongest(p);
  p.topological = sorted(static_cast<int>(p.tasks.size()), p.edges);
  reduce(p);
  p.on_device.assign(at(p.devices), {});
  for (std::size_t t = 0; t < p.tasks.size(); ++t)
    if (p.tasks[t].memory != 0)
      for (int d : p.tasks[t].devices) p.on_device[at(d)].push_back(static_cast<int>(t));
  return p;
}

bool interchangeable(const Problem& p) {
  return p.pairs.empty() && std::none_of(p.edges.begin(), p.edges.end(), [](const Edge& e) { return e.distance < 0; });
}

std::vector<std::int64_t> longest_paths(const Problem& p, int from) {
  std::vector<std::int64_t> longest(p.tasks.size(), -1);
  longest[at(from)] = 0;
  for (int t : p.topological) {
    if (longest[at(t)] < 0) continue;
    for (int e : p.out_of[at(t)]) {
      const Edge& edge = p.edges[at(e)];
      longest[at(edge.to)] = std::max(longest[at(edge.to)], longest[at(t)] + edge.span);
    }
  }
  return longest;
}

std::vector<std::int64_t> heads(const Problem& p) {
  std::vector<std::int64_t> out(p.tasks.size(), 0);
  for (int t : p.topological)
    for (int e : p.out_of[at(t)])
      out[at(p.edges[at(e)].to)] = std::max(out[at(p.edges[at(e)].to)], out[at(t)] + p.edges[at(e)].span);
  return out;
}

std::vector<std::int64_t> tails(const Problem& p) {
  std::vector<std::int64_t> out(p.tasks.size(), 0);
  for (auto t = p.topological.rbegin(); t != p.topological.rend(); ++t) {
    out[at(*t)] = p.tasks[at(*t)].time;
    for (int e : p.out_of[at(*t)])
      out[at(*t)] = std::max(out[at(*t)], p.edges[at(e)].span + out[at(p.edges[at(e)].to)]);
  }
  return out;
}

int micro_batch(const Case& c, const Problem& p, int task, int round) {
  const Task& t = p.tasks[at(task)];
  const int copies = c.micro_batches[at(c.blocks[at(t.block)].kind)] / p.rounds;
  return round * copies + t.copy;
}

std::vector<Diagnostic> check(const Case& c) {
  std::vector<Diagnostic> out;
  if (c.blocks.empty()) out.push_back(error("there are no blocks"));
  const auto same_kind = [&](int before, int after) {
    if (c.blocks[at(before)].kind != c.blocks[at(after)].kind)
      out.push_back(error("block " + std::to_string(after) + " cannot follow block " + std::to_string(before),
                          "they belong to micro-batches of different kinds"));
  };
  for (const Precedence& a : c.after) same_kind(a.before, a.after);
  for (const Relation& r : c.order) same_kind(r.before, r.after);
  if (!out.empty()) return out;
  std::vector<Edge> edges;
  for (const Precedence& a : c.after) edges.push_back({a.before, a.after, 0, a.distance});
  const std::vector<int> order = sorted(static_cast<int>(c.blocks.size()), edges);
  if (order.size() < c.blocks.size()) {
    for (int b = 0; b < static_cast<int>(c.blocks.size()); ++b) {
      if (std::find(order.begin(), order.end(), b) != order.end()) continue;
      out.push_back(error("the blocks of a micro-batch wait for each other, block " + std::to_string(b) + " ('" +
                              c.blocks[at(b)].name + "') among them",
                          "", "'after' must have no cycle within a micro-batch"));
      break;
    }
  }
  std::vector<std::map<int, std::int64_t>> left(c.micro_batches.size());  // by kind, by device
  for (const Block& b : c.blocks)
    for (int d : b.devices) left[at(b.kind)][d] += b.memory;
  for (const auto& of_kind : left)
    for (const auto& [device, sum] : of_kind)
      if (sum != 0)
        out.push_back(error("device " + std::to_string(device) + ": a micro-batch leaves " + std::to_string(sum) +
                                " units of memory behind",
                            "what its blocks take and what they give back must be equal",
                            "let a block of the device give back what is left, or leave out memory that stays"));
  if (!out.empty()) return out;
  if (std::optional<Diagnostic> d = contradiction(c)) out.push_back(std::move(*d));
  return out;
}

}  // namespace planscope::schedule
