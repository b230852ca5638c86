#pragma once
// Lists of names that are cut short: the first names, and how many more there are.
//
//   enumeration({"pipe=0", "pipe=1", "pipe=2", "pipe=3"}, 2)     // "pipe=0, pipe=1 and 2 more"
//   enumeration({"pipe=0", "pipe=1"}, 2)                         // "pipe=0, pipe=1"
//   enumeration({"batch", "heads", "out"}, 2, " · ", " · ")      // "batch · heads · 1 more"
//   and_more("lm_head", 3)                                       // "lm_head and 3 more"
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace planscope {

// The first `most` names, with `between` between each two of them and `last` before the number of the others.
std::string enumeration(const std::vector<std::string>& names, std::size_t most, std::string_view between = ", ",
                        std::string_view last = " and ");

// The same where the first names are written already; `more` is how many there are beside them, and may be 0.
std::string and_more(std::string first, std::size_t more, std::string_view last = " and ");

}  // namespace planscope
