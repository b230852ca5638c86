#include "planner/search/layout/network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace planscope::layouts {

namespace {

constexpr double largest_cost = 1e15;
constexpr std::int64_t largest_memory = std::int64_t{1} << 53;
constexpr std::size_t told = 8;  // faults; more would not help

std::string name(const char* list, std::size_t i) { return std::string(list) + "[" + std::to_string(i) + "]"; }

std::string range(std::size_t size) {
  return size == 0 ? "there are none" : "there are 0 to " + std::to_string(size - 1);
}

bool inside(int i, std::size_t size) { return i >= 0 && static_cast<std::size_t>(i) < size; }

bool usable(double cost) { return std::isfinite(cost) && std::abs(cost) <= largest_cost; }

class Faults {
 public:
  bool full() const { return list.size() >= told; }
  void add(const std::string& subject, std::string what, std::string why = {}) {
    if (full()) return;
    list.push_back(error(std::move(what), std::move(why)));
    list.back().subject = subject;
  }
  std::vector<Diagnostic> list;
};

void check_kinds(const CostNetwork& n, Faults& faults) {
  for (std::size_t k = 0; k < n.kinds.size() && !faults.full(); ++k) {
    const Kind& kind = n.kinds[k];
    const std::string subject = name("kinds", k);
    if (kind.cost.empty()) faults.add(subject, "it has no strategy");
    if (!std::all_of(kind.cost.begin(), kind.cost.end(), usable)) faults.add(subject, "a cost is beyond 1e15");
    if (kind.memory.size() != n.limits.size()) {
      faults.add(subject, "it has " + std::to_string(kind.memory.size()) + " memory rows",
                 "the network has " + std::to_string(n.limits.size()) + " limits");
    }
    for (const auto& row : kind.memory) {
      if (row.size() != kind.cost.size()) {
        faults.add(subject, "memory of " + std::to_string(row.size()) + " strategies",
                   "it has costs of " + std::to_string(kind.cost.size()));
      }
      for (const std::int64_t m : row)
        if (m < 0 || m > largest_memory) {
          faults.add(subject, "memory " + std::to_string(m), "it must be 0 to 2^53");
          break;
        }
    }
  }
}

void check_pairs(const CostNetwork& n, Faults& faults) {
  for (std::size_t p = 0; p < n.pairs.size() && !faults.full(); ++p) {
    const Matrix& m = n.pairs[p];
    if (m.rows < 0 || m.columns < 0 || m.values.size() != static_cast<std::size_t>(m.rows) * m.columns)
      faults.add(name("pairs", p), "its rows differ in length");
    if (!std::all_of(m.values.begin(), m.values.end(), usable)) faults.add(name("pairs", p), "a cost is beyond 1e15");
  }
}

void check_edges(const CostNetwork& n, Faults& faults) {
  for (std::size_t e = 0; e < n.edges.size() && !faults.full(); ++e) {
    const Edge& edge = n.edges[e];
    const std::string subject = name("edges", e);
    if (!inside(edge.from, n.nodes.size()) || !inside(edge.to, n.nodes.size())) {
      faults.add(subject, "no node " + std::to_string(inside(edge.from, n.nodes.size()) ? edge.to : edge.from),
                 range(n.nodes.size()));
      continue;
    }
    if (edge.from == edge.to) faults.add(subject, "it joins node " + std::to_string(edge.from) + " with itself");
    if (!inside(edge.pair, n.pairs.size())) {
      faults.add(subject, "no pair " + std::to_string(edge.pair), range(n.pairs.size()));
      continue;
    }
    const Matrix& m = n.pairs[edge.pair];
    const int rows = n.kind(edge.from).strategies(), columns = n.kind(edge.to).strategies();
    if (m.rows != rows || m.columns != columns) {
      faults.add(subject,
                 name("pairs", edge.pair) + " is " + std::to_string(m.rows) + " by " + std::to_string(m.columns),
                 "its nodes have " + std::to_string(rows) + " and " + std::to_string(columns) + " strategies");
    }
  }
}

void check_locks(const CostNetwork& n, const Locks& locks, Faults& faults) {
  for (const auto& [node, allowed] : locks) {
    const std::string subject = "lock of node " + std::to_string(node);
    if (!inside(node, n.nodes.size())) {
      faults.add(subject, "there is no such node", range(n.nodes.size()));
      continue;
    }
    if (allowed.empty()) faults.add(subject, "it leaves no strategy");
    for (const int s : allowed)
      if (!inside(s, n.kind(node).cost.size()))
        faults.add(subject, "no strategy " + std::to_string(s), range(n.kind(node).cost.size()));
  }
}

void check_totals(const CostNetwork& n, Faults& faults) {
  for (int r = 0; r < n.rows(); ++r) {
    double total = 0;
    for (const int k : n.nodes)
      total += static_cast<double>(*std::max_element(n.kinds[k].memory[r].begin(), n.kinds[k].memory[r].end()));
    if (total > static_cast<double>(largest_memory))
      faults.add("memory", "all nodes together may need more than 2^53", "use a larger unit");
    if (n.limits[r] < 0) faults.add("memory limit", std::to_string(n.limits[r]) + " is negative");
  }
}

}  // namespace

double cost_of(const CostNetwork& n, const Choice& choice) {
  double cost = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) cost += n.kind(static_cast<int>(i)).cost[choice[i]];
  for (const Edge& e : n.edges) cost += n.pairs[e.pair].at(choice[e.from], choice[e.to]);
  return cost;
}

std::vector<std::int64_t> memory_of(const CostNetwork& n, const Choice& choice) {
  std::vector<std::int64_t> memory(n.limits.size());
  for (std::size_t i = 0; i < choice.size(); ++i)
    for (int r = 0; r < n.rows(); ++r) memory[r] += n.kind(static_cast<int>(i)).memory[r][choice[i]];
  return memory;
}

bool fits(const CostNetwork& n, const std::vector<std::int64_t>& memory) {
  for (int r = 0; r < n.rows(); ++r)
    if (memory[r] > n.limits[r]) return false;
  return true;
}

std::vector<int> allowed_strategies(const CostNetwork& n, const Locks& locks, int node) {
  const auto lock = locks.find(node);
  std::vector<int> allowed;
  if (lock == locks.end()) {
    allowed.resize(n.kind(node).cost.size());
    std::iota(allowed.begin(), allowed.end(), 0);
  } else {
    allowed = lock->second;
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  }
  return allowed;
}

std::vector<Diagnostic> faults(const CostNetwork& n, const Locks& locks) {
  Faults faults;
  check_kinds(n, faults);
  check_pairs(n, faults);
  for (std::size_t i = 0; i < n.nodes.size() && !faults.full(); ++i)
    if (!inside(n.nodes[i], n.kinds.size()))
      faults.add(name("nodes", i), "no kind " + std::to_string(n.nodes[i]), range(n.kinds.size()));
  if (!faults.list.empty()) return faults.list;
  check_edges(n, faults);
  check_locks(n, locks, faults);
  check_totals(n, faults);
  return faults.list;
}

}  // namespace planscope::layouts
