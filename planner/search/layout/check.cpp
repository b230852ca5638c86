// The checker of certificates. It shares the value types of network.h and certificate.h with the solver, and no code.
//
// Why it suffices: let x be any choice that the locks allow. Each message is, at x, at most the sum of what its recipe
// counts at x. Every edge, every node (all its shares) and every message but those with an empty scope that nobody counts
// is counted once. Added up, the messages cancel, and what is left says: the uncounted messages are together at most
// cost(x) + prices * memory(x). No order of the nodes is needed for that.
#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/search/layout/certificate.h"

namespace planscope::layouts {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// A sum with a bound of its rounding error.
struct Sum {
  double value = 0, magnitude = 0;
  int terms = 2;
  void add(double x) {
    value += x;
    magnitude += std::abs(x);
    ++terms;
  }
  void add_product(double x, double y) { add(x * y); }
  double error() const { return 1.01 * terms * epsilon * magnitude; }
  bool surely_at_least(double x) const { return value - error() >= x; }
};

std::string number(std::size_t i) { return std::to_string(i); }

class Checker {
 public:
  Checker(const CostNetwork& n, const Locks& locks, const Certificate& c) : n_(n), locks_(locks), c_(c) {}

  std::string fault() {
    if (c_.prices.size() != n_.limits.size()) return "it has another number of prices than the network has limits";
    for (const double price : c_.prices)
      if (!(price >= 0) || !std::isfinite(price)) return "a price is negative";
    for (std::size_t m = 0; m < c_.messages.size(); ++m)
      if (std::string f = message_fault(m); !f.empty()) return "message " + number(m) + " " + f;
    if (c_.message_of.size() != c_.steps.size()) return "its steps and messages do not go together";
    edge_used_.assign(n_.edges.size(), 0);
    step_used_.assign(c_.steps.size(), 0);
    shares_seen_.assign(n_.nodes.size(), {});
    for (std::size_t s = 0; s < c_.steps.size(); ++s)
      if (std::string f = step_fault(s); !f.empty()) return "step " + number(s) + " " + f;
    if (std::string f = count_fault(); !f.empty()) return f;
    return bound_fault();
  }

 private:
  std::vector<int> allowed(int node) const {
    std::vector<int> out;
    const auto lock = locks_.find(node);
    for (int s = 0; s < n_.kind(node).strategies(); ++s)
      if (lock == locks_.end() || std::find(lock->second.begin(), lock->second.end(), s) != lock->second.end())
        out.push_back(s);
    return out;
  }

  std::string recipe_fault(std::size_t m) const {
    const Recipe& r = c_.messages[m].recipe;
    if (r.kind >= static_cast<int>(n_.kinds.size())) return "is of no kind";
    if (r.kind >= 0 && r.allowed.empty()) return "leaves its node no strategy";
    for (const int s : r.allowed)
      if (r.kind < 0 || s < 0 || s >= n_.kinds[r.kind].strategies()) return "has a strategy that its node lacks";
    double entries = 1;
    for (const int size : r.sizes) entries *= size;
    for (const int size : r.sizes)
      if (size < 1 || entries > 1e9) return "has a scope of no size";
    if (static_cast<double>(c_.messages[m].values.size()) != entries) return "has another size than its scope";
    for (const Part& part : r.parts) {
      const int sources = static_cast<int>(part.is_pair ? n_.pairs.size() : m);
      if (part.source < 0 || part.source >= sources) return "counts what is not there";
      const std::vector<int> sizes = sizes_of(part);
      if (sizes.size() != part.axes.size()) return "counts a part with other axes";
      for (std::size_t k = 0; k < sizes.size(); ++k)
        if (size_of_variable(r, part.axes[k]) != sizes[k]) return "counts a part of another size";
    }
    return {};
  }

  std::vector<int> sizes_of(const Part& part) const {
    if (part.is_pair) return {n_.pairs[part.source].rows, n_.pairs[part.source].columns};
    return c_.messages[part.source].recipe.sizes;
  }

  int size_of_variable(const Recipe& r, int variable) const {
    const int axes = static_cast<int>(r.sizes.size());
    if (variable >= 0 && variable < axes) return r.sizes[variable];
    return variable == axes && r.kind >= 0 ? n_.kinds[r.kind].strategies() : -1;
  }

  Sum node_sum(const Message& m, std::size_t x) const {
    Sum sum;
    const Recipe& r = m.recipe;
    if (r.kind < 0) return sum;
    if (!m.share.empty()) {
      sum.add(m.share[x]);
      return sum;
    }
    const Kind& kind = n_.kinds[r.kind];
    sum.add(kind.cost[r.allowed[x]]);
    for (std::size_t row = 0; row < c_.prices.size(); ++row)
      sum.add_product(c_.prices[row], static_cast<double>(kind.memory[row][r.allowed[x]]));
    return sum;
  }

  double part_value(const Part& part, const std::vector<int>& variables) const {
    const std::vector<int>& sizes = part.is_pair ? variables : c_.messages[part.source].recipe.sizes;
    if (part.is_pair) return n_.pairs[part.source].at(variables[part.axes[0]], variables[part.axes[1]]);
    std::size_t at = 0;
    for (std::size_t k = 0; k < part.axes.size(); ++k) at = at * sizes[k] + variables[part.axes[k]];
    return c_.messages[part.source].values[at];
  }

  std::string message_fault(std::size_t m) const {
    if (std::string f = recipe_fault(m); !f.empty()) return f;
    const Message& message = c_.messages[m];
    const Recipe& r = message.recipe;
    if (r.shares < 1 || r.share < 0 || r.share >= r.shares) return "is no share";
    if ((r.shares > 1) != !message.share.empty()) return "does not say what its share is";
    if (r.shares > 1 && message.share.size() != r.allowed.size()) return "has a share of another size";
    std::vector<Sum> node;
    for (std::size_t x = 0; x < (r.kind < 0 ? 1 : r.allowed.size()); ++x) node.push_back(node_sum(message, x));
    std::vector<int> variables(r.sizes.size() + 1, 0);
    for (std::size_t entry = 0; entry < message.values.size(); ++entry) {
      std::size_t rest = entry;
      for (std::size_t k = r.sizes.size(); k-- > 0; rest /= r.sizes[k])
        variables[k] = static_cast<int>(rest % r.sizes[k]);
      for (std::size_t x = 0; x < node.size(); ++x) {
        if (r.kind >= 0) variables.back() = r.allowed[x];
        Sum sum = node[x];
        for (const Part& part : r.parts) sum.add(part_value(part, variables));
        if (!sum.surely_at_least(message.values[entry]))
          return "is above what its recipe gives at entry " + number(entry);
      }
    }
    return {};
  }

  std::string step_fault(std::size_t s) {
    const Step& step = c_.steps[s];
    const int m = c_.message_of[s];
    if (m < 0 || m >= static_cast<int>(c_.messages.size())) return "has no message";
    const Recipe& r = c_.messages[m].recipe;
    std::vector<int> variables = step.scope;
    for (const int u : variables)
      if (u < 0 || u >= static_cast<int>(n_.nodes.size())) return "is over a node that is not there";
    if (r.sizes.size() != step.scope.size()) return "has another scope than its message";
    for (std::size_t k = 0; k < variables.size(); ++k)
      if (n_.kind(variables[k]).strategies() != r.sizes[k]) return "is over a node of another kind";
    if ((step.node >= 0) != (r.kind >= 0)) return "eliminates a node where its message does not, or the reverse";
    if (step.node >= 0) {
      if (step.node >= static_cast<int>(n_.nodes.size())) return "eliminates a node that is not there";
      if (n_.nodes[step.node] != r.kind) return "eliminates a node of another kind";
      if (allowed(step.node) != r.allowed) return "eliminates a node with other locks";
      variables.push_back(step.node);
      shares_seen_[step.node].push_back(s);
    }
    if (step.share != r.share || step.shares != r.shares) return "is another share than its message";
    std::sort(variables.begin(), variables.end());
    if (std::adjacent_find(variables.begin(), variables.end()) != variables.end()) return "names a node twice";
    return parts_fault(s, r);
  }

  std::string parts_fault(std::size_t s, const Recipe& r) {
    const Step& step = c_.steps[s];
    if (r.parts.size() != step.messages.size() + step.edges.size()) return "counts another number of parts";
    std::vector<int> variables = step.scope;
    if (step.node >= 0) variables.push_back(step.node);
    std::size_t p = 0;
    for (const int child : step.messages) {
      const Part& part = r.parts[p++];
      if (child < 0 || child >= static_cast<int>(s)) return "counts a later step";
      if (part.is_pair || c_.message_of[child] != part.source) return "counts another message than its recipe";
      for (std::size_t k = 0; k < part.axes.size(); ++k)
        if (variables[part.axes[k]] != c_.steps[child].scope[k]) return "counts a message over other nodes";
      ++step_used_[child];
    }
    for (const int e : step.edges) {
      const Part& part = r.parts[p++];
      if (e < 0 || e >= static_cast<int>(n_.edges.size())) return "counts an edge that is not there";
      const Edge& edge = n_.edges[e];
      if (!part.is_pair || part.source != edge.pair) return "counts another pair than its recipe";
      if (variables[part.axes[0]] != edge.from || variables[part.axes[1]] != edge.to)
        return "counts an edge between other nodes";
      ++edge_used_[e];
    }
    return {};
  }

  std::string share_fault(std::size_t node) const {
    const std::vector<std::size_t>& seen = shares_seen_[node];
    const int shares = seen.empty() ? 0 : c_.steps[seen[0]].shares;
    if (seen.empty() || static_cast<int>(seen.size()) != shares) return "is not counted once";
    std::vector<char> there(shares, false);
    for (const std::size_t s : seen) {
      if (c_.steps[s].shares != shares || there[c_.steps[s].share]) return "has a share twice";
      there[c_.steps[s].share] = true;
    }
    if (shares == 1) return {};
    const Kind& kind = n_.kind(static_cast<int>(node));
    const std::vector<int> strategies = allowed(static_cast<int>(node));
    for (std::size_t x = 0; x < strategies.size(); ++x) {
      Sum left;
      left.add(kind.cost[strategies[x]]);
      for (std::size_t row = 0; row < c_.prices.size(); ++row)
        left.add_product(c_.prices[row], static_cast<double>(kind.memory[row][strategies[x]]));
      for (const std::size_t s : seen) left.add(-c_.messages[c_.message_of[s]].share[x]);
      if (!left.surely_at_least(0)) return "has shares above its cost";
    }
    return {};
  }

  std::string count_fault() const {
    for (std::size_t e = 0; e < edge_used_.size(); ++e)
      if (edge_used_[e] != 1) return "edge " + number(e) + " is counted " + number(edge_used_[e]) + " times";
    for (std::size_t s = 0; s < step_used_.size(); ++s)
      if (step_used_[s] > 1 || (step_used_[s] == 0 && !c_.steps[s].scope.empty()))
        return "step " + number(s) + " is counted " + number(step_used_[s]) + " times";
    for (std::size_t node = 0; node < n_.nodes.size(); ++node)
      if (std::string f = share_fault(node); !f.empty()) return "node " + number(node) + " " + f;
    return {};
  }

  std::string bound_fault() const {
    Sum sum;
    for (std::size_t s = 0; s < step_used_.size(); ++s)
      if (step_used_[s] == 0) sum.add(c_.messages[c_.message_of[s]].values[0]);
    for (std::size_t row = 0; row < c_.prices.size(); ++row)
      sum.add_product(-c_.prices[row], static_cast<double>(n_.limits[row]));
    if (!sum.surely_at_least(c_.bound)) return "the bound is above what the messages give";
    return {};
  }

  const CostNetwork& n_;
  const Locks& locks_;
  const Certificate& c_;
  std::vector<int> edge_used_, step_used_;
  std::vector<std::vector<std::size_t>> shares_seen_;  // [node] steps
};

}  // namespace

Checked check(const CostNetwork& n, const Locks& locks, const Certificate& c) {
  std::string fault = Checker(n, locks, c).fault();
  return {fault.empty(), std::move(fault)};
}

// One row alone is counted in whole numbers.
static bool one_row_is_too_much(const CostNetwork& n, const Locks& locks, std::size_t row) {
  std::int64_t least = 0;
  for (std::size_t node = 0; node < n.nodes.size(); ++node) {
    const std::vector<std::int64_t>& memory = n.kind(static_cast<int>(node)).memory[row];
    const auto lock = locks.find(static_cast<int>(node));
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (std::size_t s = 0; s < memory.size(); ++s)
      if (lock == locks.end() ||
          std::find(lock->second.begin(), lock->second.end(), static_cast<int>(s)) != lock->second.end())
        best = std::min(best, memory[s]);
    least += best;
  }
  return least > n.limits[row];
}

Checked check(const CostNetwork& n, const Locks& locks, const Impossibility& proof) {
  if (proof.weights.size() != n.limits.size()) return {false, "it has another number of weights than there are limits"};
  for (const double w : proof.weights)
    if (!(w >= 0) || !std::isfinite(w)) return {false, "a weight is negative"};
  for (std::size_t row = 0; row < proof.weights.size(); ++row)
    if (proof.weights[row] > 0 && one_row_is_too_much(n, locks, row)) return {true, {}};
  Sum least;
  for (std::size_t node = 0; node < n.nodes.size(); ++node) {
    const Kind& kind = n.kind(static_cast<int>(node));
    const auto lock = locks.find(static_cast<int>(node));
    double best = std::numeric_limits<double>::infinity();
    for (int s = 0; s < kind.strategies(); ++s) {
      if (lock != locks.end() && std::find(lock->second.begin(), lock->second.end(), s) == lock->second.end()) continue;
      double weighted = 0;
      for (std::size_t row = 0; row < proof.weights.size(); ++row)
        weighted += proof.weights[row] * static_cast<double>(kind.memory[row][s]);
      best = std::min(best, weighted);
    }
    least.add(best);
  }
  least.terms += static_cast<int>(2 * proof.weights.size());
  for (std::size_t row = 0; row < proof.weights.size(); ++row)
    least.add_product(-proof.weights[row], static_cast<double>(n.limits[row]));
  if (least.value - least.error() <= 0) return {false, "the weighted memory is not above the weighted limits"};
  return {true, {}};
}

}  // namespace planscope::layouts
