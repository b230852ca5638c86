#pragma once
// The modules of a model as they are called: a tree of module instances with their operators, in program order,
// before anything is
// folded (fold.h). A module that is called several times is there once for each call; lists of modules are opened,
// so that what is in
// a list stands beside its neighbours.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope::session {

// A module instance, or one operator.
struct Element {
  std::string list;  // its name below the next module around it, without its own number: `mlp`, `layers`
  int number = -1;   // of `layers.3`
  int call = -1;
  std::string type;
  OpId op = -1;
  std::vector<std::unique_ptr<Element>> own;  // in program order
  std::map<std::string, Element*> named = {};
  std::vector<const Element*> children = {};  // with those of lists of modules in the place of the lists
  int shape = 0;                              // equal: the same operators in the same modules
  int signature = 0;                          // shape and name, without numbers
  std::size_t siblings = 0;                   // in its list of modules
  int calls = 1;                              // of its module, in all
  bool one_call = true;                       // all its operators are of the call that it is itself
  bool repeatable() const { return number >= 0 || call >= 0; }
};

std::set<int> numbers_in(const Element& list);

// The root, with everything below it. Elements refer to each other: it stays where it is.
std::unique_ptr<const Element> elements_of(const Graph&);

}  // namespace planscope::session
