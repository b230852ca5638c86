#pragma once
// Which sets of rows leave nothing: all minimal ones of them, found by asking "is there a plan under these rows?". The
// one piece of code for completions (search.h) and for whole plans (planner/search/stages/why_not.h).
//
// A set that is asked about once is never asked about again: subsets of a possible set are possible, supersets of an
// impossible one are not. A set that leaves nothing is made minimal by deletion (Marques-Silva, "Minimal
// Unsatisfiability", 2010). The others are found by what the known ones have in common: a plan that keeps all rows but
// those of a minimal hitting set of the known conflicts proves that the hitting set corrects everything; if there is none,
// there is one more conflict (Reiter, "A theory of diagnosis from first principles", 1987; Liffiton et al., "Fast,
// flexible MUS enumeration", 2016, walk the same lattice).
//
//   RowSets sets(ask);
//   Conflicts c = minimal_conflicts({1, 2, 3, 4}, sets, {deadline, deadline, deadline});
//   c.all == {{1, 3}, {2, 3, 4}};  c.complete
#include <cstdint>
#include <functional>
#include <vector>

#include "planner/solver/deadline.h"

namespace planscope::constraint {

using Rows = std::vector<int>;  // ascending

enum class Answer : std::uint8_t { yes, no, unknown };

struct Verdict {
  Answer answer = Answer::unknown;
  Rows core;  // no: of the rows asked about, some that leave nothing by themselves; need not be minimal
};

class RowSets {
 public:
  using Ask = std::function<Verdict(const Rows&, const Deadline&)>;
  // Looks at what `ask` would do, and begins with it if it is to. Yes: there is something to do; no, as `ask` says it. May be absent.
  using Ahead = std::function<Verdict(const Rows&, bool begin, const Deadline&)>;
  explicit RowSets(Ask ask, Ahead ahead = {}) : ask_(std::move(ask)), ahead_(std::move(ahead)) {}
  Verdict possible(const Rows&, const Deadline&);
  // False: it is not known to be possible, and there is nothing to do.
  bool ahead(const Rows&, bool begin, const Deadline&);
  bool known_impossible(const Rows&) const;
  void learn_impossible(Rows core) { impossible_.push_back(std::move(core)); }  // of what was asked elsewhere
  int asked() const { return asked_; }                                          // what was not known already

 private:
  bool known_possible(const Rows&) const;

  Ask ask_;
  Ahead ahead_;
  std::vector<Rows> possible_, impossible_;
  int asked_ = 0;
};

struct Conflict {
  Rows rows;
  bool minimal = true;  // false: a limit ended the proof
};

struct Conflicts {
  std::vector<Conflict> all;  // in the order found; none: the rows are not known to leave nothing
  bool complete = false;      // there are no others
};

// Until when the first conflict is made minimal, until when it is asked beside whether all other rows can be kept without one of
// it (which is an effect, too, and may answer for less), and until when other conflicts are looked for.
struct ConflictTimes {
  Deadline minimal, effects, more;
};

// All minimal conflicts, or as many as time allows and `most`.
Conflicts minimal_conflicts(const Rows&, RowSets&, const ConflictTimes&, std::size_t most = 8);

// `rows` without those of `less`.
Rows without(const Rows& rows, const Rows& less);

}  // namespace planscope::constraint
