#include "planner/constraint/conflict.h"

#include <algorithm>

namespace planscope::constraint {
namespace {

// A statement that is no row may be all that bounds an open value; without it a few assignments are tried.
constexpr int kWithoutStatement = 32;

// The plan with no other rows than those in `kept`, and without `dropped`.
Joined restricted(const Joined& joined, const std::vector<int>& kept, int dropped) {
  std::set<int> out{dropped};
  for (int line = 1; line < static_cast<int>(joined.lines.size()); ++line)
    if (restricts(joined, line) && std::find(kept.begin(), kept.end(), line) == kept.end()) out.insert(line);
  return without(joined, out);
}

}  // namespace

Conflict minimise(const Joined& joined, std::vector<int> core, const Judge& judge, Models& models,
                  Evaluations& evaluations, const Deadline& deadline, const Limits& limits) {
  std::erase_if(core, [&](int line) { return !can_drop(joined, line); });
  Conflict out;
  for (std::size_t i = 0; i < core.size();) {
    std::vector<int> rest = core;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const bool row = restricts(joined, core[i]);
    Limits some = limits;
    if (!row) some.assignments = std::min(some.assignments, kWithoutStatement);
    const SearchResult r = search(restricted(joined, rest, core[i]), judge, models, evaluations, deadline, some, true);
    const bool needless = !r.best && r.exhausted && r.errors.empty();
    if (needless || (!row && !r.best)) {
      core = std::move(rest);
      continue;
    }
    if (!r.best) out.minimal = false;
    ++i;
  }
  out.lines = std::move(core);
  return out;
}

}  // namespace planscope::constraint
