#pragma once
// A Case as the search sees it: tasks on resources. A *round* is what repeats: one micro-batch, or with several kinds the
// smallest group of micro-batches that has each kind in its proportion; a task is a block of one micro-batch of a round.
// A resource is one stream of one device. Precedences within a round are transitively reduced.
//
//   Problem p = make_problem(c);
//   p.tasks[t].resources; p.rounds; p.edges
#include "planner/search/schedule/case.h"

namespace planscope::schedule {

struct Task {
  int block = 0;
  int copy = 0;  // which micro-batch of its kind within the round
  std::int64_t time = 0;
  std::int64_t memory = 0;
  std::vector<int> resources;
  std::vector<int> devices;
  bool operator==(const Task&) const = default;
};

// Task `to` of round n + distance starts at least `span` after task `from` of round n has started.
struct Edge {
  int from = 0, to = 0;
  std::int64_t span = 0;
  int distance = 0;
  int row = -1;  // of the case that asks for it; -1: a precedence
  bool operator==(const Edge&) const = default;
};

// One run of a task ends before another starts: a row about single micro-batches. Round n of task t is t * rounds + n.
struct Pair {
  int before = 0, after = 0;
  int row = 0;
  bool operator==(const Pair&) const = default;
};

struct Problem {
  int devices = 0;
  int resources = 0;
  int rounds = 0;
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  std::vector<Pair> pairs;
  std::vector<std::optional<std::int64_t>> memory;  // by device
  std::vector<std::vector<int>> on_device;          // tasks that take or give back memory, by device
  std::vector<int> topological;                     // tasks, by edges of distance 0
  std::vector<std::vector<int>> into, out_of;       // edges of distance 0, by task
};

Problem make_problem(const Case&);
void index_edges(Problem&);  // `into` and `out_of`, after a change of edges

// Whether rounds of a task may be renamed so that they run in turn: equal micro-batches are, unless rows tell them apart.
bool interchangeable(const Problem&);

// All that must come before something in all rounds: f(run before, run after, span from start to start, row or -1).
template <class F>
void for_each_wait(const Problem& p, F&& f) {
  for (const Edge& e : p.edges)
    for (int n = e.distance < 0 ? -e.distance : 0; n < p.rounds && n + e.distance < p.rounds; ++n)
      f(e.from * p.rounds + n, e.to * p.rounds + n + e.distance, e.span, e.row);
  for (const Pair& w : p.pairs)
    f(w.before, w.after, p.tasks[static_cast<std::size_t>(w.before / p.rounds)].time, w.row);
}

// The longest path of spans from one task to each, within a round; -1 where there is none.
std::vector<std::int64_t> longest_paths(const Problem&, int from);

// For each task the longest path of spans from the first tasks to its start (within one round), and from its start to the end
// of the last one.
std::vector<std::int64_t> heads(const Problem&);
std::vector<std::int64_t> tails(const Problem&);

// The micro-batch of a task's kind that it belongs to in a round.
int micro_batch(const Case&, const Problem&, int task, int round);

// Rounded down and up, whatever the signs; b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

}  // namespace planscope::schedule
