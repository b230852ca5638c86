#pragma once
// Runs of equal units in a list: `a b b b c` has the unit `b` three times, `a b a b` the unit `a b` twice.
//
//   find_repeats({7, 1, 2, 1, 2, 1, 2, 9}, 8)   {first 1, length 2, times 3}
//
// Time: proportional to the list's length times `longest`.
#include <cstddef>
#include <vector>

namespace planscope::session {

struct Repeat {
  std::size_t first = 0;   // of the list
  std::size_t length = 1;  // of one unit
  std::size_t times = 1;
  std::size_t end() const { return first + length * times; }
  bool operator==(const Repeat&) const = default;
};

// Repeats that do not overlap, in order, each with its shortest unit; those that cover most are taken first. Units
// have at most
// `longest` elements.
std::vector<Repeat> find_repeats(const std::vector<int>& list, std::size_t longest);

}  // namespace planscope::session
