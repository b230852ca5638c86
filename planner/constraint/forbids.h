#pragma once
// `forbid` rows by what they speak of, so that an operator's choice meets only those of its own.
//
// Rows that forbid splits and speak of no open value mean the same for every value: they are bound once, with the values
// open, and stay out of the plan when an assignment is bound (`settled`). What decisions break of them is seen here, then.
//
//   const Forbids forbids = Forbids::settled(open_decisions, rows);
//   forbids.lines();                       // rows that need not be bound again
//   forbids.broken(decisions, model);      // those that a statement breaks
//   forbids.need_evaluation(decisions);    // those that may be broken by what no statement decides: it follows
#include <map>
#include <set>
#include <string>
#include <vector>

#include "planner/constraint/choices.h"
#include "planner/constraint/row_sets.h"

namespace planscope::constraint {

class Forbids {
 public:
  Forbids() = default;
  explicit Forbids(const plan::Decisions&, const std::set<int>& but = {});  // all rows of these but for some lines
  static Forbids settled(const plan::Decisions& open, const Rows& rows);

  const std::set<int>& lines() const { return lines_; }
  bool fits(const plan::Decisions&) const;  // whether these have the axes that the rows were bound with

  // For each word of a choice of one operator, parameter or unit the lines that exclude it, ascending.
  std::vector<std::vector<int>> of(const plan::Decisions&, const Choice&) const;
  void add(const plan::Decisions&, const Choice&, std::vector<std::vector<int>>& lines) const;

  std::set<int> broken(const plan::Decisions&, const plan::ModelInfo&) const;
  std::set<int> need_evaluation(const plan::Decisions&) const;

 private:
  struct Algorithms {
    plan::Algorithm algorithm;
    int line;
  };
  struct Places {
    plan::ForbiddenPlace place;
    int line;
  };
  struct Row {
    std::size_t cell = 0;
    int factor = 0, line = 0;
  };
  struct Cells {
    std::size_t count = 0;  // of the table
    std::vector<Row> rows;  // by cell
  };
  void prepare(const plan::Decisions&);
  void take(const plan::Decisions&, const plan::ForbidRow&);
  void sort();
  void splits(const plan::Decisions&, const Choice&, std::vector<std::vector<int>>& out) const;
  void algorithms(const plan::Decisions&, const Choice&, std::vector<std::vector<int>>& out) const;
  void places(const plan::Decisions&, const Choice&, std::vector<std::vector<int>>& out) const;

  std::set<int> lines_;
  std::vector<std::string> axes_;
  std::map<plan::Phase, Cells> splits_;
  std::vector<std::vector<Places>> places_;          // by operator
  std::vector<std::vector<Algorithms>> algorithms_;  // by operator
};

}  // namespace planscope::constraint
