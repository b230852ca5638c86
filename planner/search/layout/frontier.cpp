#include "planner/search/layout/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace planscope::layouts {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double most_gain(const std::vector<double>& costs) {
  double least = 0;
  for (const double cost : costs) least = std::min(least, cost);
  return -least;
}

double gains(const CostNetwork& n) {
  std::vector<double> kinds, pairs;
  for (const Kind& k : n.kinds) kinds.push_back(most_gain(k.cost));
  for (const Matrix& m : n.pairs) pairs.push_back(most_gain(m.values));
  double sum = 0;
  for (const int k : n.nodes) sum += kinds[k];
  for (const Edge& e : n.edges) sum += pairs[e.pair];
  return sum;
}

}  // namespace

Frontier::Frontier(const CostNetwork& n, const Elimination& e, const Messages& m)
    : n_(n), e_(e), m_(m), gains_(gains(n)), in_use_(e.in_use()) {
  set_excess();
  set_memory_ranges();
}

void Frontier::set_groups(const Choice* around) {
  groups_.clear();
  group_of_.assign(e_.steps().size(), -1);
  std::map<std::tuple<int, int, int, std::vector<double>>, int> known;
  for (std::size_t s = 0; s < e_.steps().size(); ++s) {
    const Step& step = e_.steps()[s];
    Group g;
    g.recipe = e_.recipe_of()[s];
    if (around) g.target.resize(n_.rows());
    for (std::size_t k = 0; k < step.messages.size(); ++k) {
      g.children[k] = group_of_[step.messages[k]];
      for (std::size_t row = 0; row < g.target.size(); ++row) g.target[row] += groups_[g.children[k]].target[row];
    }
    if (step.node >= 0)
      for (std::size_t row = 0; row < g.target.size(); ++row)
        g.target[row] += static_cast<double>(n_.kind(step.node).memory[row][(*around)[step.node]]);
    const auto [it, added] =
        known.try_emplace({g.recipe, g.children[0], g.children[1], g.target}, static_cast<int>(groups_.size()));
    if (added) groups_.push_back(std::move(g));
    group_of_[s] = it->second;
  }
}

std::vector<Aim> Frontier::aim(const Group& g, const FrontierOptions& o) const {
  std::vector<Aim> out(n_.rows());
  for (int row = 0; row < n_.rows(); ++row) {
    const double price = m_.prices[row];
    out[row].unit = price > 0 ? std::max(1.0, o.tolerance / price) : std::max(1.0, 1e-3 * most_[g.recipe][row]);
    if (g.target.empty()) continue;
    out[row].target = g.target[row];
    out[row].distance = o.distance * price;
  }
  return out;
}

// Downwards: through an entry of a message goes the best of the entries of those that count it.
void Frontier::set_excess() {
  excess_.resize(e_.recipes().size());
  for (const int r : in_use_) excess_[r].assign(e_.shapes()[r].entries, infinity);
  excess_[e_.recipe_of()[e_.root()]][0] = 0;
  for (auto it = in_use_.rbegin(); it != in_use_.rend(); ++it) {
    const Recipe& recipe = e_.recipes()[*it];
    const Shape& shape = e_.shapes()[*it];
    const std::vector<double>& value = m_.tables[*it].value;
    const int strategies = recipe.kind < 0 ? 1 : static_cast<int>(recipe.allowed.size());
    for_each_entry(recipe, shape, [&](int entry, const int* offsets) {
      for (int x = 0; x < strategies; ++x) {
        const int s = recipe.kind < 0 ? 0 : recipe.allowed[x];
        double sum = recipe.kind < 0 ? 0 : priced(n_.kinds[recipe.kind], s, m_.prices);
        for (std::size_t p = 0; p < recipe.parts.size(); ++p) {
          const Part& part = recipe.parts[p];
          const auto& values = part.is_pair ? n_.pairs[part.source].values : m_.tables[part.source].value;
          sum += values[offsets[p] + s * shape.node_stride(static_cast<int>(p))];
        }
        const double through = excess_[*it][entry] + std::max(0.0, sum - value[entry]);
        for (std::size_t p = 0; p < recipe.parts.size(); ++p) {
          if (recipe.parts[p].is_pair) continue;
          double& below = excess_[recipe.parts[p].source][offsets[p] + s * shape.node_stride(static_cast<int>(p))];
          below = std::min(below, through);
        }
      }
    });
  }
}

void Frontier::set_memory_ranges() {
  least_.resize(e_.recipes().size());
  most_.resize(e_.recipes().size());
  for (const int r : in_use_) {
    const Recipe& recipe = e_.recipes()[r];
    least_[r].assign(n_.rows(), 0);
    most_[r].assign(n_.rows(), 0);
    for (int row = 0; row < n_.rows(); ++row) {
      double low = infinity, high = 0;
      for (const int s : recipe.allowed) {
        const double memory = static_cast<double>(n_.kinds[recipe.kind].memory[row][s]);
        low = std::min(low, memory);
        high = std::max(high, memory);
      }
      least_[r][row] = recipe.kind < 0 ? 0 : low;
      most_[r][row] = high;
      for (const Part& part : recipe.parts) {
        if (part.is_pair) continue;
        least_[r][row] += least_[part.source][row];
        most_[r][row] += most_[part.source][row];
      }
    }
  }
}

// What the rest of the network needs at most is free: less than that is worth nothing. With what it needs at least, a
// label must fit. A limit beyond all that can be needed is no more than that: else labels that are each raised to what is
// free would not fit side by side.
Frontier::Room Frontier::room(int r) const {
  Room room;
  const int root = e_.recipe_of()[e_.root()];
  for (int row = 0; row < n_.rows(); ++row) {
    const double limit = std::min(static_cast<double>(n_.limits[row]), most_[root][row]);
    room.floor.push_back(std::max(0.0, limit - (most_[root][row] - most_[r][row])));
    room.ceiling.push_back(limit - (least_[root][row] - least_[r][row]));
  }
  return room;
}

// One strategy of the eliminated node at one entry: what it adds by itself, and where its messages are read.
void Frontier::take(int r, int strategy, const int* offsets, Taken& t) const {
  const Recipe& recipe = e_.recipes()[r];
  t.value = t.cost = 0;
  t.children = 0;
  t.memory.assign(n_.rows(), 0);
  if (recipe.kind >= 0) {
    const Kind& kind = n_.kinds[recipe.kind];
    t.value = priced(kind, strategy, m_.prices);
    t.cost = kind.cost[strategy];
    for (int row = 0; row < n_.rows(); ++row) t.memory[row] = static_cast<double>(kind.memory[row][strategy]);
  }
  for (std::size_t p = 0; p < recipe.parts.size(); ++p) {
    const Part& part = recipe.parts[p];
    const int at = offsets[p] + strategy * e_.shapes()[r].node_stride(static_cast<int>(p));
    t.value += part.is_pair ? n_.pairs[part.source].values[at] : m_.tables[part.source].value[at];
    if (part.is_pair)
      t.cost += n_.pairs[part.source].values[at];
    else
      t.at[t.children++] = at;
  }
}

void Frontier::extend_entry(const Group& g, const Room& room, int entry, const int* offsets, double budget,
                            Selection& selection, double& work) const {
  const Recipe& recipe = e_.recipes()[g.recipe];
  const int rows = n_.rows();
  std::vector<double> memory(rows);
  const auto offer = [&](const Label& label, const double* own, const double* a, const double* b) {
    ++work;
    for (int row = 0; row < rows; ++row) {
      memory[row] = std::max(own[row] + (a ? a[row] : 0) + (b ? b[row] : 0), room.floor[row]);
      if (memory[row] > room.ceiling[row]) return;
    }
    selection.add(label, memory.data());
  };
  Taken t;
  for (std::size_t x = 0; x < std::max<std::size_t>(1, recipe.allowed.size()); ++x) {
    const int s = recipe.kind < 0 ? 0 : recipe.allowed[x];
    take(g.recipe, s, offsets, t);
    const double excess = std::max(0.0, t.value - m_.tables[g.recipe].value[entry]);
    if (excess > budget) continue;
    if (t.children == 0) {
      offer({excess, t.cost, -1, -1, s}, t.memory.data(), nullptr, nullptr);
      continue;
    }
    const Group& a = groups_[g.children[0]];
    for (std::int32_t i = a.begin[t.at[0]]; i < a.begin[t.at[0] + 1]; ++i) {
      const Label& la = a.labels.labels[i];
      if (excess + la.excess > budget) break;
      const double* ma = a.labels.memory.data() + static_cast<std::size_t>(i) * rows;
      if (t.children == 1) {
        offer({excess + la.excess, t.cost + la.cost, i, -1, s}, t.memory.data(), ma, nullptr);
        continue;
      }
      const Group& b = groups_[g.children[1]];
      for (std::int32_t j = b.begin[t.at[1]]; j < b.begin[t.at[1] + 1]; ++j) {
        const Label& lb = b.labels.labels[j];
        if (excess + la.excess + lb.excess > budget) break;
        offer({excess + la.excess + lb.excess, t.cost + la.cost + lb.cost, i, j, s}, t.memory.data(), ma,
              b.labels.memory.data() + static_cast<std::size_t>(j) * rows);
      }
    }
  }
}

// By how much the excess of a choice within the cutoff can be off: its terms are together no more than its value without
// the gains, and the gains.
double Frontier::rounding(double cutoff) const { return 1e-12 * (std::abs(m_.value) + cutoff + 2 * gains_); }

void Frontier::extend(Group& g, const FrontierOptions& o, FrontierAnswer& answer) const {
  const double slack = rounding(o.cutoff);
  Selection selection(n_.rows(), o.points);
  selection.aim(aim(g, o));
  const Room around = room(g.recipe);
  for_each_entry(e_.recipes()[g.recipe], e_.shapes()[g.recipe], [&](int entry, const int* offsets) {
    g.begin.push_back(static_cast<std::int32_t>(g.labels.size()));
    const double budget = o.cutoff - excess_[g.recipe][entry] + slack;
    if (budget < 0 || answer.work > o.work) return;
    extend_entry(g, around, entry, offsets, budget, selection, answer.work);
    selection.move_to(g.labels);
  });
  g.begin.push_back(static_cast<std::int32_t>(g.labels.size()));
  if (selection.lost()) answer.complete = false;
}

FrontierAnswer Frontier::search(const FrontierOptions& o, const Ended& ended) {
  FrontierAnswer answer;
  answer.complete = true;
  set_groups(o.around);
  for (Group& g : groups_) {
    extend(g, o, answer);
    if (answer.work <= o.work && !ended()) continue;
    answer.ended = true;
    answer.complete = false;
    return answer;
  }
  if (groups_[group_of_[e_.root()]].labels.size() > 0) answer.choice = trace();
  return answer;
}

Choice Frontier::trace() const {
  Choice choice(n_.nodes.size(), 0);
  std::vector<std::int32_t> label(e_.steps().size(), -1);
  const auto& last = groups_[group_of_[e_.root()]].labels.labels;
  const auto best =
      std::min_element(last.begin(), last.end(), [](const Label& a, const Label& b) { return a.cost < b.cost; });
  label[e_.root()] = static_cast<std::int32_t>(best - last.begin());
  for (int s = e_.root(); s >= 0; --s) {
    const Step& step = e_.steps()[s];
    const Label& l = groups_[group_of_[s]].labels.labels[label[s]];
    if (step.node >= 0) choice[step.node] = l.choice;
    if (!step.messages.empty()) label[step.messages[0]] = l.a;
    if (step.messages.size() > 1) label[step.messages[1]] = l.b;
  }
  return choice;
}

}  // namespace planscope::layouts
