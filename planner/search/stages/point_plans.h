#pragma once
// Plans of points of the space: made with the cuts that the costs of their layers ask for, and others where predictions say
// otherwise; of those that keep the rows of a search, the best.
//
//   PointPlans plans(cluster, spaces, trials, rules);
//   plans.ask({rows, false, &deadline});
//   plans.limit(point, cuts);                         // raises the bound of the point to that of its cuts under the rows
//   plans.make(point, cuts);
//   plans.best[0].step_us
#include <limits>
#include <optional>
#include <vector>

#include "planner/search/stages/limits.h"
#include "planner/search/stages/spaces.h"
#include "planner/search/stages/trials.h"

namespace planscope::stages {

// Why a point has no plan under the rows: `together`, and one of `any`.
struct Missed {
  constraint::Rows together;
  std::vector<int> any;
};

// How a point's plan is made.
struct Making {
  bool beside = false;  // a better one
  double spare =
      0;  // the part of a device's memory that its first cut leaves: predictions may need more than costs say
};

class PointPlans {
 public:
  // What cuts of a point take under rows: by the costs that its bound is from, and by those of its plan.
  struct Cuts {
    Limits::Known bound, plan;
  };

  PointPlans(const Cluster&, Spaces&, Trials&, const Rules&);
  void ask(const Asked&);  // from now on; nothing is kept
  // The same, beside the search: what it makes is there when the search comes to it, and decides nothing before.
  PointPlans ahead() const;
  const Limits& limits() const { return *limits_; }

  // Raises the bound to that of the best cut under the rows; infinite: none fits.
  Missed limit(Point&, Cuts&);
  // Keeps the point's plan if there is one. A bound that becomes infinite: there is none.
  Missed make(Point&, Cuts&, const Making& = {});
  // Keeps this plan itself if it fits, whatever its layers take.
  bool make_as_it_is(const Configuration&);
  // What the best cut takes that spares so much, by the costs; nothing: none does, or they are not known.
  std::optional<double> step_us(const Point&, double spare) const;
  // Whether some cut fits with a little to spare: then a plan does, even if the costs of its layers are a little wrong.
  bool fits_well(const Point&) const;
  // One for each shape: runner-ups that differ in micro-batches alone tell nothing.
  void keep(Candidate);

  std::vector<Candidate> best;                  // by step
  std::int64_t simulated = 0;                   // plans
  std::int64_t least_bytes = Spaces::kNoBytes;  // that a device needs, of plans that need too much
  bool there_is_one = false;                    // a plan to go on with, made beside these
  bool lacked = false;                    // some point was tried, and all plans that were made of it need too much
  std::vector<Diagnostic> first_refusal;  // of plans that could not be made, whatever was asked for

 private:
  // The time is over, and there is something.
  bool late() const { return !best.empty() && asked_.deadline->expired(); }
  const Tried& best_order(const Configuration&, const Point&, bool& fits);
  // What layers take with all that is known of them, on devices with so much memory.
  std::optional<Space::Costs> costs_within(const Configuration&, std::int64_t memory) const;
  std::optional<Space::Costs> sparing(const Point&, double spare) const;
  std::optional<std::int64_t> refine(Configuration&, std::int64_t memory, const std::vector<std::int64_t>& less = {});
  void learn(const Configuration&, std::int64_t memory, const Tried&, const Excess&, std::vector<std::int64_t>& less);
  bool approach(Configuration, const Point&, std::int64_t memory);
  void overlap(Candidate here, const Point&);
  void shift(Candidate here, const Point&, std::int64_t memory);
  std::vector<PlayedCut> shifted(const Configuration&, std::int64_t memory);

  const Cluster& cluster_;
  Spaces& spaces_;
  Trials& trials_;
  const Rules& rules_;
  Asked asked_;
  std::optional<Limits> limits_;
  std::int64_t shifts_ = 0;
};

}  // namespace planscope::stages
