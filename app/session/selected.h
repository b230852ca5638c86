#pragma once
// What a selection means in a document: one value for all views. A module or selector means its operators, a statement
// those that it decides, a place those that run there, a tensor the operator that makes it (of a parameter: those that
// read it), a communicator those that make what it sends.
//
//   Selected s = selected({.operators = "L.mlp"}, graph, plan, cache);
//   s.operators   // ids, ascending
//   s.words       // `L.mlp`, as a statement about them is written
//   locate(s, selection, graph, program); s.classes
//
// Errors: `problem` says why a selection means nothing.
#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/workbench/effects.h"
#include "app/workbench/traffic.h"
#include "engine/program/materialize.h"

namespace planscope::session {

struct Selection {
  std::string operators, tensor, place;
  int statement = 0;
  std::string communicator = {};  // `all_reduce over tensor at pipe=0`; several, a line each
  bool none() const {
    return operators.empty() && tensor.empty() && place.empty() && statement == 0 && communicator.empty();
  }
  bool operator==(const Selection&) const = default;
};

struct Selected {
  std::string words;  // that name the operators in the plan language; of update(…) and its like: with the phase; of a
                      // place: none
  std::string task;   // of one task, `b(S[1])[2]`: the whole of it
  std::vector<OpId> operators;  // ascending
  std::vector<int> parameters;  // into Graph::parameters: those of update(…) and its like, else those that are read
  std::vector<TensorId> tensors;  // of a tensor itself, or that a communicator sends; ascending
  std::vector<int> classes;                  // device classes of the Program that run the operators
  std::vector<int> devices;                  // of a place, in the order of its coordinates
  std::vector<std::pair<std::string, int>> communicators;  // by communicator_name() and device class, ascending
  int statement = 0;                         // its line
  plan::Phase phase = plan::Phase::forward;  // that the words name
  std::string problem;
  bool of_parameters() const {  // update(…), grad(…), fetch(…)
    return phase == plan::Phase::update || phase == plan::Phase::grad || phase == plan::Phase::fetch;
  }
};

Selection chosen_by(const Invocation& select);  // of the command `select`
Invocation select_command(const Selection&);    // that chooses it

// Without a Program: places mean no operators and no classes yet.
Selected selected(const Selection&, const Graph&, const plan::Plan&, MaterializeCache&);
Selected selected(const Selection&, const MaterializeCache::Sized&, const plan::Plan&);  // at the sizes that it has
// What only the Program knows: the operators that run at a place, and the device classes.
void locate(Selected&, const Selection&, const Graph&, const Program&);
// Of a communicator: what it sends, and the device classes that do; by all the communication of a step.
void locate(Selected&, const Selection&, const Graph&, const TrafficFacts&);
// What names stand for, a line each: a communicator, all that are called so without what tells them apart, or a part of
// one by communicator_name(); each with its device class, ascending. Empty: nothing.
std::vector<std::pair<std::string, int>> communicators_named(const TrafficFacts&, const std::string& names);

}  // namespace planscope::session
