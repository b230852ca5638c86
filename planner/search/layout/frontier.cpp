#include "planner/search/layout/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace planscope::layouts {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Frontier::Frontier(const CostNetwork& n, const Elimination& e, const Messages& m)
    : n_(n), e_(e), m_(m), in_use_(e.in_use()) {
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

void Frontier::extend_entry(const Group& g, int entry, const int* offsets, double budget, Selection& selection,
                            double& work) const {
  const int r = g.recipe;
  const Recipe& recipe = e_.recipes()[r];
  const Shape& shape = e_.shapes()[r];
  const int rows = n_.rows(), root = e_.recipe_of()[e_.root()];
  std::vector<double> base(rows), memory(rows), floor(rows), ceiling(rows);
  // What the rest needs at most is free: less than this is worth nothing. With what it needs at least, it must fit.
  for (int row = 0; row < rows; ++row) {
    const double limit = static_cast<double>(n_.limits[row]);
    floor[row] = std::max(0.0, limit - (most_[root][row] - most_[r][row]));
    ceiling[row] = limit - (least_[root][row] - least_[r][row]);
  }
  const auto offer = [&](const Label& label, const double* a, const double* b) {
    for (int row = 0; row < rows; ++row) {
      memory[row] = std::max(base[row] + (a ? a[row] : 0) + (b ? b[row] : 0), floor[row]);
      if (memory[row] > ceiling[row]) return;
    }
    selection.add(label, memory.data());
  };
  const int strategies = recipe.kind < 0 ? 1 : static_cast<int>(recipe.allowed.size());
  for (int x = 0; x < strategies; ++x) {
    const int s = recipe.kind < 0 ? 0 : recipe.allowed[x];
    double sum = recipe.kind < 0 ? 0 : priced(n_.kinds[recipe.kind], s, m_.prices);
    double cost = recipe.kind < 0 ? 0 : n_.kinds[recipe.kind].cost[s];
    int at[2] = {0, 0}, children = 0;
    for (std::size_t p = 0; p < recipe.parts.size(); ++p) {
      const Part& part = recipe.parts[p];
      const int offset = offsets[p] + s * shape.node_stride(static_cast<int>(p));
      sum += part.is_pair ? n_.pairs[part.source].values[offset] : m_.tables[part.source].value[offset];
      if (part.is_pair)
        cost += n_.pairs[part.source].values[offset];
      else
        at[children++] = offset;
    }
    const double excess = std::max(0.0, sum - m_.tables[r].value[entry]);
    if (excess > budget) continue;
    for (int row = 0; row < rows; ++row)
      base[row] = recipe.kind < 0 ? 0 : static_cast<double>(n_.kinds[recipe.kind].memory[row][s]);
    if (children == 0) {
      offer({excess, cost, -1, -1, s}, nullptr, nullptr);
      continue;
    }
    const Group& a = groups_[g.children[0]];
    for (std::int32_t i = a.begin[at[0]]; i < a.begin[at[0] + 1]; ++i) {
      const Label& la = a.labels.labels[i];
      if (excess + la.excess > budget) break;
      const double* ma = &a.labels.memory[static_cast<std::size_t>(i) * rows];
      ++work;
      if (children == 1) {
        offer({excess + la.excess, cost + la.cost, i, -1, s}, ma, nullptr);
        continue;
      }
      const Group& b = groups_[g.children[1]];
      for (std::int32_t j = b.begin[at[1]]; j < b.begin[at[1] + 1]; ++j) {
        const Label& lb = b.labels.labels[j];
        if (excess + la.excess + lb.excess > budget) break;
        ++work;
        offer({excess + la.excess + lb.excess, cost + la.cost + lb.cost, i, j, s}, ma,
              &b.labels.memory[static_cast<std::size_t>(j) * rows]);
      }
    }
  }
}

void Frontier::extend(Group& g, const FrontierOptions& o, FrontierAnswer& answer) const {
  const double slack = 1e-12 * std::max(1.0, std::abs(m_.value));  // of rounding
  Selection selection(n_.rows(), o.points);
  selection.aim(aim(g, o));
  for_each_entry(e_.recipes()[g.recipe], e_.shapes()[g.recipe], [&](int entry, const int* offsets) {
    g.begin.push_back(static_cast<std::int32_t>(g.labels.size()));
    const double budget = o.cutoff - excess_[g.recipe][entry] + slack;
    if (budget < 0 || answer.work > o.work) return;
    extend_entry(g, entry, offsets, budget, selection, answer.work);
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
