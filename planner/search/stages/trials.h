#pragma once
// Plans of the space that were made and simulated, each once and for all rows: which rows it breaks is noted beside it.
//
//   Trials trials(graph, cluster, shape, settings, rules, cache);
//   const Tried& t = trials.tried(configuration, {rows, false, deadline});
//   if (t.candidate && counted(t.broken, rows).empty()) t.candidate->step_us;
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planner/search/stages/open_rows.h"
#include "planner/search/stages/rules.h"
#include "planner/search/stages/stages.h"
#include "planner/solver/deadline.h"

namespace planscope::stages {

struct FoundOrders {
  std::vector<Configuration> plans;  // the same with orders that were searched for
  double least_us = 0;               // not 0: they were not, as no order takes less
};

struct Tried {
  std::optional<Candidate> candidate;  // nothing: it cannot be made
  std::set<int> broken;                // rows, as far as known
  constraint::Rows rows = {};          // that it was made with: those that stand in it as lines of the plan; where some
                                       // leave something open, all that were asked for
  std::int64_t excess = 0;             // bytes beyond the devices' memory
  std::vector<std::int64_t> stage_peaks = {};   // bytes of each stage's fullest device
  std::map<int, std::int64_t> row_excess = {};  // beyond memory rows
  bool refused = false;                         // for a reason that is no row: the host has too little memory, …
  std::vector<Diagnostic> refusal = {};         // the first
  // By bytes that orders were to keep to.
  std::map<std::int64_t, FoundOrders> orders = {};
};

// What a search asks for.
struct Asked {
  constraint::Rows rows;  // that count
  bool any = false;       // the first plan that keeps the rows will do
  const Deadline* deadline = nullptr;
  double best_us =
      std::numeric_limits<double>::infinity();  // step that is known: orders that take as long are not looked for
  bool ahead = false;  // beside the search, which may come to it later
  bool may_give_up = false;  // there is something else: what is under way when the time is over is given up
};

std::vector<int> counted(const std::set<int>& rows, const constraint::Rows& counting);  // of these those that count

struct Excess {
  std::int64_t bytes = 0;
  std::vector<int> row;  // whose limit is exceeded most; none: the device's
};
Excess excess_of(const Tried&, const constraint::Rows& counting);

class Trials {
 public:
  Trials(const Graph&, const Cluster&, const ModelShape&, const Settings&, const Rules&, MaterializeCache&);

  // Made with all rows that it is not known to break, until it breaks one that counts, or breaks no more. Threads that ask for the
  // same rows may ask at once, but for orders that are searched.
  const Tried& tried(const Configuration&, const Asked&);
  // The same with orders that were searched for, within the memory of devices and rows; none: it has its own, any plan will do,
  // or no order is short enough.
  std::vector<Configuration> orders(const Tried&, const Asked&) const;

  // Of the plans on so many devices that were made and keep the rows, the shortest; nothing: there is none.
  bool layers_in_turn() const { return shape_.unit_count() > 1 && shape_.calls == 1; }  // each once
  const Candidate* keeping(const constraint::Rows&, std::int64_t devices) const;

  // Of a device, in the predictions of plans that keep these rows; of `memory_row`, or kDeviceMemory: as of the smallest.
  std::optional<std::int64_t> least_predicted(int memory_row, const constraint::Rows&, std::int64_t smallest) const;

  // The rows of these that lines of the plan break by themselves, as far as plans with the same lines were refused.
  std::vector<int> broken_by_lines(const Configuration&, const constraint::Rows& counting) const;

  bool gave_up() const { return open_.gave_up(); }  // on what rows leave open

 private:
  constraint::Rows made_with(const constraint::Rows& asked) const;
  bool rows_decide() const;
  static std::pair<std::int64_t, std::string> deciding(const Configuration&, std::string line);  // its Deciding
  std::int64_t memory(const Asked&) const;  // bytes of a device, at most
  FoundOrders with_orders(const Configuration&, const Materialized&, const Simulation&, const Asked&) const;
  void take(Tried&, const Materialized&, const Simulation&, Candidate) const;
  struct Kept;
  void make(Kept&, const Configuration&, const std::string& script, const Asked&);
  void refuse(Kept&, const Configuration&, const std::string& script, std::vector<Diagnostic> why);
  void see(Kept&, const Asked&);

  const Graph& graph_;
  const Cluster& cluster_;
  const ModelShape& shape_;
  const Settings& settings_;
  const Rules& rules_;
  MaterializeCache& cache_;
  using Deciding = std::pair<std::int64_t, std::string>;  // a line; of templates' lines with the size of groups
  struct Kept {
    Tried tried;
    bool seen = false;                              // by the search itself
    std::int64_t work = 0;                          // that it took, until it is seen
    std::vector<std::pair<Deciding, int>> learned;  // rows that forbid what a line splits, until it is seen
    std::mutex making;
  };
  std::map<std::pair<std::string, constraint::Rows>, Kept> tried_;  // by script, and the rows that it was to have
  mutable std::mutex finding_;  // in these
  std::map<Deciding, std::set<int>> broken_by_;  // by line (split_lines), the rows that forbid what it splits
  OpenRows open_;
  const Deadline late_;  // for whatever is under way, even where there is nothing else; who stops a search gets some plan
};

}  // namespace planscope::stages
