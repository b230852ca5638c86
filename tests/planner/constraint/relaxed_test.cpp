// What a conflict of rows comes to.
#include "planner/constraint/relaxed.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace planscope::constraint {
namespace {

// Rows of which the first leaves nothing, as 8 bytes are needed and it allows 4.
ConflictLine explained(const Deadline* needs_until) {
  RowSets sets([](const Rows& rows, const Deadline&) -> Verdict {
    const bool keeps = std::find(rows.begin(), rows.end(), 1) == rows.end();
    return keeps ? Verdict{Answer::yes, {}} : Verdict{Answer::no, {1}};
  });
  RowEffects effects;
  effects.best = [](const Rows&, const Deadline&) { return std::optional<Optimum>(); };
  effects.need = [](int, const Rows&, const Deadline& d) {
    return d.expired() ? std::nullopt : std::optional(MemoryNeed{4, 8, "pipe=2", true});
  };
  effects.limits_memory = [](int row) { return row == 1; };
  effects.needs_until = needs_until;
  effects.line = [](int row) { return PlanLine{"rows", row, "require memory(all) <= 4"}; };
  const ExplainedConflicts c =
      explain_conflicts({1, 2}, sets, effects, {Deadline(60), Deadline(0), Deadline(0)}, Deadline(0));
  REQUIRE(c.all.size() == 1);
  REQUIRE(c.all[0].rows == Rows{1});
  REQUIRE(c.all[0].lines.size() == 1);
  return c.all[0].lines[0];
}

}  // namespace

TEST_CASE("what memory a conflict needs is told until its own time is over, whatever there is for effects") {
  const Deadline minute(60);
  const ConflictLine line = explained(&minute);
  REQUIRE(line.needs);
  CHECK(line.needs->bytes == 8);
  CHECK(line.needs->limit_bytes == 4);
  CHECK(line.needs->where == "pipe=2");
  CHECK(line.line.line == 1);
  CHECK_FALSE(explained(nullptr).needs);
}

}  // namespace planscope::constraint
