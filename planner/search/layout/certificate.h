#pragma once
// Why no choice can be cheaper than the claimed bound: prices of memory, and the messages of an elimination, each shared
// by all places where it occurs. `check` re-verifies it and has no code in common with the solver.
//
// With prices y >= 0, any choice that keeps the limits costs at least
//   min over choices of [cost + y * memory] - y * limits                             (Lagrangian relaxation)
// The minimum is bounded by eliminating one node after the other (bucket elimination, Dechter 1999): a message is a table
// over its scope that is nowhere above the minimum, over the eliminated node, of the sum of what its recipe counts: the
// node's cost and priced memory, edges, and earlier messages. Each of these is counted once, so the messages with empty
// scopes add up to a bound. A node may be eliminated in several shares (mini-buckets): each has a copy of the node of
// its own and counts a part of its costs; the parts add up to no more than the whole.
//
// All comparisons are safe against rounding: the solver rounds messages down, the checker allows for its own error.
//
//   Checked c = check(network, locks, certificate);
//   if (!c.ok) std::cerr << c.reason;   // "message 3 is above what its recipe gives at entry 7"
#include <string>
#include <vector>

#include "planner/search/layout/network.h"

namespace planscope::layouts {

// A term of a recipe: an edge's matrix (axes: from, to) or an earlier message. The variables of a recipe are its scope,
// then the eliminated node; axes[k] is the variable on axis k of the source.
struct Part {
  bool is_pair = false;
  int source = -1;  // pair, or message (earlier than the one that counts it)
  std::vector<int> axes;
  bool operator==(const Part&) const = default;
};

struct Recipe {
  int kind = -1;             // of the eliminated node; -1: none, the parts are only added
  std::vector<int> allowed;  // its strategies
  std::vector<int> sizes;    // strategies of each variable of the scope
  std::vector<Part> parts;
  int share = 0, shares = 1;
  bool operator==(const Recipe&) const = default;
};

struct Message {
  Recipe recipe;
  std::vector<double> values;  // over the scope, its last variable fastest
  std::vector<double> share;   // per strategy of the node: what it counts of its cost; empty: all of it
};

// One place where a message occurs. Parts of the recipe: first the messages of `messages`, then `edges`, in order.
struct Step {
  int node = -1;  // eliminated, or -1
  std::vector<int> scope;
  std::vector<int> messages;  // earlier steps whose message is counted
  std::vector<int> edges;     // of the network
  int share = 0, shares = 1;
  bool operator==(const Step&) const = default;
};

struct Certificate {
  std::vector<double> prices;  // [memory row], none negative
  std::vector<Message> messages;
  std::vector<Step> steps;
  std::vector<int> message_of;  // [step]
  double bound = 0;
};

// That no choice keeps the limits: with these weights, even the least weighted memory of each node is too much together.
struct Impossibility {
  std::vector<double> weights;  // [memory row], none negative
};

struct Checked {
  bool ok = false;
  std::string reason;  // not ok: what is wrong
};
Checked check(const CostNetwork&, const Locks&, const Certificate&);
Checked check(const CostNetwork&, const Locks&, const Impossibility&);

}  // namespace planscope::layouts
