#pragma once
// What a plan does with every operator and parameter, in the words of the plan language: which factor it splits over an axis,
// where it is, what waits for backward. As the Program has it, so of what no statement decides too.
//
//   OperatorFacts facts(materialized, info);
//   facts.does(plan::Phase::forward, op, axis)      `out`, `none`, `partial` (a partial value passes)
//   facts.place(op)                                 `pipe=0`
//
// Refers to what it is made from.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/materialize.h"

namespace planscope {

class OperatorFacts {
 public:
  OperatorFacts(const Materialized&, const plan::ModelInfo&);

  // Rows are operators in the forward phase, else parameters; axes are indices into Decisions::axes. Of parameters, what
  // statements say: where none does, `none`.
  std::string does(plan::Phase, int row, int axis) const;
  // The factor: plan::kNone where it splits none; nothing where it does what no one word says.
  std::optional<int> factor(plan::Phase, int row, int axis) const;
  const plan::Split& split(plan::Phase, int row, int axis) const;
  const std::vector<plan::FactorInfo>& factors(plan::Phase, int row) const;
  std::string factor_name(plan::Phase, int row, int factor) const;  // by which a plan can name it; may be empty

  std::vector<const Binding*> bindings(int op, const std::string& axis) const;
  std::string place(int op) const;  // by index of a free axis: all, `pipe=0; pipe=1`; empty: it does not run
  // Of an axis, where the operator is; 0: the place has no such axis.
  std::int64_t indices(int op, const std::string& axis, bool free) const;
  std::string storage(int algorithm_unit) const;  // of operator_storage, update_storage: `keep` where nobody said

 private:
  const std::string& axis_name(AxisId) const;

  struct Runs {
    const PieceOp* op = nullptr;
    PlaceId place = 0;
  };
  const plan::Decisions& d_;
  const Program& p_;
  const plan::ModelInfo& info_;
  std::vector<Runs> of_;  // by operator
};

}  // namespace planscope
