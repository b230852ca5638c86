#include "planner/evaluate/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/base/format.h"
#include "engine/base/stop.h"
#include "engine/plan/printer.h"
#include "planner/constraint/complete.h"
#include "planner/simulate/alive.h"

namespace planscope {

Result<Materialized> program_of(Decided decided, const Cluster& cluster) {
  Result<Materialized> made = materialize(std::move(decided), cluster);
  if (made.has_errors()) made.value.reset();
  return made;
}

Result<Prediction> predict(const plan::Plan& as_written, const Materialized& made, const Cluster& cluster,
                           const SimulationOptions& options) {
  Result<Prediction> out;
  Result<Simulation> simulated = simulate(*made.graph, made.program, cluster, options);
  out.diagnostics = std::move(simulated.diagnostics);
  if (!simulated.value || out.has_errors()) return out;
  Prediction p{std::move(*simulated.value)};
  p.broken = broken_memory_rows(made, p.simulation);
  for (Diagnostic& d : broken_row_warnings(as_written, made, p.broken)) out.diagnostics.push_back(std::move(d));
  out.value = std::move(p);
  return out;
}

Result<Evaluation> evaluate(const plan::Plan& p, Decided decided, const Cluster& cluster, const SimulationOptions& options) {
  Result<Evaluation> out;
  Result<Materialized> made = program_of(std::move(decided), cluster);
  out.diagnostics = std::move(made.diagnostics);
  if (!made.value) return out;
  look_at_stop();
  Result<Prediction> predicted = predict(p, *made.value, cluster, options);
  out.diagnostics.insert(out.diagnostics.end(), predicted.diagnostics.begin(), predicted.diagnostics.end());
  if (!predicted.value) return out;
  out.value = Evaluation{std::move(*made.value), std::move(predicted->simulation), options, std::move(predicted->broken)};
  return out;
}

Result<Evaluation> evaluate(const Graph& graph, const plan::Plan& p, const Cluster& cluster, MaterializeCache& cache,
                            const SimulationOptions& options) {
  Result<Decided> decided = decide(graph, p, {}, &cache);
  if (!decided.value || decided.has_errors()) return decided.diagnostics;
  Result<Evaluation> out = evaluate(p, std::move(*decided.value), cluster, options);
  out.diagnostics.insert(out.diagnostics.begin(), decided.diagnostics.begin(), decided.diagnostics.end());
  return out;
}

Verified verify(const Evaluation& e) {
  const auto begin = std::chrono::steady_clock::now();
  VerifyReport report = verify(*e.made.graph, e.made.program);
  return {std::move(report), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

std::int64_t peak_bytes(const Simulation& s) {
  std::int64_t most = 0;
  for (const ClassTimeline& t : s.classes) most = std::max(most, t.peak.bytes());
  return most;
}

std::int64_t bytes_sent(const Simulation& s) {
  double all = 0;
  for (const ClassTimeline& t : s.classes)
    for (const Traffic& one : t.traffic) all += static_cast<double>(t.devices) * one.sent;
  return std::llround(all);
}

std::vector<BrokenRow> broken_memory_rows(const Materialized& made, const Simulation& predicted) {
  std::vector<BrokenRow> out;
  if (made.decisions.memory.empty()) return out;
  std::vector<constraint::Peak> peaks;
  for (std::size_t c = 0; c < predicted.classes.size(); ++c)
    peaks.push_back({devices(made.program, made.program.classes[c]), predicted.classes[c].peak.bytes()});
  for (const plan::MemoryRow& row : made.decisions.memory) {
    const std::int64_t excess = constraint::excess_bytes(made.decisions, row, peaks);
    if (excess > 0)
      out.push_back({row.statement, *row.limit_bytes + excess - (row.strict ? 1 : 0), *row.limit_bytes,
                     memory_word(*made.graph)});
  }
  return out;
}

std::vector<Diagnostic> broken_row_warnings(const plan::Plan& as_written, const Materialized& made,
                                            const std::vector<BrokenRow>& rows) {
  std::vector<Diagnostic> out;
  const auto add = [&](Diagnostic d, int statement) {
    const StatementRef at = written_line(as_written, made.decisions, statement);
    d.file = at.file;
    d.line = at.line;
    d.subject = at.text;
    out.push_back(std::move(d));
  };
  const std::string unknown = made.decisions.memory.empty() ? "" : unknown_memory(*made.graph);
  for (const BrokenRow& row : rows) {
    add(warning("the predicted peak is " + row.word + bytes_text(static_cast<double>(row.peak)) + ", " + row.word +
                    bytes_text(static_cast<double>(row.peak - row.limit)) + " more than the row allows",
                unknown),
        row.statement);
  }
  if (!unknown.empty() && rows.empty())
    add(warning("whether the plan keeps the row is not known: predicted peaks are " + memory_word(*made.graph) + "what is needed",
                unknown, "'planscope run' measures it"),
        made.decisions.memory.front().statement);
  return out;
}

std::vector<Diagnostic> failures_as_errors(const VerifyReport& r) {
  std::vector<Diagnostic> out;
  for (const Failure& f : r.failures) {
    Diagnostic d = error(to_string(f));
    d.file = f.statement.file;
    d.line = f.statement.line;
    out.push_back(std::move(d));
  }
  return out;
}

std::optional<Diagnostic> not_to_hand_out(const Materialized& m) {
  const VerifyReport r = verify(*m.graph, m.program);
  if (r.verdict == Verdict::equivalent || r.verdict == Verdict::relaxed) return std::nullopt;
  const bool no_loss = m.graph->model->loss < 0;
  return warning("the plan is not given as an answer: verifying it says " + std::string(to_string(r.verdict)),
                 no_loss ? "the model has no loss" : r.failures.empty() ? "" : to_string(r.failures.front()),
                 no_loss ? "export the model with its loss"
                         : "this is a fault of planscope; please report it with the model");
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
