#include "planner/search/layout/elimination.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "planner/search/layout/order.h"

namespace planscope::layouts {

namespace {

void write(std::string& key, int value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }

void write(std::string& key, const std::vector<int>& values) {
  write(key, static_cast<int>(values.size()));
  for (const int v : values) write(key, v);
}

std::string key_of(const Recipe& r) {
  std::string key;
  write(key, r.kind);
  write(key, r.allowed);
  write(key, r.sizes);
  write(key, static_cast<int>(r.parts.size()));
  for (const Part& p : r.parts) {
    write(key, p.is_pair);
    write(key, p.source);
    write(key, p.axes);
  }
  return key;
}

double entries(const Recipe& r) {
  double product = std::max<double>(1, static_cast<double>(r.allowed.size()));
  for (const int size : r.sizes) product *= size;
  return product;
}

int position(const Step& s, int node) {
  const auto it = std::find(s.scope.begin(), s.scope.end(), node);
  return static_cast<int>(it - s.scope.begin());  // the eliminated node stands behind the scope
}

}  // namespace

Recipe Elimination::recipe(const CostNetwork& n, const Step& s) const {
  Recipe r;
  if (s.node >= 0) {
    r.kind = n.nodes[s.node];
    r.allowed = allowed_[s.node];
  }
  for (const int u : s.scope) r.sizes.push_back(n.kind(u).strategies());
  for (const int m : s.messages) {
    Part part{false, recipe_of_[m], {}};
    for (const int u : steps_[m].scope) part.axes.push_back(position(s, u));
    r.parts.push_back(std::move(part));
  }
  for (const int e : s.edges)
    r.parts.push_back({true, n.edges[e].pair, {position(s, n.edges[e].from), position(s, n.edges[e].to)}});
  r.share = s.share;
  r.shares = s.shares;
  return r;
}

Shape Elimination::shape(const CostNetwork& n, const Recipe& r) const {
  Shape s;
  s.axes = static_cast<int>(r.sizes.size());
  for (const int size : r.sizes) s.entries *= size;
  s.strides.assign(r.parts.size() * (r.sizes.size() + 1), 0);
  for (std::size_t p = 0; p < r.parts.size(); ++p) {
    const Part& part = r.parts[p];
    const std::vector<int> sizes = part.is_pair
                                       ? std::vector<int>{n.pairs[part.source].rows, n.pairs[part.source].columns}
                                       : recipes_[part.source].sizes;
    int stride = 1;
    for (std::size_t k = sizes.size(); k-- > 0; stride *= sizes[k])
      s.strides[p * (r.sizes.size() + 1) + part.axes[k]] += stride;
  }
  return s;
}

// Shares of one node stand side by side and are known together: what each counts depends on all of them.
int Elimination::intern(const CostNetwork& n, std::size_t step) {
  const Step& s = steps_[step];
  Recipe r = recipe(n, s);
  std::string key = key_of(r);
  write(key, s.share);
  if (s.shares > 1)
    for (int k = 0; k < s.shares; ++k) key += key_of(recipe(n, steps_[step - s.share + k]));
  const auto [it, added] = known_.try_emplace(std::move(key), static_cast<int>(recipes_.size()));
  if (added) {
    shapes_.push_back(shape(n, r));
    recipes_.push_back(std::move(r));
  }
  return it->second;
}

void Elimination::lead_to_one_root() {
  std::vector<char> used(steps_.size(), false);
  for (const Step& s : steps_)
    for (const int m : s.messages) used[m] = true;
  std::vector<int> roots;
  for (std::size_t s = 0; s < steps_.size(); ++s)
    if (!used[s]) roots.push_back(static_cast<int>(s));
  // Equal components side by side, so that equal halves are made.
  std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) { return recipe_of_[a] < recipe_of_[b]; });
  while (roots.size() > 1) {
    std::vector<int> next;
    for (std::size_t k = 0; k + 1 < roots.size(); k += 2) {
      next.push_back(static_cast<int>(steps_.size()));
      steps_.push_back({-1, {}, {roots[k], roots[k + 1]}, {}, 0, 1});
    }
    if (roots.size() % 2) next.push_back(roots.back());
    roots = std::move(next);
  }
  consumer_.assign(steps_.size(), -1);
  for (std::size_t s = 0; s < steps_.size(); ++s)
    for (const int m : steps_[s].messages) consumer_[m] = static_cast<int>(s);
}

void Elimination::lock(const CostNetwork& n, const Locks& locks) {
  const auto of = [](const Locks& l, int node) {
    const auto it = l.find(node);
    return it == l.end() ? std::vector<int>{} : it->second;
  };
  std::set<int> changed;
  for (const Locks* some : {&locks, &std::as_const(locks_)})
    for (const auto& [node, unused] : *some)
      if (of(locks, node) != of(locks_, node)) changed.insert(node);
  if (changed.empty()) return;
  for (const int node : changed) allowed_[node] = allowed_strategies(n, locks, node);
  locks_ = locks;
  // Messages of any share of a node were made before its first share: by then all that have changed have said so.
  std::vector<char> dirty(steps_.size(), false);
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].node >= 0 && changed.count(steps_[s].node)) dirty[s] = true;
    if (!dirty[s]) continue;
    recipe_of_[s] = intern(n, s);
    if (consumer_[s] < 0) continue;
    const Step& next = steps_[consumer_[s]];
    for (int k = 0; k < next.shares; ++k) dirty[consumer_[s] - next.share + k] = true;
  }
}

int Elimination::width() const {
  std::size_t width = 0;
  for (const Step& s : steps_) width = std::max(width, s.scope.size());
  return static_cast<int>(width);
}

std::vector<int> Elimination::in_use() const {
  std::vector<char> used(recipes_.size(), false);
  for (const int r : recipe_of_) used[r] = true;
  std::vector<int> out;
  for (std::size_t r = 0; r < used.size(); ++r)
    if (used[r]) out.push_back(static_cast<int>(r));
  return out;
}

double Elimination::work() const {
  double work = 0;
  for (const int r : in_use()) work += entries(recipes_[r]);
  return work;
}

Elimination::Elimination(const CostNetwork& n, const EliminationOptions& o) {
  double pair = 1;
  for (const Edge& e : n.edges)
    pair = std::max(pair, static_cast<double>(n.kind(e.from).strategies()) * n.kind(e.to).strategies());
  std::optional<Elimination> best;
  const double largest = std::max(o.largest_table, pair);
  if ((best = eliminate(n, {0, largest, false}))) {
    const int width = best->width();
    for (const int free : {width == 1 ? 2 : width, 2 * width}) {
      if (free < 2) continue;
      std::optional<Elimination> other = eliminate(n, {free, largest, false});
      if (other && other->work() < best->work()) best = std::move(other);
    }
    best->table_limit_ = largest;
    if (best->work() > o.work) best.reset();
  }
  // What one evaluation may take decides how large the tables of shares are.
  for (double size = largest; !best; size /= 8) {
    best = eliminate(n, {0, std::max(size, pair), true});
    best->table_limit_ = std::max(size, pair);
    if (best->work() > o.work / 4 && size > pair) best.reset();
  }
  *this = std::move(*best);
}

}  // namespace planscope::layouts
