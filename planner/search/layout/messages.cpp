#include "planner/search/layout/messages.h"

#include <algorithm>
#include <limits>

namespace planscope::layouts {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What one part adds at an offset.
struct Source {
  const double* values;
  const Table* table;  // null: a pair, whose values are its costs
  int node_stride;
};

std::vector<Source> sources(const CostNetwork& n, const Elimination& e, const std::vector<Table>& tables, int r) {
  std::vector<Source> out;
  const Recipe& recipe = e.recipes()[r];
  for (std::size_t p = 0; p < recipe.parts.size(); ++p) {
    const Part& part = recipe.parts[p];
    const int stride = e.shapes()[r].node_stride(static_cast<int>(p));
    if (part.is_pair)
      out.push_back({n.pairs[part.source].values.data(), nullptr, stride});
    else
      out.push_back({tables[part.source].value.data(), &tables[part.source], stride});
  }
  return out;
}

double sum_at(const std::vector<Source>& parts, const int* offsets, int strategy) {
  double sum = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) sum += parts[p].values[offsets[p] + strategy * parts[p].node_stride];
  return sum;
}

// Shares of a node: equal parts of its cost and memory, shifted so that each group is as dear as the average at each
// strategy ("moment matching", Ihler et al. 2012); the shifts add up to nothing.
void set_shares(const CostNetwork& n, const Elimination& e, int first, Messages& m) {
  const int shares = e.recipes()[first].shares;
  const std::vector<int>& allowed = e.recipes()[first].allowed;
  const Kind& kind = n.kinds[e.recipes()[first].kind];
  std::vector<std::vector<double>> least(shares, std::vector<double>(allowed.size(), infinity));
  std::vector<double> average(allowed.size());
  for (int g = 0; g < shares; ++g) {
    const std::vector<Source> parts = sources(n, e, m.tables, first + g);
    for_each_entry(e.recipes()[first + g], e.shapes()[first + g], [&](int, const int* offsets) {
      for (std::size_t x = 0; x < allowed.size(); ++x)
        least[g][x] = std::min(least[g][x], sum_at(parts, offsets, allowed[x]));
    });
    for (std::size_t x = 0; x < allowed.size(); ++x) average[x] += least[g][x] / shares;
  }
  for (int g = 0; g < shares; ++g) {
    Table& t = m.tables[first + g];
    t.share.resize(allowed.size());
    t.share_cost.resize(allowed.size());
    for (std::size_t x = 0; x < allowed.size(); ++x) {
      const double shift = average[x] - least[g][x];
      t.share_cost[x] = kind.cost[allowed[x]] / shares + shift;
      t.share[x] = priced(kind, allowed[x], m.prices) / shares + shift;
    }
  }
}

std::vector<double> node_values(const CostNetwork& n, const Recipe& r, const Table& t,
                                const std::vector<double>& prices) {
  if (r.kind < 0) return {0};
  if (r.shares > 1) return t.share;
  std::vector<double> out;
  for (const int s : r.allowed) out.push_back(priced(n.kinds[r.kind], s, prices));
  return out;
}

void add_below(const CostNetwork& n, const Recipe& r, const std::vector<Source>& parts, const int* offsets, int entry,
               int x, Table& t) {
  const int rows = n.rows(), strategy = r.kind < 0 ? 0 : r.allowed[x];
  double cost = 0;
  double* memory = rows ? &t.memory[static_cast<std::size_t>(entry) * rows] : nullptr;
  if (r.kind >= 0) {
    cost = r.shares > 1 ? t.share_cost[x] : n.kinds[r.kind].cost[strategy];
    for (int row = 0; row < rows; ++row)
      memory[row] = static_cast<double>(n.kinds[r.kind].memory[row][strategy]) / r.shares;
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const int at = offsets[p] + strategy * parts[p].node_stride;
    cost += parts[p].table ? parts[p].table->cost[at] : parts[p].values[at];
    if (!parts[p].table) continue;
    for (int row = 0; row < rows; ++row)
      memory[row] += parts[p].table->memory[static_cast<std::size_t>(at) * rows + row];
  }
  t.cost[entry] = cost;
}

void fill(const CostNetwork& n, const Elimination& e, int r, Messages& m) {
  const Recipe& recipe = e.recipes()[r];
  Table& t = m.tables[r];
  const int entries = e.shapes()[r].entries;
  t.value.resize(entries);
  t.cost.resize(entries);
  t.choice.resize(entries);
  t.memory.assign(static_cast<std::size_t>(entries) * n.rows(), 0);
  const std::vector<Source> parts = sources(n, e, m.tables, r);
  const std::vector<double> node = node_values(n, recipe, t, m.prices);
  for_each_entry(recipe, e.shapes()[r], [&](int entry, const int* offsets) {
    double least = infinity;
    int best = 0;
    for (std::size_t x = 0; x < node.size(); ++x) {
      const double sum = node[x] + sum_at(parts, offsets, recipe.kind < 0 ? 0 : recipe.allowed[x]);
      if (sum >= least) continue;
      least = sum;
      best = static_cast<int>(x);
    }
    t.value[entry] = least;
    t.choice[entry] = recipe.kind < 0 ? 0 : recipe.allowed[best];
    add_below(n, recipe, parts, offsets, entry, best, t);
  });
}

int entry_of(const CostNetwork& n, const std::vector<int>& scope, const Choice& choice) {
  int entry = 0;
  for (const int u : scope) entry = entry * n.kind(u).strategies() + choice[u];
  return entry;
}

// What the steps of a shared node and its costs come to at one of its strategies, later nodes being decided.
double joint_value(const CostNetwork& n, const Elimination& e, const Messages& m, int last, int strategy,
                   Choice& choice) {
  const Step& end = e.steps()[last];
  choice[end.node] = strategy;
  double sum = priced(n.kind(end.node), strategy, m.prices);
  for (int s = last - end.shares + 1; s <= last; ++s) {
    for (const int child : e.steps()[s].messages)
      sum += m.tables[e.recipe_of()[child]].value[entry_of(n, e.steps()[child].scope, choice)];
    for (const int edge : e.steps()[s].edges) {
      const Edge& x = n.edges[edge];
      sum += n.pairs[x.pair].at(choice[x.from], choice[x.to]);
    }
  }
  return sum;
}

}  // namespace

double priced(const Kind& kind, int strategy, const std::vector<double>& prices) {
  double sum = kind.cost[strategy];
  for (std::size_t r = 0; r < prices.size(); ++r) sum += prices[r] * static_cast<double>(kind.memory[r][strategy]);
  return sum;
}

Messages evaluate(const CostNetwork& n, const Elimination& e, const std::vector<double>& prices) {
  Messages m;
  m.prices = prices;
  m.tables.resize(e.recipes().size());
  m.memory.assign(n.rows(), 0);
  for (const int r : e.in_use()) {
    const Recipe& recipe = e.recipes()[r];
    if (recipe.shares > 1 && recipe.share == 0) set_shares(n, e, r, m);
    fill(n, e, r, m);
  }
  if (e.root() < 0) return m;
  const Table& root = m.tables[e.recipe_of()[e.root()]];
  m.value = root.value[0];
  m.cost = root.cost[0];
  m.memory.assign(root.memory.begin(), root.memory.end());
  return m;
}

Choice decode(const CostNetwork& n, const Elimination& e, const Messages& m) {
  Choice choice(n.nodes.size(), 0);
  for (int s = e.root(); s >= 0; --s) {
    const Step& step = e.steps()[s];
    if (step.node < 0) continue;
    if (step.shares == 1) {
      choice[step.node] = m.tables[e.recipe_of()[s]].choice[entry_of(n, step.scope, choice)];
      continue;
    }
    if (step.share != step.shares - 1) continue;
    double least = infinity;
    int best = 0;
    for (const int x : e.recipes()[e.recipe_of()[s]].allowed) {
      const double value = joint_value(n, e, m, s, x, choice);
      if (value >= least) continue;
      least = value;
      best = x;
    }
    choice[step.node] = best;
  }
  return choice;
}

}  // namespace planscope::layouts
