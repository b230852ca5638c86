#include "app/session/graph/repeats.h"

#include <algorithm>
#include <set>
#include <utility>

namespace planscope::session {

std::vector<Repeat> find_repeats(const std::vector<int>& list, std::size_t longest) {
  const std::size_t n = list.size();
  std::vector<Repeat> found;
  std::set<std::pair<std::size_t, std::size_t>> spans;  // of shorter units: a longer one says nothing more
  for (std::size_t length = 1; length <= std::min(longest, n / 2); ++length)
    for (std::size_t i = 0; i + length < n;) {
      if (list[i] != list[i + length]) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end + length < n && list[end] == list[end + length]) ++end;
      const std::size_t whole = end - i + length;
      if (whole >= 2 * length && spans.emplace(i, i + whole).second) found.push_back({i, length, whole / length});
      i = end;
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const Repeat& a, const Repeat& b) { return a.length * a.times > b.length * b.times; });
  std::vector<char> taken(n, 0);
  std::vector<Repeat> out;
  for (const Repeat& r : found) {
    const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(r.first),
               end = taken.begin() + static_cast<std::ptrdiff_t>(r.end());
    if (std::find(begin, end, 1) != end) continue;
    std::fill(begin, end, 1);
    out.push_back(r);
  }
  std::sort(out.begin(), out.end(), [](const Repeat& a, const Repeat& b) { return a.first < b.first; });
  return out;
}

}  // namespace planscope::session
