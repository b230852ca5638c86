// Messages rounded down, as a certificate. A sum of k terms computed in floating point is off by less than k * epsilon *
// (sum of their magnitudes). The checker allows for its own error of this size, so a multiple of it is taken off here.
#include <cmath>
#include <limits>

#include "planner/search/layout/messages.h"

namespace planscope::layouts {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double margin = 4 * epsilon;  // for each term

// What a node's strategies add, with the magnitudes that it is made of.
struct NodeTerms {
  std::vector<double> value = {0}, magnitude = {0};
};

NodeTerms node_terms(const CostNetwork& n, const Recipe& r, const Table& t, const std::vector<double>& prices) {
  NodeTerms terms;
  if (r.kind < 0) return terms;
  terms.value.clear();
  terms.magnitude.clear();
  const Kind& kind = n.kinds[r.kind];
  for (std::size_t x = 0; x < r.allowed.size(); ++x) {
    const int s = r.allowed[x];
    const double whole = priced(kind, s, prices), size = std::abs(kind.cost[s]) + (whole - kind.cost[s]);
    if (r.shares == 1) {
      terms.value.push_back(whole);
      terms.magnitude.push_back(size);
      continue;
    }
    // All shares of the node must add up to no more than the whole.
    const double error = margin * (r.shares + n.rows() + 4) * (std::abs(t.share[x]) + size);
    terms.value.push_back(t.share[x] - error);
    terms.magnitude.push_back(std::abs(t.share[x]) + error);
  }
  return terms;
}

Message rounded_down(const CostNetwork& n, const Shape& shape, Recipe recipe, const NodeTerms& node,
                     const std::vector<Message>& earlier) {
  Message m{std::move(recipe), std::vector<double>(shape.entries), {}};
  if (m.recipe.shares > 1) m.share = node.value;
  const double terms = static_cast<double>(m.recipe.parts.size()) + n.rows() + 4;
  for_each_entry(m.recipe, shape, [&](int entry, const int* offsets) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t x = 0; x < node.value.size(); ++x) {
      double sum = node.value[x], magnitude = node.magnitude[x];
      for (std::size_t p = 0; p < m.recipe.parts.size(); ++p) {
        const Part& part = m.recipe.parts[p];
        const std::vector<double>& values = part.is_pair ? n.pairs[part.source].values : earlier[part.source].values;
        const int strategy = m.recipe.kind < 0 ? 0 : m.recipe.allowed[x];
        const double term = values[offsets[p] + strategy * shape.node_stride(static_cast<int>(p))];
        sum += term;
        magnitude += std::abs(term);
      }
      least = std::min(least, sum - margin * terms * magnitude);
    }
    m.values[entry] = least;
  });
  return m;
}

}  // namespace

Certificate certify(const CostNetwork& n, const Elimination& e, const Messages& m) {
  Certificate c;
  c.prices = m.prices;
  c.steps = e.steps();
  std::vector<int> message_of(e.recipes().size(), -1);
  for (const int r : e.in_use()) {
    message_of[r] = static_cast<int>(c.messages.size());
    Recipe recipe = e.recipes()[r];
    for (Part& p : recipe.parts)
      if (!p.is_pair) p.source = message_of[p.source];
    const NodeTerms node = node_terms(n, recipe, m.tables[r], m.prices);
    c.messages.push_back(rounded_down(n, e.shapes()[r], std::move(recipe), node, c.messages));
  }
  for (const int r : e.recipe_of()) c.message_of.push_back(message_of[r]);
  double bound = e.root() < 0 ? 0 : c.messages[c.message_of[e.root()]].values[0], magnitude = std::abs(bound);
  for (int r = 0; r < n.rows(); ++r) {
    const double term = m.prices[r] * static_cast<double>(n.limits[r]);
    bound -= term;
    magnitude += term;
  }
  c.bound = bound - margin * (n.rows() + 4) * magnitude;
  return c;
}

}  // namespace planscope::layouts
