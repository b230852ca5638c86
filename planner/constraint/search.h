#pragma once
// The walk through the space of one plan: assignments of `?x`, and for each of them the choices that are left; under all
// rows, or under some of them. What one search learns serves the next: an assignment is bound once, with all rows (what
// it breaks is noted), a combination of choices is evaluated once, and Z3 keeps every fact under the lines that it rests on.
//
//   RowSearch s(joined, judge, models, evaluations, limits);
//   s.run(s.rows(), {}, deadline).best                                   // the shortest step that keeps all rows
//   s.run({4, 7}, {.any = true}, deadline)                               // some plan that keeps these two
//   s.run({4}, {.memory_line = 7}, deadline).best->bytes                 // the least that row 7 would have to allow
#include <memory>
#include <string>
#include <vector>

#include "planner/constraint/best.h"
#include "planner/constraint/unknowns.h"

namespace planscope::constraint {

struct SearchResult {
  std::optional<Found> best;         // breaks no row
  bool exhausted = false;            // every combination was looked at or excluded
  bool none = false;                 // nothing found, and everything that is tried is excluded
  bool partial = false;              // there are values beyond those that the search knows to try
  std::vector<int> core;             // nothing found: lines that exclude everything that is tried
  std::vector<Diagnostic> refusals;  // of evaluations that no line explains
  std::string reason;                // not exhausted: why
  bool ended = false;                // by a limit, before it was done
};

// What a search for any plan would look at first.
struct SeenAhead {
  bool any = false;          // there is something that is not known to break a row
  std::optional<Rows> core;  // there is nothing, as these lines exclude everything
};

class RowSearch {
 public:
  RowSearch(const Joined&, const Judge&, Models&, Evaluations&, const Limits&);
  ~RowSearch();

  const std::vector<Diagnostic>& errors() const;   // the plan does not bind, whatever its open values are
  const Rows& rows() const;                        // all, by joint line number
  const std::set<Broken>& contradictions() const;  // lines that cannot all hold whatever the open values are, as far as
                                                   // binding the plan says
  bool counts(const Broken&, const Rows&) const;   // all rows among these lines are among those
  SearchResult run(const Rows&, const Goal&, const Deadline&);
  // Looks at what a search for any plan under these rows would look at first; `begin`: evaluates it beside what follows, if a
  // processor is free. (The plan that a search then begins with does not depend on that.)
  SeenAhead ahead(const Rows&, bool begin, const Deadline&);
  std::optional<std::int64_t> limit_bytes(
      int line) const;      // what a memory row allows, of the assignments seen so far the
                            // least; nothing: it is no such row
  int assignments() const;  // of `?x`, that were bound

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace planscope::constraint
