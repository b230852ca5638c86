// Tasks of overlapping steps: how far each is ahead, and orders that cannot be.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "engine/program/build/schedule.h"

namespace planscope::build {

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

// From a task that is too far ahead along the edges that put it there: a cycle, or what leads up to the task.
std::vector<Edge> chain(int task, const std::vector<Edge>& cause) {
  std::vector<int> place(cause.size(), -1);
  std::vector<Edge> out;
  while (place[at(task)] < 0 && cause[at(task)].from >= 0) {
    place[at(task)] = static_cast<int>(out.size());
    out.push_back(cause[at(task)]);
    task = out.back().to;
  }
  if (place[at(task)] > 0) out.erase(out.begin(), out.begin() + place[at(task)]);
  return out;
}

}  // namespace

Ahead steps_ahead(const Edges& within, const std::vector<Edge>& between) {
  Ahead out;
  out.of.assign(within.size(), 0);
  std::vector<Edge> cause(within.size());
  const auto raise = [&](const Edge& e) {
    const std::int64_t least = out.of[at(e.to)] - e.steps;
    if (out.of[at(e.from)] >= least) return false;
    out.of[at(e.from)] = least;
    cause[at(e.from)] = e;
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (const Edge& e : between) again |= raise(e);
    for (std::size_t t = within.size(); t-- > 0;)
      for (const Edge& e : within[t]) again |= raise(e);
    const auto most = std::max_element(out.of.begin(), out.of.end());
    if (*most > most_lag) {
      out.conflict = chain(static_cast<int>(most - out.of.begin()), cause);
      break;
    }
  }
  return out;
}

std::vector<Edge> cycle(const Edges& edges, const std::vector<int>& waiting) {
  std::vector<Edge> into(waiting.size());
  for (const std::vector<Edge>& list : edges)
    for (const Edge& e : list)
      if (waiting[at(e.from)] > 0 && waiting[at(e.to)] > 0 && (into[at(e.to)].from < 0 || e.statement >= 0))
        into[at(e.to)] = e;
  int t = 0;
  while (t < static_cast<int>(waiting.size()) && waiting[at(t)] == 0) ++t;
  std::vector<bool> seen(waiting.size(), false);
  for (; t >= 0 && t < static_cast<int>(waiting.size()) && !seen[at(t)]; t = into[at(t)].from) seen[at(t)] = true;
  if (t < 0 || t >= static_cast<int>(waiting.size())) throw std::logic_error("tasks wait for one that nobody runs");
  std::vector<Edge> out;
  const int end = t;
  do {
    out.push_back(into[at(t)]);
    t = out.back().from;
  } while (t != end);
  std::reverse(out.begin(), out.end());
  return out;
}

namespace {

// Edges of data and of these rows between tasks that wait, and how many each of them waits for once all others have run.
struct Rest {
  Edges edges;
  std::vector<int> waiting;
};

Rest with_rows(const Edges& edges, const std::vector<int>& waiting, const std::set<int>& rows,
               const std::vector<int>& row) {
  Rest out{Edges(edges.size()), std::vector<int>(waiting.size(), 0)};
  for (const std::vector<Edge>& list : edges)
    for (const Edge& e : list) {
      if (waiting[at(e.from)] == 0 || waiting[at(e.to)] == 0) continue;
      if (e.statement >= 0 && !rows.contains(row[at(e.statement)])) continue;
      out.edges[at(e.from)].push_back(e);
      ++out.waiting[at(e.to)];
    }
  std::vector<int> ready;
  for (std::size_t t = 0; t < waiting.size(); ++t)
    if (waiting[t] > 0 && out.waiting[t] == 0) ready.push_back(static_cast<int>(t));
  while (!ready.empty()) {
    const int t = ready.back();
    ready.pop_back();
    for (const Edge& e : out.edges[at(t)])
      if (--out.waiting[at(e.to)] == 0) ready.push_back(e.to);
  }
  return out;
}

std::set<int> rows_of(const std::vector<Edge>& edges, const std::vector<int>& row) {
  std::set<int> out;
  for (const Edge& e : edges)
    if (e.statement >= 0) out.insert(row[at(e.statement)]);
  return out;
}

}  // namespace

std::vector<Edge> least_cycle(const Edges& edges, const std::vector<int>& waiting, const std::vector<int>& row) {
  std::vector<Edge> out = cycle(edges, waiting);
  std::set<int> rows = rows_of(out, row);
  for (const int one : std::set<int>(rows)) {
    if (!rows.contains(one)) continue;
    std::set<int> fewer = rows;
    fewer.erase(one);
    const Rest rest = with_rows(edges, waiting, fewer, row);
    if (std::all_of(rest.waiting.begin(), rest.waiting.end(), [](int n) { return n == 0; })) continue;
    out = cycle(rest.edges, rest.waiting);
    rows = rows_of(out, row);
  }
  return out;
}

}  // namespace planscope::build
