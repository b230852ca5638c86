#pragma once
// What is still to be chosen once all `?x` have values: splits, algorithms, places, orders. Choices of one statement that
// are equal up to the layer (module paths with their numbers taken out, factors of equal names and sizes) and that the same
// `forbid` rows restrict are one choice, and so are a module's parameters.
//
//   trans L.mlp.{gate,up}_proj out|in|none by tensor      two choices for 32 layers: gate_proj, up_proj
//
// Where the plan is one that is known with a line more, what that one has is a choice's `now`: choices that differ in it are
// not one, so that the known plan is among those that are tried.
//
// A chosen value is written as a line `auto …` behind its statement: the statement itself with one word where all its
// choices agree, else one line for each set of operators.
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::constraint {

struct Choice {
  plan::OpenChoice::Kind kind = plan::OpenChoice::Kind::split;
  int statement = -1;  // index into Decisions::plan.statements
  plan::Phase phase = plan::Phase::forward;
  int axis = -1;
  int place = -1;         // of places: the open one, into Decisions::places
  std::vector<int> rows;  // operators or parameters; algorithms: indices into Decisions::algorithms
  std::vector<std::string> words;
  int now = -1;                                // into `words`: what is known to be so; none
  std::vector<std::vector<int>> forbidden_by;  // for each word the lines of the `forbid` rows that exclude it
  bool operator==(const Choice&) const = default;
};

class Forbids;

// The word that a known plan has where these decisions leave a choice; empty: none.
using Now = std::function<std::string(const plan::Decisions&, const plan::OpenChoice&)>;

// `more`: rows that were bound before and are not among the decisions' own.
std::vector<Choice> fold_choices(const plan::Decisions&, const plan::ModelInfo&, const Forbids* more = nullptr,
                                 const Now& now = nullptr);

// The plan with its open values and `picks[i]`, a position in `choices[i].words`, written down as `auto` lines.
plan::Plan completed(const plan::Plan&, const plan::Decisions&, const plan::ModelInfo&, const plan::OpenValues&,
                     const std::vector<Choice>& choices, const std::vector<int>& picks);

// `model.layers.3.mlp` and its like as few paths as possible: `model.layers[0:4].mlp`.
std::vector<std::string> merged_paths(const std::vector<std::string>& modules);

}  // namespace planscope::constraint
