#include "app/workbench/judged.h"

#include <algorithm>
#include <set>

#include "engine/plan/printer.h"

namespace planscope {

Result<Judged> judge(const Graph& graph, const plan::Plan& p, const Cluster& cluster, MaterializeCache& cache,
                     const SimulationOptions& options) {
  Result<Judged> out;
  Result<Materialized> made = materialize(graph, p, cluster, {}, &cache);
  out.diagnostics = made.diagnostics;
  if (!made.value || made.has_errors()) return out;
  Result<Simulation> simulated = simulate(*made->graph, made->program, cluster, options);
  out.diagnostics.insert(out.diagnostics.end(), simulated.diagnostics.begin(), simulated.diagnostics.end());
  if (!simulated.value || simulated.has_errors()) return out;
  out.value = Judged{std::move(*made.value), std::move(*simulated.value)};
  return out;
}

std::int64_t peak_bytes(const Simulation& s) {
  std::int64_t most = 0;
  for (const ClassTimeline& t : s.classes) most = std::max(most, t.peak.bytes());
  return most;
}

std::vector<BrokenRow> broken_memory_rows(const Materialized& made, const Simulation& predicted) {
  std::vector<BrokenRow> out;
  const plan::Decisions& d = made.decisions;
  for (const plan::MemoryRow& row : d.memory) {
    const std::vector<int> listed = plan::devices_of(d, d.places[static_cast<std::size_t>(row.place)]);
    const std::set<int> wanted(listed.begin(), listed.end());
    std::int64_t most = 0;
    for (std::size_t c = 0; c < predicted.classes.size(); ++c) {
      const std::vector<int> here = devices(made.program, made.program.classes[c]);
      if (std::any_of(here.begin(), here.end(), [&](int device) { return wanted.contains(device); }))
        most = std::max(most, predicted.classes[c].peak.bytes());
    }
    if (row.limit_bytes && most >= *row.limit_bytes + (row.strict ? 0 : 1))
      out.push_back({row.statement, most, *row.limit_bytes});
  }
  return out;
}

StatementRef written_line(const plan::Plan& as_written, const plan::Decisions& d, int statement) {
  const plan::Statement& s = d.plan.statements[static_cast<std::size_t>(statement)];
  StatementRef out{s.line, as_written.file, plan::print_code(s)};
  if (s.from.empty()) return out;
  for (const plan::Statement& use : as_written.statements)
    if (use.line == s.line && std::holds_alternative<plan::UseStatement>(use.body)) out.text = plan::print_code(use);
  return out;
}

}  // namespace planscope
