#pragma once
// The user's rows over whole plans, by number (1, 2, … in the order of their lines). What rows ask of the sizes of axes, and
// what `memory(all)` leaves of a device, and which layers `forbid … recompute` keeps from being computed again (or `forbid …
// offload` from going to host memory), is known of a point of the space before a plan is made of it; other rows (other `forbid`, memory of a part) are held against the plan.
//
//   Rules rules(settings.rows);                       // require |tensor| >= 4 \n require memory(all) <= 40GiB
//   rules.broken_by(configuration, rules.all());      // {1} where tensor < 4
//   rules.memory_under(rules.all());                  // row 2, 40 GiB
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/base/memo.h"
#include "planner/constraint/lines.h"
#include "planner/search/stages/configuration.h"

namespace planscope::stages {

class Rules {
 public:
  explicit Rules(const std::vector<plan::Plan>& rows);
  // What rows say of layers; before this, nothing. Errors: rows that mean nothing whatever the sizes of axes are (an unknown name).
  std::vector<Diagnostic> read(const plan::ModelInfo&, const ModelShape&);

  const constraint::Rows& all() const { return all_; }
  const constraint::PlanLine& line(int row) const { return joined_.at(row); }

  std::vector<int> broken_by(const Configuration&, const constraint::Rows& counted) const;

  struct Memory {
    int row = 0;
    std::int64_t bytes = 0;
  };
  std::optional<Memory> memory_under(const constraint::Rows& counted) const;  // the least that `memory(all)` rows allow
  std::optional<std::int64_t> memory_of(int row) const;                       // nothing: it is no such row
  // The least that rows may leave of a device, whichever are counted. 0: not known, as one is of some devices alone.
  std::int64_t least_memory() const;

  // Of each layer, whether it may not be computed again, whole or in pieces, or offloaded, as the configuration has it; empty:
  // all may.
  std::vector<bool> only_once(const Configuration&, const constraint::Rows& counted) const;
  constraint::Rows once_under(const constraint::Rows& counted) const;  // the rows that say so

  // The rows that are no restrictions, but statements of a plan: `trans`, `assign`, `order`, ….
  constraint::Rows statements(const constraint::Rows& counted) const;
  bool leave_open() const { return leave_open_; }  // something of these
  // Whether the row forbids splits, the same in all plans from nothing, whatever their sizes and stages.
  bool forbids_always(int row) const { return std::binary_search(always_.begin(), always_.end(), row); }
  // Those of a plan that holds the rows, as `auto` lines, with what a planner chose for them.
  std::string text(const plan::Plan& joined) const;

  // The script with all rows but those that are looked at beforehand and `left_out`; of a line of the result its row, 0: none.
  plan::Plan joined(const plan::Plan& script, const std::set<int>& left_out) const;
  int row_of(int line) const { return line > kOwn ? line - kOwn : 0; }

 private:
  static constexpr int kOwn = 1'000'000;  // scripts have fewer lines

  struct SizeRow {
    int row = 0;
    plan::Condition condition;
  };
  // Layers that cannot be computed again whole, as something of them may not be, or in pieces, as something of their blocks; and
  // whether none is to be offloaded: those that are follow one another.
  struct OnceRow {
    int row = 0;
    std::vector<bool> whole, pieces;
    bool offload = false;
  };
  std::vector<Diagnostic> wrong(const plan::ModelInfo&, const ModelShape&);
  std::optional<Diagnostic> told(const Diagnostic&) const;  // at the user's line; nothing: it is of no row

  constraint::Joined joined_;
  constraint::Rows statements_, all_;
  std::vector<SizeRow> sizes_;
  using Sizes = std::array<std::int64_t, 4>;           // pipe, data, tensor, mb
  mutable Memo<Sizes, std::vector<int>> broken_ = {};  // the rows that plans of these sizes break
  std::vector<Memory> memory_;
  bool memory_of_some_ = false;
  std::vector<OnceRow> once_;
  constraint::Rows always_;
  bool leave_open_ = false;
};

}  // namespace planscope::stages
