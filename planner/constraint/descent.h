#pragma once
// Assignments with too many combinations of choices to look at all: from where each begins best, choices are changed as long as
// that is better, those that have a word on an axis together and then one by one, the most promising assignment first. At
// last equal layers, which had one word so far, take different ones where not all fit with the shorter one.
//
//   Descent descent(assignments, best, rows, deadline);
//   descent.postpone(a, allowed_words(a, rows));
//   descent.run();
//   descent.unfold();
#include <deque>
#include <string>
#include <vector>

#include "planner/constraint/best.h"
#include "planner/solver/deadline.h"

namespace planscope::constraint {

// Of each choice the words that none of the rows forbids.
std::vector<std::vector<int>> allowed_words(const Assignment&, const Rows&);

class Descent {
 public:
  Descent(Assignments&, Best&, const Rows&, const Deadline&);  // all outlive it

  void postpone(Assignment&, const std::vector<std::vector<int>>& allowed);
  bool empty() const { return waiting_.empty(); }
  bool run();  // false: time is over
  void unfold();

 private:
  struct Waiting {
    Assignment* assignment;
    std::vector<int> picks;  // where descent begins
    Score score;             // there
  };
  void begin_at(Waiting&, const std::vector<int>& picks);
  void sort_waiting();
  bool improve_together(Waiting&, const std::vector<std::vector<int>>& allowed);
  bool improve(Waiting&, std::size_t choice, const std::vector<int>& words);
  bool move(Waiting&, std::vector<int> picks);
  bool unfolded(const Assignment& folded, std::vector<int> picks, std::size_t choice, int word, std::size_t count,
                bool first);

  Assignments& assignments_;
  Best& best_;
  const Rows& rows_;
  const Deadline& deadline_;
  std::vector<Waiting> waiting_;
  std::deque<Assignment> unfolded_;
};

}  // namespace planscope::constraint
