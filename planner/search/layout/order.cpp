#include "planner/search/layout/order.h"

#include <algorithm>
#include <tuple>

namespace planscope::layouts {

namespace {

// Above this many neighbours, fill-in is bounded instead of counted.
constexpr std::size_t counted_neighbours = 40;

void erase_sorted(std::vector<int>& v, int x) {
  const auto it = std::lower_bound(v.begin(), v.end(), x);
  if (it != v.end() && *it == x) v.erase(it);
}

bool insert_sorted(std::vector<int>& v, int x) {
  const auto it = std::lower_bound(v.begin(), v.end(), x);
  if (it != v.end() && *it == x) return false;
  v.insert(it, x);
  return true;
}

bool has_sorted(const std::vector<int>& v, int x) { return std::binary_search(v.begin(), v.end(), x); }

}  // namespace

class OrderBuilder {
 public:
  OrderBuilder(const CostNetwork& n, const OrderOptions& o) : n_(n), options_(o), nodes_(n.nodes.size()) {
    for (std::size_t e = 0; e < n.edges.size(); ++e) {
      const Edge& edge = n.edges[e];
      nodes_[edge.from].pieces.push_back({false, static_cast<int>(e)});
      nodes_[edge.to].pieces.push_back({false, static_cast<int>(e)});
      nodes_[edge.from].neighbours.push_back(edge.to);
      nodes_[edge.to].neighbours.push_back(edge.from);
    }
    for (Node& node : nodes_) {
      std::sort(node.neighbours.begin(), node.neighbours.end());
      node.neighbours.erase(std::unique(node.neighbours.begin(), node.neighbours.end()), node.neighbours.end());
    }
    edge_used_.resize(n.edges.size());
    for (std::size_t v = 0; v < n.nodes.size(); ++v)
      out_.allowed_.push_back(allowed_strategies(n, {}, static_cast<int>(v)));
  }

  std::optional<Elimination> run() {
    for (std::size_t v = 0; v < nodes_.size(); ++v) push(static_cast<int>(v));
    while (!queue_.empty()) {
      const auto [fill, height, v, version] = queue_.top();
      queue_.pop();
      if (nodes_[v].done || nodes_[v].version != version) continue;
      if (!eliminate_node(v)) return std::nullopt;
    }
    out_.lead_to_one_root();
    for (std::size_t s = out_.recipe_of_.size(); s < out_.steps_.size(); ++s)
      out_.recipe_of_.push_back(out_.intern(n_, s));
    return std::move(out_);
  }

 private:
  struct Piece {
    bool is_step = false;
    int index = 0;
  };
  struct Node {
    std::vector<Piece> pieces;
    std::vector<int> neighbours;  // ascending
    int height = 0;               // of the highest message
    int version = 0;
    bool done = false;
  };
  // A piece as a node that is being eliminated sees it: equal surroundings sort alike.
  struct Seen {
    Piece piece;
    int height = 0, source = 0, axis = 0;
    std::vector<int> others;
    auto key() const { return std::tie(height, source, axis, others); }
  };

  double strategies(int node) const { return n_.kind(node).strategies(); }

  std::int64_t fill(const Node& node) const {
    const auto& near = node.neighbours;
    if (static_cast<int>(near.size()) <= options_.free) return 0;
    std::int64_t missing = static_cast<std::int64_t>(near.size()) * (static_cast<std::int64_t>(near.size()) - 1) / 2;
    if (near.size() > counted_neighbours) return missing;
    for (std::size_t a = 0; a < near.size(); ++a)
      for (std::size_t b = a + 1; b < near.size(); ++b) missing -= has_sorted(nodes_[near[a]].neighbours, near[b]);
    return missing;
  }

  void push(int v) { queue_.emplace(fill(nodes_[v]), nodes_[v].height, v, ++nodes_[v].version); }

  Seen seen(int v, const Piece& piece) const {
    Seen s{piece, 0, 0, 0, {}};
    if (piece.is_step) {
      s.height = heights_[piece.index];
      s.source = out_.recipe_of_[piece.index];
      for (std::size_t k = 0; k < out_.steps_[piece.index].scope.size(); ++k) {
        const int u = out_.steps_[piece.index].scope[k];
        if (u == v)
          s.axis = static_cast<int>(k);
        else
          s.others.push_back(u);
      }
    } else {
      const Edge& e = n_.edges[piece.index];
      s.height = -1;
      s.source = e.pair;
      s.axis = e.from == v ? 0 : 1;
      s.others = {e.from == v ? e.to : e.from};
    }
    return s;
  }

  std::vector<Seen> pieces_of(int v) {
    std::vector<Seen> all;
    for (const Piece& p : nodes_[v].pieces)
      if (p.is_step ? !step_used_[p.index] : !edge_used_[p.index]) all.push_back(seen(v, p));
    std::sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) { return a.key() < b.key(); });
    return all;
  }

  double entries(int v, const std::vector<int>& scope) const {
    double product = strategies(v);
    for (const int u : scope) product *= strategies(u);
    return product;
  }

  // Pieces whose variables fit into one table, first fit; one group where shares are not needed.
  std::vector<std::vector<Seen>> groups(int v, std::vector<Seen> all) const {
    std::vector<int> scope = nodes_[v].neighbours;
    if (entries(v, scope) <= options_.largest_table) return {std::move(all)};
    if (!options_.shares) return {};
    std::stable_sort(all.begin(), all.end(),
                     [](const Seen& a, const Seen& b) { return a.others.size() > b.others.size(); });
    std::vector<std::vector<Seen>> out;
    std::vector<std::vector<int>> scopes;
    for (Seen& s : all) {
      std::size_t g = 0;
      for (; g < out.size(); ++g) {
        std::vector<int> joint = scopes[g];
        for (const int u : s.others) insert_sorted(joint, u);
        if (entries(v, joint) > options_.largest_table) continue;
        scopes[g] = joint;
        break;
      }
      if (g == out.size()) {
        out.emplace_back();
        scopes.emplace_back(s.others);
        std::sort(scopes.back().begin(), scopes.back().end());
      }
      out[g].push_back(std::move(s));
    }
    for (auto& group : out)
      std::sort(group.begin(), group.end(), [](const Seen& a, const Seen& b) { return a.key() < b.key(); });
    return out;
  }

  int add(Step step) {
    int height = 0;
    for (const int m : step.messages) {
      step_used_[m] = true;
      height = std::max(height, heights_[m] + 1);
    }
    for (const int e : step.edges) edge_used_[e] = true;
    out_.steps_.push_back(std::move(step));
    step_used_.push_back(false);
    heights_.push_back(height);
    return static_cast<int>(out_.steps_.size()) - 1;
  }

  static void widen(std::vector<int>& scope, const std::vector<int>& by, int without) {
    for (const int u : by)
      if (u != without && std::find(scope.begin(), scope.end(), u) == scope.end()) scope.push_back(u);
  }

  // Adds the lowest two messages until two are left.
  void join(int v, std::vector<Seen>& group) {
    auto messages = [&] {
      return std::count_if(group.begin(), group.end(), [](const Seen& s) { return s.piece.is_step; });
    };
    for (auto count = messages(); count > 2; --count) {
      const auto a = std::find_if(group.begin(), group.end(), [](const Seen& s) { return s.piece.is_step; });
      Step step;
      step.messages = {a->piece.index, (a + 1)->piece.index};
      widen(step.scope, out_.steps_[step.messages[0]].scope, -1);
      widen(step.scope, out_.steps_[step.messages[1]].scope, -1);
      group.erase(a, a + 2);
      const int made = add(std::move(step));
      out_.recipe_of_.push_back(out_.intern(n_, made));
      Seen joined = seen(v, {true, made});
      group.insert(std::upper_bound(group.begin(), group.end(), joined,
                                    [](const Seen& x, const Seen& y) { return x.key() < y.key(); }),
                   std::move(joined));
    }
  }

  bool eliminate_node(int v) {
    std::vector<std::vector<Seen>> all = groups(v, pieces_of(v));
    if (all.empty()) return false;
    for (auto& group : all) join(v, group);
    const std::size_t first = out_.steps_.size();
    for (std::size_t g = 0; g < all.size(); ++g) {
      Step step;
      step.node = v;
      step.share = static_cast<int>(g);
      step.shares = static_cast<int>(all.size());
      for (const Seen& s : all[g])
        if (s.piece.is_step) {
          step.messages.push_back(s.piece.index);
          widen(step.scope, out_.steps_[s.piece.index].scope, v);
        }
      for (const Seen& s : all[g])
        if (!s.piece.is_step) {
          step.edges.push_back(s.piece.index);
          widen(step.scope, s.others, v);
        }
      add(std::move(step));
    }
    out_.exact_ = out_.exact_ && all.size() == 1;
    for (std::size_t s = first; s < out_.steps_.size(); ++s) out_.recipe_of_.push_back(out_.intern(n_, s));
    connect(v, first);
    return true;
  }

  void connect(int v, std::size_t first) {
    nodes_[v].done = true;
    std::vector<int> changed = nodes_[v].neighbours;
    for (const int u : changed) erase_sorted(nodes_[u].neighbours, v);
    for (std::size_t s = first; s < out_.steps_.size(); ++s) {
      const std::vector<int> scope = out_.steps_[s].scope;
      for (const int u : scope) {
        nodes_[u].pieces.push_back({true, static_cast<int>(s)});
        nodes_[u].height = std::max(nodes_[u].height, heights_[s] + 1);
      }
      for (std::size_t a = 0; a < scope.size(); ++a)
        for (std::size_t b = a + 1; b < scope.size(); ++b) {
          if (!insert_sorted(nodes_[scope[a]].neighbours, scope[b])) continue;
          insert_sorted(nodes_[scope[b]].neighbours, scope[a]);
          common_neighbours(scope[a], scope[b], changed);
        }
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const int u : changed) push(u);
  }

  void common_neighbours(int a, int b, std::vector<int>& out) const {
    const auto &x = nodes_[a].neighbours, &y = nodes_[b].neighbours;
    if (std::max(x.size(), y.size()) > counted_neighbours) return;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(out));
  }

  const CostNetwork& n_;
  const OrderOptions options_;
  std::vector<Node> nodes_;
  std::vector<char> edge_used_, step_used_;
  std::vector<int> heights_;  // [step]
  using Waiting = std::tuple<std::int64_t, int, int, int>;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
  Elimination out_;
};

std::optional<Elimination> eliminate(const CostNetwork& n, const OrderOptions& o) { return OrderBuilder(n, o).run(); }

}  // namespace planscope::layouts
