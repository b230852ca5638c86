#include "planner/constraint/relaxed.h"

#include <algorithm>
#include <map>
#include <set>

namespace planscope::constraint {
namespace {

bool has(const Rows& rows, int row) { return std::binary_search(rows.begin(), rows.end(), row); }

// Work for one of so many things that are left.
Deadline share(const Deadline& all, std::size_t left) {
  return all.within_work(all.work_left() / static_cast<std::int64_t>(std::max<std::size_t>(1, left)));
}

class Explainer {
 public:
  Explainer(const Rows& all, const Conflicts& conflicts, RowSets& sets, const RowEffects& effects,
            const Deadline& deadline)
      : all_(all), conflicts_(conflicts), sets_(sets), effects_(effects), deadline_(deadline) {
    for (const Conflict& c : conflicts.all) {
      rows_.insert(c.rows.begin(), c.rows.end());
      std::size_t scarce = effects_.limits_memory(kDeviceMemory) ? 1 : 0;
      for (int row : c.rows) scarce += effects_.limits_memory(row) ? 1 : 0;
      left_ += scarce > 0 ? scarce + c.rows.size() : 0;
    }
    left_ += rows_.size();
  }

  std::vector<ConflictLines> run() {
    std::vector<ConflictLines> out;
    for (const Conflict& c : conflicts_.all) {
      ConflictLines& lines = out.emplace_back();
      lines.rows = c.rows;
      lines.minimal = c.minimal;
      for (const int row : c.rows) lines.lines.push_back({effects_.line(row), {}, {}});
      add_needs(lines);
    }
    left_ = rows_.size();  // what memory is needed without rows is asked where some is short alone
    for (const ConflictLines& lines : out) left_ += scarce(lines) ? lines.rows.size() - 1 : 0;
    for (ConflictLines& lines : out) add_needs_without(lines);
    for (ConflictLines& lines : out)
      for (std::size_t i = 0; i < lines.rows.size(); ++i) {
        begin_later(lines.rows, i + 1);
        const std::optional<std::int64_t> bytes = lines.lines[i].without.bytes;
        lines.lines[i].without = relaxed(lines.rows[i]);
        lines.lines[i].without.bytes = bytes;
      }
    return out;
  }

 private:
  Deadline next() { return share(deadline_, left_--); }

  // The questions of rows from the i-th on, beside the one that is next.
  void begin_later(const Rows& rows, std::size_t i) {
    for (; i < rows.size(); ++i)
      if (!relaxed_.contains(rows[i]) && left_standing(rows[i]).empty())
        sets_.ahead(without(all_, {rows[i]}), true, deadline_);
  }

  // The conflicts that taking the row out leaves.
  std::vector<int> left_standing(int row) const {
    std::vector<int> out;
    for (std::size_t k = 0; k < conflicts_.all.size(); ++k)
      if (!has(conflicts_.all[k].rows, row)) out.push_back(static_cast<int>(k));
    return out;
  }

  // The same in whatever conflict the row is.
  const Relaxed& relaxed(int row) {
    const auto [entry, fresh] = relaxed_.try_emplace(row);
    Relaxed& r = entry->second;
    if (!fresh) return r;
    const Rows rest = without(all_, {row});
    r.conflicts = left_standing(row);
    const Deadline until = next();
    if (r.conflicts.empty() && !sets_.known_impossible(rest)) r.optimum = effects_.best(rest, until);
    r.possible = r.optimum ? Answer::yes : r.conflicts.empty() ? sets_.possible(rest, until).answer : Answer::no;
    return r;
  }

  // What memory is needed under the rows: first, as it may say whether nothing fits.
  void add_needs(ConflictLines& c) {
    const auto short_of = [&](int row, const Rows& others) {
      std::optional<MemoryNeed> out = need(row, others, effects_.needs_until);
      return out && out->bytes > out->limit_bytes ? out : std::nullopt;
    };
    c.memory = short_of(kDeviceMemory, c.rows);
    for (std::size_t i = 0; i < c.rows.size(); ++i)
      c.lines[i].needs = short_of(c.rows[i], without(c.rows, {c.rows[i]}));
  }

  // The row whose memory is short; nothing: none.
  static std::optional<int> scarce(const ConflictLines& c) {
    std::optional<int> out;
    if (c.memory) out = kDeviceMemory;
    for (std::size_t i = 0; i < c.rows.size(); ++i)
      if (c.lines[i].needs) out = c.rows[i];
    return out;
  }

  // … and without each of them.
  void add_needs_without(ConflictLines& c) {
    const std::optional<int> row = scarce(c);
    if (!row) return;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
      if (c.rows[i] == *row) continue;
      Rows rest = without(c.rows, {c.rows[i]});
      rest = without(rest, {*row});
      if (const auto least = need(*row, rest, effects_.needs_until)) c.lines[i].without.bytes = least->bytes;
    }
  }

  std::optional<MemoryNeed> need(int row, const Rows& others, const Deadline* until = nullptr) {
    if (!effects_.limits_memory(row)) return std::nullopt;
    const Deadline shared = next();
    return effects_.need(row, others, until ? *until : shared);
  }

  const Rows& all_;
  const Conflicts& conflicts_;
  RowSets& sets_;
  const RowEffects& effects_;
  const Deadline& deadline_;
  std::set<int> rows_;  // of any conflict
  std::size_t left_ = 0;
  std::map<int, Relaxed> relaxed_;
};

}  // namespace

ExplainedConflicts explain_conflicts(const Rows& rows, RowSets& sets, const RowEffects& effects,
                                     const ConflictTimes& times, const Deadline& effects_until) {
  const Conflicts found = minimal_conflicts(rows, sets, times);
  return {Explainer(rows, found, sets, effects, effects_until).run(), found.complete};
}

}  // namespace planscope::constraint
