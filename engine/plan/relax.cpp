#include "engine/plan/relax.h"

#include <algorithm>

#include "engine/plan/printer.h"

namespace planscope::plan {

namespace {
constexpr std::int64_t most_versions = 1024;
}

void bind_relax(Context& c, const RelaxStatement& s) {
  const Group& g = s.group;
  if (g.form != Group::Form::phase || g.phase != Phase::fetch || !g.index.empty())
    return c.refuse("'" + print(g) + "' has no lag; what may be some updates old is what 'fetch(X)' brings to X.");
  const auto cases = c.cases({&g.units}, {s.lag});
  if (!cases) return;
  for (const Bindings& b : *cases) {
    const auto matches = c.select(g.units, b, !b.variables.empty());
    if (!matches) return;
    const auto lag = c.number(s.lag, b);
    if (!lag) return;
    if (*lag < 0 || *lag > most_versions)
      return c.refuse("lag " + std::to_string(*lag) + " is not a number of updates from 0 to " +
                      std::to_string(most_versions) + ".");
    const bool any = std::any_of(matches->begin(), matches->end(), [](const Match& m) { return !m.units.empty(); });
    if (any && c.parameters_of(*matches).empty())
      return c.refuse("fetch(" + print(g.units) + ") brings nothing: it reads no parameter.");
    for (const Match& m : *matches)
      for (const Unit& u : m.units)
        for (const int op : u.operators) {
          c.decisions.operator_lag[static_cast<std::size_t>(op)] = {c.statement, *lag};
          c.rows[static_cast<std::size_t>(c.statement)].push_back(op);
        }
  }
}

}  // namespace planscope::plan
