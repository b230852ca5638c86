#pragma once
// Random plans with open arguments for a small model, each with everything that may stand for its holes: what a planner
// says of such a plan can be held against all of its completions.
//
//   OpenSpace s = random_space(7);
//   s.text();                                           // the open plan
//   for_each_completion(s, [](const std::string& text) { … });
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace planscope::testing {

struct OpenSpace {
  // What of the text becomes what; the same everywhere in it.
  using Filled = std::vector<std::pair<std::string, std::string>>;

  std::vector<std::string> lines;
  std::vector<std::vector<Filled>> holes;  // of each all that may stand there
  std::string place = "all";               // of a memory row
  // The planner looks only at some of the completions, and says so: equal layers have one choice, orders are templates.
  bool looks_at_some = false;
  bool lists_some = false;  // there are other completions than those of the holes: orders

  std::string text() const;
};

OpenSpace random_space(unsigned seed);

// With the holes filled, whether the plan binds or not.
void for_each_completion(const OpenSpace&, const std::function<void(const std::string& text)>& visit);

}  // namespace planscope::testing
