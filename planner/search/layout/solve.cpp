#include "planner/search/layout/solve.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "planner/search/layout/descent.h"
#include "planner/search/layout/frontier.h"

namespace planscope::layouts {

namespace {

constexpr double most_excess = 1e6;  // relative: more is not looked for
constexpr double rounding = 1e-10;   // relative: bound and cost that differ by less meet

// The best choice so far and what it is held against.
class Search {
 public:
  Search(const CostNetwork& n, const Elimination& e, const Messages& m, const SolveOptions& o, Answer& a)
      : n_(n), options_(o), answer_(a), frontier_(n, e, m), size_(std::max(std::abs(a.lower_bound), 1e-300)) {}

  void run() {
    spread();
    if (answer_.outcome != Outcome::found) return;
    for (int points = 32; points <= 512 && !done(); points *= 4) {
      refine(points);
      if (!done()) look(excess(), 16 * points, false);
    }
  }

  bool offer(const Choice& choice) {
    const double cost = cost_of(n_, choice);
    if (answer_.outcome == Outcome::found && cost >= answer_.cost) return false;
    answer_.outcome = Outcome::found;
    answer_.choice = choice;
    answer_.cost = cost;
    return true;
  }

 private:
  double gap() const { return answer_.cost - answer_.lower_bound; }
  double excess() const { return answer_.cost - bound_; }  // at most: nothing dearer than the best is of use
  bool done() const {
    return answer_.optimal || work_ > options_.work || options_.ended() ||
           (answer_.outcome == Outcome::found && gap() <= options_.tolerance * size_);
  }

  // The cutoff grows until there is a choice; it ends at once where the best one is already closer than the cutoff.
  void spread() {
    for (double cutoff = 1e-5 * size_; !done(); cutoff *= 2) {
      const bool all = answer_.outcome == Outcome::found && cutoff >= excess();
      if (all) cutoff = excess();
      const bool better = look(cutoff, 24, false);
      if (all || (better && excess() <= 30 * cutoff) || cutoff > most_excess * size_) break;
    }
  }

  // What the best choice has of excess, and growing parts of what it leaves of memory, in cost.
  void refine(int points) {
    for (const double part : {1.0 / 64, 1.0 / 8, 1.0})
      while (!done()) {
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

  bool look(double cutoff, int points, bool around) {
    const bool targeted = around && answer_.outcome == Outcome::found;
    const Choice best = answer_.choice;
    FrontierOptions o;
    o.cutoff = cutoff;
    o.points = points;
    o.around = targeted ? &best : nullptr;
    o.tolerance = options_.tolerance * size_;
    o.work = (options_.work - work_) / (targeted ? 2 : 1);
    const FrontierAnswer found = frontier_.search(o, options_.ended);
    work_ += found.work + 1;
    const bool better = found.choice && offer(*found.choice);
    if (found.complete) {
      // Nothing is cheaper than this.
      const double proven = bound_ + cutoff - rounding * size_;
      if (answer_.outcome == Outcome::found && answer_.cost <= proven + 2 * rounding * size_) {
        answer_.optimal = true;
        answer_.lower_bound = answer_.cost;
      } else {
        answer_.lower_bound = std::max(answer_.lower_bound, proven);
      }
    }
    return better;
  }

  const CostNetwork& n_;
  const SolveOptions& options_;
  Answer& answer_;
  Frontier frontier_;
  const double size_;
  const double bound_ = answer_.lower_bound;  // that of the prices: excess is counted from it
  double work_ = 0;
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
  return (cost - lower_bound) / std::max(std::abs(cost), 1e-300);
}

Solver::Solver(CostNetwork n, SolveOptions o)
    : network_(std::move(n)), options_(std::move(o)), elimination_((network_), options_.elimination) {}

void Solver::search(const Locks& locks, const Priced& priced, const MemoryQuestion& question, Answer& a) const {
  const auto take = [&](const Choice& c) {
    if (!fits(network_, memory_of(network_, c))) return;
    const double cost = cost_of(network_, c);
    if (a.outcome == Outcome::found && cost >= a.cost) return;
    a.outcome = Outcome::found;
    a.choice = c;
    a.cost = cost;
  };
  for (const Choice& c : question.choices) take(c);
  if (priced.keeping) take(decode(network_, elimination_, *priced.keeping));
  take(decode(network_, elimination_, priced.messages));
  const auto met = [&] {
    return a.outcome == Outcome::found && a.cost - a.lower_bound <= rounding * std::max(1.0, std::abs(a.cost));
  };
  if (!met() && elimination_.exact() && network_.rows() > 0)
    Search(network_, elimination_, priced.messages, options_, a).run();
  if (!met() && (!elimination_.exact() || a.outcome != Outcome::found)) {
    std::vector<Choice> starts = question.choices;
    if (a.outcome == Outcome::found) starts.push_back(a.choice);
    if (const auto c = descend(network_, locks, elimination_, priced.messages, starts, options_.ended)) take(*c);
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
  if (a.outcome == Outcome::found) a.memory = memory_of(network_, a.choice);
  a.ended = options_.ended();
  return a;
}

}  // namespace planscope::layouts
