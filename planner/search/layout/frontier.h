#pragma once
// Good choices that keep the memory limits, near the best prices. Exact eliminations only.
//
// At the best prices, a choice that keeps the limits and costs at most bound + cutoff has *excess* (its priced value above
// the least one) of at most `cutoff`, and excess adds up over the messages. So per entry of each distinct message the
// labels (cost, memory) are kept whose excess, with the least excess of any choice through that entry, stays within the
// cutoff; one pass up, as in evaluation. If no label had to be dropped but dominated ones, the cheapest at the root is
// the optimum, or, if there is none, no choice within the cutoff exists.
//
// Where labels are too many, a first search spreads them over all memory. Later ones start from the best choice so far
// and keep labels near the memory that it needs in each part of the network: equal parts with equal memory share them.
#include <optional>

#include "planner/search/layout/prices.h"
#include "planner/search/layout/selection.h"

namespace planscope::layouts {

struct FrontierOptions {
  double cutoff = 0;               // of excess
  int points = 16;                 // labels per entry
  const Choice* around = nullptr;  // the best choice so far
  double distance = 0.05;          // of memory from that of `around`: this part of its price counts against a label
  double tolerance = 0;            // cost differences below it do not matter
  double work = 1e7;               // pairs of labels looked at, at most
};

struct FrontierAnswer {
  std::optional<Choice> choice;  // keeps the limits
  bool complete = false;         // nothing but dominated labels was dropped
  double work = 0;
  bool ended = false;  // by work or limit: nothing is known
};

class Frontier {
 public:
  Frontier(const CostNetwork&, const Elimination&, const Messages&);
  FrontierAnswer search(const FrontierOptions&, const Ended&);

 private:
  // A message in places that are treated alike, with its labels.
  struct Group {
    int recipe = -1;
    int children[2] = {-1, -1};  // groups
    std::vector<double> target;  // [row]; empty: none
    Labels labels;
    std::vector<std::int32_t> begin;  // [entry], and the end
  };
  struct Room {
    std::vector<double> floor, ceiling;  // [row], of the memory of a label
  };
  struct Taken {
    double value = 0, cost = 0;  // with and without prices
    std::vector<double> memory;  // [row]
    int children = 0, at[2] = {0, 0};
  };
  double rounding(double cutoff) const;
  void set_excess();
  void set_memory_ranges();
  void set_groups(const Choice* around);
  std::vector<Aim> aim(const Group&, const FrontierOptions&) const;
  void extend(Group&, const FrontierOptions&, FrontierAnswer&) const;
  void extend_entry(const Group&, const Room&, int entry, const int* offsets, double budget, Selection&,
                    double& work) const;
  Room room(int recipe) const;
  void take(int recipe, int strategy, const int* offsets, Taken&) const;
  Choice trace() const;

  const CostNetwork& n_;
  const Elimination& e_;
  const Messages& m_;
  const double gains_;  // costs below zero: at most this together
  std::vector<int> in_use_;
  std::vector<std::vector<double>> excess_;        // [recipe][entry]: least of any choice through it, in any place
  std::vector<std::vector<double>> least_, most_;  // [recipe][row]: memory of what a message stands for
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // [step]
};

}  // namespace planscope::layouts
