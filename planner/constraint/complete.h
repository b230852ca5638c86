#pragma once
// Completion: a plan with open arguments in, the same plan with the holes filled out.
//
// Open are `?x` (sizes, words), `a|b` of an axis' size, `out|in|none` of a split, `recompute|keep`, places, `order ?`.
// Rows are `require`, `forbid`, `where`, memory rows, and what devices and divisibility ask by themselves. Every line of
// the user is one tracked assumption of a Z3 solver. The values of `?x` are enumerated; for each of them the plan is
// bound, and what binding refuses is learned as impossible under the lines that it names. Choices of one statement that
// are equal up to the layer are one choice. A complete plan is judged by `Judge::evaluate`; a memory row that it breaks
// is learned too.
//
// Objective: the shortest step that keeps all rows. Where an assignment of `?x` leaves at most `exhaustive` combinations
// of choices, all are evaluated; else coordinate descent from the first choices, or from what `Judge::now` says where that
// is better, the most promising assignment first.
//
// The answer is one of three:
//   complete    `plan` has a line `auto …` behind each statement with a hole (`auto require ?t = 2`, `auto trans …`); it
//               parses and binds with its given values (plan::given_values).
//               `lower_bound_us` is that of the whole space; `optimal` where the space was exhausted or the bound met:
//               relative to the evaluation function, the space and the rows.
//   impossible  `conflicts` holds sets of lines that cannot all hold although every proper subset can: all such sets of
//               rows if `all_conflicts`, each row with what taking it out comes to. Statements that are no rows are named
//               where the plan without them is known to be possible.
//   unknown     the limit was reached, or choices were too many to exhaust; the best found so far that breaks no row is
//               in `plan`, if there is one; else the plan itself, if its own `auto` lines complete it. Where everything
//               that is tried was excluded (but there is more than that), `conflicts` says by what.
//
// Errors: a plan that does not bind, whatever its open values are (the diagnostics of binding).
// Deterministic, unless `seconds` have passed or `*stop` was set from another thread before it came to its end.
//
//   Judge judge{inputs, model_at, evaluate, least_peaks, least_stored};
//   Result<Completion> c = complete(plan, {}, judge, {.seconds = 60});
//   if (c->outcome == Outcome::complete) std::cout << plan::print(*c->plan);
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/plan/bind.h"
#include "planner/constraint/choices.h"
#include "planner/constraint/relaxed.h"
#include "planner/solver/deadline.h"

namespace planscope::constraint {

// What a complete plan comes to. Peaks by device class: the devices that have it.
struct Peak {
  std::vector<int> devices;
  std::int64_t bytes = 0;
  bool operator==(const Peak&) const = default;
};
struct Evaluation {
  double step_us = 0;
  std::vector<Peak> peaks;
  bool operator==(const Evaluation&) const = default;
};

// What is known about the model and the cluster.
struct Judge {
  std::vector<plan::InputDimension> inputs;
  std::function<Result<std::shared_ptr<const plan::ModelInfo>>(const plan::InputSizes&)>
      model;  // beside other calls, too
  // Of complete plans; an error: it cannot be done. Threads ask at once.
  std::function<Result<Evaluation>(const plan::Plan&)> evaluate;
  // What plans need at least that are like this one in all but the order of tasks, of which they keep the order rows that
  // are not `auto`; may be absent.
  std::function<std::vector<Peak>(const plan::Plan&)> least_peaks;
  // What devices store at least, of plans with choices that are open: at least one of each peak's devices stores so much. May
  // be absent.
  std::function<std::vector<Peak>(const plan::Decisions&)> least_stored;
  Now now;                                // of a known plan; search begins with it. May be absent
  std::function<double()> one_device_us;  // no device alone is faster; 0: not known. May be absent
  std::int64_t device_count = 0;          // of the cluster
};

struct Limits {
  double seconds = 60;
  int exhaustive = 64;            // combinations of choices, for one assignment of `?x`
  int assignments = 4096;         // of `?x`
  bool explain = true;            // the conflicts, where it is impossible
  // Work (solver/deadline.h): of all; and for more conflicts than the first, and for what taking lines out comes to.
  std::int64_t work = Deadline::kAnyWork, relaxing_work = 4'000'000;
  const std::atomic<bool>* stop = nullptr;
  const Clock* clock = nullptr;  // of `seconds`; none: the machine's
  // Called when there is a better plan that keeps all rows; the bound is 0: it is known at the end.
  std::function<void(double step_us, double lower_bound_us)> progress = {};
};

// By how much the largest peak at the row's place is above its limit; 0: it is not.
std::int64_t excess_bytes(const plan::Decisions&, const plan::MemoryRow&, const std::vector<Peak>&);

enum class Outcome : std::uint8_t { complete, impossible, unknown };
std::string_view to_string(Outcome);

struct Completion {
  Outcome outcome = Outcome::unknown;
  std::optional<plan::Plan> plan;
  plan::OpenValues values;  // of `?x`
  Evaluation evaluation;
  double lower_bound_us = 0;
  bool optimal = false;
  double gap() const;  // (step - bound) / step; 0 where optimal
  std::vector<ConflictLines> conflicts;
  bool all_conflicts = false;  // there are no others
  int assignments = 0, evaluations = 0;
  std::int64_t work = 0;  // that was done
  std::string reason;  // unknown: what ended the search
};

// `rows`: plans of constraint rows (the same language); their other statements count as if they stood in the plan.
Result<Completion> complete(const plan::Plan&, const std::vector<plan::Plan>& rows, const Judge&, const Limits& = {});

}  // namespace planscope::constraint
