#pragma once
// Assignments of `?x` and the combinations of choices under each, with what is known of them: bound once, with all rows, and
// evaluated once. What a row costs nothing to know (it is broken, whatever else holds) is kept by line.
//
//   Assignments known(joined, judge, models, evaluations);
//   Assignment& a = known.at(values);                                 // a.broken, a.choices
//   const Looked& l = known.look(a, picks, rows);                     // l.broken, l.evaluation
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/memo.h"
#include "planner/constraint/choices.h"
#include "planner/constraint/forbids.h"
#include "planner/constraint/lines.h"
#include "planner/solver/deadline.h"

namespace planscope::constraint {

// Stands where a line would and there is none: what it rests on was not tried.
constexpr int kUntried = 0;

// Evaluations by the text of the complete plan.
class Evaluations {
 public:
  explicit Evaluations(const Judge&);
  const Result<Evaluation>& of(const plan::Plan&);
  void ahead(plan::Plan);                // begins with one that may be asked for, unless processors are occupied
  bool begun(const plan::Plan&) const;  // ahead was told of it: whether it has begun is a matter of time
  int count() const { return static_cast<int>(known_.size()); }

 private:
  const Judge& judge_;
  const std::size_t most_ahead_;
  Memo<std::string, Result<Evaluation>> known_;
  bool occupied();
  std::vector<std::future<void>> ahead_;
  std::set<std::string> begun_;  // of one thread
};

// Models at the sizes that a plan sets.
class Models {
 public:
  using Model = Result<std::shared_ptr<const plan::ModelInfo>>;
  explicit Models(const Judge& judge) : judge_(judge) {}
  const Model& at(const plan::InputSizes&);
  void begin(const plan::InputSizes&);  // with one that will be asked for

 private:
  const Judge& judge_;
  std::map<plan::InputSizes, std::shared_future<Model>> known_;
};

bool holds(const Rows&, int line);

// Lines that cannot all hold, ascending: rows, statements that they rest on, perhaps kUntried.
using Broken = std::vector<int>;

// A memory row at the sizes of one assignment.
struct MemoryLimit {
  int line = 0;
  std::set<int> devices;
  std::int64_t bytes = 0;   // the most that it allows
  std::int64_t stored = 0;  // that some of its devices stores at least
};

// The highest peak at its places; null: there is none.
const Peak* highest(const MemoryLimit&, const std::vector<Peak>&);

// `pipe=2`: the coordinates in the first grid that these devices share; else `devices 8-15`; empty: they are all.
std::string where_text(const plan::Decisions&, const std::vector<int>& devices);

// One combination of choices under some order rows.
struct Looked {
  std::set<Broken> broken;               // as far as known
  std::optional<int> refused;            // a line that is no row, or kUntried: it cannot be carried out
  std::optional<Evaluation> evaluation;  // with all rows known that it breaks
};

// One assignment of `?x`, bound.
struct Assignment {
  plan::OpenValues values;
  const plan::ModelInfo* model = nullptr;
  std::optional<int> refused;  // a line that is no row: binding refuses it
  std::set<Broken> broken;
  std::set<int> decided;   // `forbid` rows that no operator can break which no statement decides
  std::set<int> hopeless;  // memory rows below what devices store at least
  bool learned = false;    // that they exclude it
  bool open = false;       // its values bring other open values
  bool settled = false;    // bound without the rows that mean the same for every value
  std::vector<MemoryLimit> limits;
  std::vector<Choice> choices;
  std::map<std::pair<std::vector<int>, Rows>, Looked> looked;  // by picks and order rows
  std::map<std::vector<int>, std::set<Broken>> disorder;       // by picks but that of an order: what none can keep
  std::optional<plan::Decisions> decisions;                    // of some: bound again where needed
};

class Assignments {
 public:
  Assignments(const Joined&, const Judge&, Models&, Evaluations&);

  // Rows that the open decisions settle are not bound again.
  void settle(const plan::Decisions& open);
  const Forbids& settled() const { return settled_; }
  const std::set<int>& hopeless() const { return hopeless_; }  // memory rows below what devices store at any values

  Assignment& at(const plan::OpenValues&);
  const plan::Decisions& decisions(Assignment&);

  // Whether none of these rows can be left out to mend it: all of its rows are among them.
  bool counts(const Broken&, const Rows&) const;
  std::vector<Broken> that_count(const std::set<Broken>&, const Rows&) const;

  // Evaluated with the order rows among `rows` and all others that it is not known to break, until it is known to break one
  // of `rows`, or to break no more. What a row of memory says of an order that is one of several rests on kUntried as well.
  // `next`: what will be looked at then, begun beside it.
  const Looked& look(Assignment&, const std::vector<int>& picks, const Rows& rows,
                     const std::optional<std::vector<int>>& next = {});
  bool looked_at(const Assignment&, const std::vector<int>& picks, const Rows& rows) const;
  // Every combination that was evaluated with the order rows among `rows`.
  using Evaluated = std::function<void(Assignment&, const std::vector<int>& picks, const Looked&)>;
  void for_each_evaluated(const Rows& rows, const Evaluated&);
  // Whether `look` has nothing to evaluate but what was begun ahead.
  bool begun(Assignment&, const std::vector<int>& picks, const Rows& rows);
  // False: it is known to break one of `rows`. `begin`: with what `look` would evaluate.
  bool ahead(Assignment&, const std::vector<int>& picks, const Rows& rows, bool begin = true);

  void count_for(const Deadline& work) { work_ = &work; }  // from now on; it outlives what is asked for then
  const Rows& rows() const { return rows_; }  // all
  int count() const { return static_cast<int>(known_.size()); }
  std::optional<std::int64_t> limit_bytes(int line) const;  // of a memory row: the least of any assignment so far
  const std::vector<Diagnostic>& refusals() const { return refusals_; }  // the first that names no line

 private:
  struct Memory {
    std::vector<MemoryLimit> limits;
    std::set<int> hopeless;
  };
  Memory take_limits(const plan::Decisions&);
  void bind(Assignment&);
  void count(std::int64_t work, const Assignment&) const;
  int reason(const std::vector<Diagnostic>&);
  static std::int64_t stored_within(const MemoryLimit&, const std::vector<Peak>& stored);
  std::set<int> carried_rows(const Assignment&, const Looked&, const Rows& orders) const;
  Broken broken_by(const Diagnostic&) const;
  static Broken in_any_order(const MemoryLimit&, const std::vector<Peak>& least, const Rows& orders);
  Rows order_rows_of(const Rows& rows) const;
  Looked fresh(Assignment&, const std::vector<int>& picks, const Rows& rows) const;
  plan::Plan whole(Assignment&, const std::vector<int>& picks, const Rows& orders, const Looked&);
  bool breaks(const Looked&, const Rows& rows) const;
  void evaluate(Assignment&, const std::vector<int>& picks, const plan::Plan& whole, const Rows& orders, Looked&);

  const Joined& joined_;
  const Judge& judge_;
  Models& models_;
  Evaluations& evaluations_;
  const Rows rows_, order_rows_;
  const bool leaves_order_;
  std::map<plan::OpenValues, Assignment> known_;
  std::deque<Assignment*> bound_;  // whose decisions are kept
  Forbids settled_;
  plan::Plan lean_;  // without settled rows
  std::map<int, std::int64_t> limit_bytes_;
  std::set<int> hopeless_;
  std::vector<Diagnostic> refusals_;
  const Deadline* work_ = nullptr;
};

}  // namespace planscope::constraint
