#include "planner/search/layout/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

#include "planner/search/layout/anneal.h"
#include "planner/search/layout/descent.h"
#include "planner/search/layout/frontier.h"

namespace planscope::layouts {

namespace {

constexpr double rounding = 1e-10;   // relative: bound and cost that differ by less meet
constexpr double few_choices = 2e4;  // of so small a network all are looked at, whatever work that is

// What the rounding of a choice's cost is relative to.
double magnitude_of(const CostNetwork& n, const Choice& choice) {
  double sum = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) sum += std::abs(n.kind(static_cast<int>(i)).cost[choice[i]]);
  for (const Edge& e : n.edges) sum += std::abs(n.pairs[e.pair].at(choice[e.from], choice[e.to]));
  return sum;
}

// No choice costs more.
double highest_cost(const CostNetwork& n) {
  std::vector<double> kinds, pairs;
  for (const Kind& k : n.kinds) kinds.push_back(*std::max_element(k.cost.begin(), k.cost.end()));
  for (const Matrix& m : n.pairs)
    pairs.push_back(m.values.empty() ? 0 : *std::max_element(m.values.begin(), m.values.end()));
  double sum = 0;
  for (const int k : n.nodes) sum += kinds[k];
  for (const Edge& e : n.edges) sum += pairs[e.pair];
  return sum;
}

// How many choices there are, as far as that is few.
double choices_of(const CostNetwork& n, const Locks& locks) {
  double choices = 1;
  for (std::size_t i = 0; i < n.nodes.size() && choices <= few_choices; ++i)
    choices *= static_cast<double>(allowed_strategies(n, locks, static_cast<int>(i)).size());
  return choices;
}

// The best choice so far and what it is held against.
class Search {
 public:
  Search(const CostNetwork& n, const Elimination& e, const Messages& m, const SolveOptions& o, Answer& a)
      : n_(n),
        options_(o),
        answer_(a),
        frontier_(n, e, m),
        highest_(highest_cost(n)),
        size_(std::max(std::abs(a.lower_bound), 1e-12 * (highest_ - a.lower_bound))) {}

  void run(double choices) {
    spread();
    for (int points = 96; points <= 6144 && answer_.outcome == Outcome::unknown && !done(); points *= 4)
      look(excess(), points, false);
    narrow();
    go_on();
    if (decided() || choices > few_choices || options_.ended()) return;
    work_ = 0;
    limit_ = std::numeric_limits<double>::infinity();
    look(excess(), static_cast<int>(few_choices), false);
  }

 private:
  bool found() const { return answer_.outcome == Outcome::found; }
  bool decided() const { return answer_.optimal || answer_.outcome == Outcome::impossible; }
  double gap() const { return answer_.cost - answer_.lower_bound; }

  double work_of_nodes() const { return options_.work_of_node * static_cast<double>(n_.nodes.size()); }

  // At most: nothing dearer than the best is of use.
  double excess() const { return std::max(0.0, (found() ? answer_.cost : highest_) - bound_); }

  bool done() const {
    return decided() || work_ > limit_ || options_.ended() || (found() && gap() <= enough_ * std::abs(answer_.cost));
  }

  // The cutoff grows until there is a choice, or none can be left; it ends at once where the best one is already closer
  // than the cutoff.
  void spread() {
    for (double cutoff = 1e-5 * size_; !done(); cutoff *= 2) {
      const bool all = cutoff >= excess();
      if (all) cutoff = excess();
      const bool better = look(cutoff, 24, false);
      if (all || (better && excess() <= 5 * cutoff)) break;
    }
  }

  // As long as the gap is wide: around the best choice and, every other time, from the start, where that one is far off.
  void go_on() {
    const double most = work_of_nodes();
    enough_ = std::max(options_.wide, std::min(1.5 / static_cast<double>(n_.nodes.size()), options_.wide_of_few));
    for (bool again = false; found() && limit_ < most; again = !again) {
      limit_ = std::min(3 * limit_, most);
      if (done()) break;
      if (again) spread();
      narrow();
    }
  }

  void narrow() {
    for (int points = 32; points <= 512 && !done(); points *= 4) {
      prove_near(16 * points);
      refine(points);
      prove_near(16 * points);
      if (!done()) look(excess(), 16 * points, false);
    }
  }

  // That the best choice is near enough, where fewer choices than all cheaper ones say so; by a little more than enough, as
  // what is proven is rounded down.
  void prove_near(int points) {
    if (done() || !found()) return;
    const double near = answer_.cost - 0.99 * enough_ * std::abs(answer_.cost) - bound_;
    if (near > 0 && near <= excess() / 2) look(near, points, false);
  }

  // What the best choice has of excess, and growing parts of what it leaves of memory, in cost.
  void refine(int points) {
    for (const double part : {1.0 / 64, 1.0 / 8, 1.0})
      while (!done() && found()) {
        const double used = excess_of_best();
        if (!look(used + part * (excess() - used), points, true)) break;
      }
  }

  double excess_of_best() const {
    double left = excess();
    for (int row = 0; row < n_.rows(); ++row)
      left -= answer_.prices[row] * static_cast<double>(n_.limits[row] - memory_of(n_, answer_.choice)[row]);
    return std::min(std::max(left, 0.0), excess());
  }

  // A better choice; never twice for the same.
  bool look(double cutoff, int points, bool around) {
    const Choice best = answer_.choice;
    const auto asked = std::tuple(around ? best : Choice{}, points, cutoff);
    if (looked_at_.contains(asked)) return false;
    FrontierOptions o;
    o.cutoff = cutoff;
    o.points = points;
    o.around = around ? &best : nullptr;
    o.tolerance = options_.tolerance * size_;
    o.work = (limit_ - work_) / (around ? 2 : 1);
    const FrontierAnswer seen = frontier_.search(o, options_.ended);
    work_ += seen.work + 1;
    if (!seen.ended) looked_at_.insert(asked);
    const bool better = seen.choice && offer(*seen.choice);
    if (seen.complete) conclude(cutoff);
    return better;
  }

  bool offer(const Choice& choice) {
    const double cost = cost_of(n_, choice);
    if (found() && cost >= answer_.cost) return false;
    answer_.outcome = Outcome::found;
    answer_.choice = choice;
    answer_.cost = cost;
    return true;
  }

  // All choices within the cutoff were looked at, so nothing else is cheaper than this.
  void conclude(double cutoff) {
    const double proven = bound_ + cutoff, size = std::abs(bound_) + cutoff;
    if (!found() && cutoff >= excess()) {
      answer_.outcome = Outcome::impossible;
    } else if (found() && answer_.cost <= proven + 8 * std::numeric_limits<double>::epsilon() * size) {
      answer_.optimal = true;
      answer_.lower_bound = answer_.cost;
    } else {
      answer_.lower_bound = std::max(answer_.lower_bound, proven - rounding * size);
    }
  }

  const CostNetwork& n_;
  const SolveOptions& options_;
  Answer& answer_;
  Frontier frontier_;
  const double highest_, size_;
  const double bound_ = answer_.lower_bound;  // that of the prices: excess is counted from it
  double work_ = 0, limit_ = options_.work + work_of_nodes() / 64;
  double enough_ = options_.tolerance;  // of the relative gap
  std::set<std::tuple<Choice, int, double>> looked_at_;
};

std::string method_of(const Elimination& e) {
  if (e.exact()) return "elimination (width " + std::to_string(e.width()) + ")";
  return "bound by mini-buckets of " + std::to_string(static_cast<long long>(e.table_limit())) +
         " entries; the treewidth is too high for exact elimination";
}

}  // namespace

std::string_view to_string(Outcome o) {
  return o == Outcome::found ? "found" : o == Outcome::impossible ? "impossible" : "unknown";
}

double Answer::gap() const {
  if (optimal || outcome != Outcome::found) return 0;
  return cost == 0 ? std::numeric_limits<double>::infinity() : (cost - lower_bound) / std::abs(cost);
}

Solver::Solver(CostNetwork n, SolveOptions o)
    : network_(std::move(n)), options_(std::move(o)), elimination_((network_), options_.elimination) {}

void Solver::search(const Locks& locks, const Priced& priced, const MemoryQuestion& question, Answer& a) const {
  const auto take = [&](const Choice& c) {
    if (!fits(network_, memory_of(network_, c))) return false;
    const double cost = cost_of(network_, c);
    if (a.outcome == Outcome::found && cost >= a.cost) return false;
    a.outcome = Outcome::found;
    a.choice = c;
    a.cost = cost;
    return true;
  };
  for (const Choice& c : question.choices) take(c);
  if (!last_.empty()) {  // the last answer, as far as the locks leave it
    Choice c = last_;
    for (const auto& [node, allowed] : locks)
      if (std::find(allowed.begin(), allowed.end(), c[node]) == allowed.end()) c[node] = allowed.front();
    if (take(c)) take(Descent(network_, locks).from(c, {}, true, options_.ended));
  }
  if (priced.keeping) take(decode(network_, elimination_, *priced.keeping));
  take(decode(network_, elimination_, priced.messages));
  const auto met = [&] {
    return a.outcome == Outcome::found && a.cost - a.lower_bound <= rounding * magnitude_of(network_, a.choice);
  };
  if (elimination_.exact() && network_.rows() == 0) a.optimal = true;  // that choice is the least, but for rounding
  if (!met() && elimination_.exact() && network_.rows() > 0 && !options_.ended()) {
    SolveOptions options = options_;
    if (!last_.empty()) options.work_of_node = 0;  // an answer that is near is there, and one is waited for
    Search(network_, elimination_, priced.messages, options, a).run(choices_of(network_, locks));
  }
  if (a.outcome == Outcome::impossible) {
    a.certificate.reset();
    return;
  }
  if (!met() && (!elimination_.exact() || a.outcome != Outcome::found)) {
    std::vector<Choice> starts = question.choices;
    if (a.outcome == Outcome::found) starts.push_back(a.choice);
    if (const auto c = descend(network_, locks, elimination_, priced.messages, starts, options_.ended)) take(*c);
    const Descent descent(network_, locks);
    const auto offer = [&](const Choice& c) { return take(descent.from(c, {}, true, options_.ended)); };
    const auto closed = [&] {
      return options_.ended() || met() || (a.outcome == Outcome::found && a.gap() <= options_.tolerance);
    };
    anneal(network_, locks, priced.messages.prices,
           a.outcome == Outcome::found ? a.choice : decode(network_, elimination_, priced.messages), options_.changes,
           offer, closed);
  }
  a.optimal = a.optimal || met();
}

Answer Solver::solve(const Locks& locks) {
  if (const auto bad = faults(network_, locks); !bad.empty()) throw std::invalid_argument(to_string(bad));
  Answer a;
  a.least_memory = least_memory(network_, locks);
  const MemoryQuestion question = can_memory_be_kept(network_, locks);
  if (question.impossible) {
    a.outcome = Outcome::impossible;
    a.impossibility = question.impossible;
    a.method = "least memory of each node";
    return a;
  }
  elimination_.lock(network_, locks);
  const Priced priced = best_prices(network_, elimination_, question.choices, options_.ended);
  a.prices = priced.messages.prices;
  a.certificate = certify(network_, elimination_, priced.messages);
  a.lower_bound = a.certificate->bound;
  a.method = method_of(elimination_);
  a.distinct_messages = static_cast<int>(a.certificate->messages.size());
  a.steps = static_cast<int>(a.certificate->steps.size());
  search(locks, priced, question, a);
  if (a.outcome == Outcome::found) {
    a.memory = memory_of(network_, a.choice);
    last_ = a.choice;
  }
  a.ended = options_.ended();
  return a;
}

}  // namespace planscope::layouts
