#include "planner/search/stages/conflict.h"

#include "engine/plan/printer.h"

namespace planscope::stages {
namespace {

// The rows without one of their lines; false: it does not only restrict.
bool drop_line(std::vector<plan::Plan>& rows, std::size_t file, std::size_t statement) {
  const plan::Statement& s = rows[file].statements[statement];
  if (!std::holds_alternative<plan::RequireStatement>(s.body) && !std::holds_alternative<plan::ForbidStatement>(s.body))
    return false;
  rows[file].statements.erase(rows[file].statements.begin() + static_cast<std::ptrdiff_t>(statement));
  return true;
}

}  // namespace

std::vector<constraint::PlanLine> conflict_of(const Graph& graph, const Cluster& cluster, Settings settings,
                                              const Deadline& deadline) {
  for (std::size_t file = 0; file < settings.rows.size(); ++file)
    for (std::size_t i = settings.rows[file].statements.size(); i-- > 0;) {
      Settings fewer = settings;
      if (!drop_line(fewer.rows, file, i) || deadline.expired()) continue;
      const Result<Found> f = search_rows(graph, cluster, fewer, deadline);
      if (f.value && f->outcome == Outcome::impossible) settings.rows = std::move(fewer.rows);
    }
  std::vector<constraint::PlanLine> out;
  for (const plan::Plan& p : settings.rows)
    for (const plan::Statement& s : p.statements)
      if (std::holds_alternative<plan::RequireStatement>(s.body) ||
          std::holds_alternative<plan::ForbidStatement>(s.body))
        out.push_back({p.file, s.line, plan::print_code(s)});
  return out;
}

}  // namespace planscope::stages
