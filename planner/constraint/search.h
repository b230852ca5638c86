#pragma once
// The walk through the space of one plan: assignments of `?x`, and for each of them the choices that are left.
#include <map>
#include <string>
#include <vector>

#include "planner/constraint/choices.h"
#include "planner/constraint/lines.h"
#include "planner/constraint/tracked_solver.h"

namespace planscope::constraint {

// Evaluations by the text of the complete plan without the user's `require` rows, which bind and judge apart: plans that
// differ in these alone share them. `forbid` rows stay, they are held against what follows.
class Evaluations {
 public:
  explicit Evaluations(const Judge& judge) : judge_(judge) {}
  const Result<Evaluation>& of(const plan::Plan&);
  int count() const { return static_cast<int>(known_.size()); }

 private:
  const Judge& judge_;
  std::map<std::string, Result<Evaluation>> known_;
};

// Models at the sizes that a plan sets.
class Models {
 public:
  explicit Models(const Judge& judge) : judge_(judge) {}
  const Result<plan::ModelInfo>& at(const plan::InputSizes&);

 private:
  const Judge& judge_;
  std::map<plan::InputSizes, Result<plan::ModelInfo>> known_;
};

struct Found {
  plan::Plan plan;  // with joint line numbers
  plan::OpenValues values;
  Evaluation evaluation;
};

// Stands among the lines of a core where it rests on what was not tried. It is no line.
constexpr int kUntried = 0;

struct SearchResult {
  std::vector<Diagnostic> errors;    // the plan does not bind, whatever its open values are
  std::optional<Found> best;         // breaks no row
  bool exhausted = false;            // every combination was looked at or excluded
  bool partial = false;              // there are values beyond those that the search knows to try
  std::vector<int> core;             // exhausted and nothing found: lines that exclude everything
  std::vector<Diagnostic> refusals;  // of evaluations that no line explains
  int assignments = 0;
  std::string reason;  // not exhausted: why
  bool ended = false;  // by a limit, before it was done
};

// `any`: ends with the first plan that breaks no row.
SearchResult search(const Joined&, const Judge&, Models&, Evaluations&, const Deadline&, const Limits&, bool any);

}  // namespace planscope::constraint
