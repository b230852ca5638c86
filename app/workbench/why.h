#pragma once
// Why an operator does what it does: for every axis, its place and what it keeps for backward, which statement or which cost
// decided, and what each other choice would come to.
//
// Operators that are equal up to the layer and that the plan treats alike are one answer, and its alternatives are tried on
// all of them. What computes most comes first; views, which cost nothing, have alternatives only where nothing else is asked
// about. `update(X)`, `grad(X)` and `fetch(X)` ask about the parameters that X reads.
//
//   Result<Why> w = why(base, "transformer.h[*].mlp.c_fc", {});
//   for (const OperatorAnswer& a : w->answers)
//     for (const Choice& c : a.choices) c.about, c.does, c.line, c.alternatives       // tensor: out, line 6 (use tp(L, tensor))
//
// Alternatives are tried with try_statement (tried.h), at most WhySettings::most of them.
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/tried.h"
#include "engine/program/followed.h"

namespace planscope {

struct DecidedBy {
  std::optional<StatementRef> line;  // nothing: no statement does
  std::string template_line;         // of a template: its own line
  bool automatic = false;            // the planner wrote the line, by cost
  std::string follows;               // without a line: how it was decided (`keeps its operands as they are held`, …)
  std::vector<FollowCost> compared;  // … and what the choices cost that were compared, the chosen one first
};

struct ChoiceAnswer {
  std::string
      about;  // the name of an axis; `place`; `backward`, what waits for it (keep, recompute, offload); `state`, that
              // of the optimizer (keep, offload); `order`
  std::string does;  // `out`, `none`, `pipe=0`, `keep`; of an order: nothing
  DecidedBy by;
  std::vector<Tried> alternatives;
};

struct OperatorAnswer {
  std::string operators;   // as a selection: `transformer.h[*].mlp.c_fc`
  std::string example;     // the name of the first one that the question names
  int first = -1;          // its number: an operator, or a parameter
  std::int64_t count = 0;  // of operators (parameters) that it is about: all that are equal and treated alike
  std::int64_t asked = 0;  // of those, how many the question names
  std::vector<ChoiceAnswer> choices;
};

struct Why {
  std::vector<OperatorAnswer> answers;
  std::int64_t left_out = 0;  // alternatives that were not tried
};

struct WhySettings {
  std::string about = {};  // one axis, `place`, `backward`, `state` or `order`; empty: all
  std::int64_t most = 96;  // alternatives tried
  // The selection that alternatives are written with; empty: that of all operators which are equal and treated alike.
  std::string words = {};
};

// Errors: a selection that does not parse or matches nothing.
Result<Why> why(const BasePlan&, const std::string& operators, const WhySettings&);

// The same with nothing tried yet: of the alternatives, the statements alone.
Result<Why> questions(const BasePlan&, const std::string& operators, const WhySettings&);

}  // namespace planscope
