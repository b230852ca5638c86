#pragma once
// How the periods of tasks depend on each other. A task starts at period * k + r. Where one edge alone joins two halves of a
// problem (a bridge), nothing is gained by more periods between its ends than the edge needs: one half can be moved as a
// whole. Only where edges close a ring may k be more than that; such tasks form a *ring*, and their k is searched for.
//
// In a ring with n tasks k is within (n - 1) * (most periods an edge needs or spans) of the ring's first task: a larger gap
// between the k of its tasks could be closed by as many periods, without breaking an edge and with less memory held.
//
//   const Links l = links(p);
//   l.terms(coefficients)   // sum of c_t * k_t as a sum over bridges and ring tasks
#include <utility>

#include "planner/search/schedule/problem.h"

namespace planscope::schedule {

struct Links {
  std::vector<bool> bridge;    // by edge
  std::vector<int> ring;       // by task; -1: in none
  std::vector<int> ring_root;  // by ring: the task that its k are relative to
  std::vector<int> part;       // by task: the connected part of the problem that it is in
  int parts = 0;

  // A walk over each part, parents before children: `edge` is a bridge, or -1 within a ring (parent: where it was entered).
  struct Visit {
    int task, parent, edge;
  };
  std::vector<Visit> walk;
};

Links links(const Problem&);

// sum over tasks of c[t] * k[t] = sum over bridges of first[e] * (periods from its start to its end)
//                               + sum over ring tasks of second[t] * (k relative to the ring's root).
// Within each part the c must add up to 0; nothing where they do not.
struct Terms {
  std::vector<std::int64_t> bridges, tasks;
};
std::optional<Terms> terms(const Problem&, const Links&, const std::vector<std::int64_t>& c);

}  // namespace planscope::schedule
