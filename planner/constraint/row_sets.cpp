#include "planner/constraint/row_sets.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace planscope::constraint {
namespace {

bool contains(const Rows& all, const Rows& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

bool meet(const Rows& a, const Rows& b) {
  Rows both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return !both.empty();
}

// Smaller ones first.
struct BySize {
  bool operator()(const Rows& a, const Rows& b) const { return a.size() != b.size() ? a.size() < b.size() : a < b; }
};
using Family = std::set<Rows, BySize>;

// The minimal sets that meet `next` too, of those that meet everything before (Berge).
Family hitting_also(const Family& hitting, const Rows& next) {
  Family out;
  for (const Rows& h : hitting)
    if (meet(h, next)) out.insert(h);
  const Family hit = out;
  for (const Rows& h : hitting) {
    if (meet(h, next)) continue;
    for (int row : next) {
      Rows larger = h;
      larger.insert(std::upper_bound(larger.begin(), larger.end(), row), row);
      if (std::none_of(hit.begin(), hit.end(), [&](const Rows& o) { return contains(larger, o); })) out.insert(larger);
    }
  }
  return out;
}

class Enumeration {
 public:
  Enumeration(const Rows& rows, RowSets& sets, const ConflictTimes& times, std::size_t most)
      : rows_(rows), sets_(sets), times_(times), most_(most) {}

  Conflicts run() {
    const Verdict all = sets_.possible(rows_, times_.minimal);
    if (all.answer != Answer::no) return {};
    take(all.core, times_.minimal, times_.effects);
    while (const Rows* next = open()) {
      if (times_.more.expired() || out_.all.size() >= most_ || hitting_.size() > kMostHitting) return std::move(out_);
      const Rows hit = *next;
      const Verdict rest = sets_.possible(without(rows_, hit), times_.more);
      if (rest.answer == Answer::no) {
        if (!take(rest.core, times_.more, times_.more)) return std::move(out_);
      } else {
        looked_at_.insert(hit);
        sure_ = sure_ && rest.answer == Answer::yes;
      }
    }
    out_.complete = sure_;
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kMostHitting = 10'000;

  // A hitting set of which it is not known yet whether it corrects everything.
  const Rows* open() const {
    for (const Rows& h : hitting_)
      if (!looked_at_.contains(h)) return &h;
    return nullptr;
  }

  // False: the limit was reached before it was minimal, and it is not the first.
  bool take(Rows core, const Deadline& deadline, const Deadline& effects) {
    Conflict c;
    for (std::size_t i = 0; i < core.size();) {
      begin_with_later(core, i, deadline, effects);
      // Asked first, as it is asked anyway: it is the smallest set that may correct everything, and what it comes to. It is
      // the larger question: it has a time of its own.
      if (sets_.possible(without(rows_, {core[i]}), effects).answer == Answer::yes) {
        ++i;
        continue;
      }
      const Verdict rest = sets_.possible(without(core, {core[i]}), deadline);
      if (rest.answer == Answer::no) {  // rows before i are needed: they are in every core of fewer rows
        core = rest.core;
        continue;
      }
      c.minimal = c.minimal && rest.answer == Answer::yes;
      ++i;
    }
    sure_ = sure_ && c.minimal;
    if (!c.minimal && !out_.all.empty()) return false;
    hitting_ = hitting_also(hitting_, core);
    c.rows = std::move(core);
    out_.all.push_back(std::move(c));
    return true;
  }

  // Beside the question of row i the first of the rows behind it. (With others the one that is asked would have to wait.)
  void begin_with_later(const Rows& core, std::size_t i, const Deadline& deadline, const Deadline& effects) {
    sets_.ahead(without(rows_, {core[i]}), false, effects);
    bool begun = false;
    for (++i; i < core.size() && !begun; ++i)
      begun = (!effects.expired() && sets_.ahead(without(rows_, {core[i]}), true, effects)) ||
              sets_.ahead(without(core, {core[i]}), true, deadline);
  }

  const Rows& rows_;
  RowSets& sets_;
  const ConflictTimes& times_;
  const std::size_t most_;
  Family hitting_{{}}, looked_at_;
  bool sure_ = true;
  Conflicts out_;
};

}  // namespace

Rows without(const Rows& rows, const Rows& less) {
  Rows out;
  std::set_difference(rows.begin(), rows.end(), less.begin(), less.end(), std::back_inserter(out));
  return out;
}

bool RowSets::known_impossible(const Rows& rows) const {
  return std::any_of(impossible_.begin(), impossible_.end(), [&](const Rows& r) { return contains(rows, r); });
}

bool RowSets::known_possible(const Rows& rows) const {
  return std::any_of(possible_.begin(), possible_.end(), [&](const Rows& r) { return contains(r, rows); });
}

bool RowSets::ahead(const Rows& rows, bool begin, const Deadline& deadline) {
  if (known_impossible(rows)) return false;
  if (known_possible(rows) || !ahead_) return true;
  Verdict v = ahead_(rows, begin, deadline);
  if (v.answer == Answer::no) impossible_.push_back(std::move(v.core));
  return v.answer == Answer::yes;
}

Verdict RowSets::possible(const Rows& rows, const Deadline& deadline) {
  for (const Rows& known : impossible_)
    if (contains(rows, known)) return {Answer::no, known};
  if (known_possible(rows)) return {Answer::yes, {}};
  ++asked_;
  Verdict v = ask_(rows, deadline);
  if (v.answer == Answer::yes) possible_.push_back(rows);
  if (v.answer == Answer::no) impossible_.push_back(v.core);
  return v;
}

Conflicts minimal_conflicts(const Rows& rows, RowSets& sets, const ConflictTimes& times, std::size_t most) {
  return Enumeration(rows, sets, times, most).run();
}

}  // namespace planscope::constraint
