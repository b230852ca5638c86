#include <array>

#include "storage/workspace.h"

namespace planscope {
namespace {

constexpr std::array<std::string_view, 4> status_names = {"running", "done", "failed", "interrupted"};

RunStatus status_from(const std::string& name) {
  for (std::size_t i = 0; i < status_names.size(); ++i) {
    if (name == status_names[i]) return static_cast<RunStatus>(i);
  }
  return RunStatus::interrupted;  // the table admits no other name
}

RunRow read_run(const Row& r) {
  RunRow run;
  run.id = r.integer(0);
  run.plan = r.integer(1);
  run.ranks = static_cast<int>(r.integer(2));
  run.status = status_from(r.text(3));
  run.process = {r.text(8), r.integer(4), r.integer(9)};
  run.started_us = r.integer(5);
  run.ended_us = r.maybe_integer(6);
  run.result = r.text(7);
  return run;
}

SpanRow read_span(const Row& r) {
  return {
      static_cast<int>(r.integer(0)), static_cast<int>(r.integer(1)), r.integer(2), r.text(3), r.real(4), r.real(5)};
}

const std::string select_runs = "SELECT id, plan, ranks, status, process, started_us, ended_us, result, boot, process_start FROM runs ";
const std::string select_spans = "SELECT rank, step, instruction, kind, start_us, dur_us FROM spans ";

}  // namespace

std::string_view to_string(RunStatus s) { return status_names[static_cast<std::size_t>(s)]; }

Result<RowId> Workspace::start_run(RowId plan, int ranks, const ProcessIdentity& p) {
  return db_.insert(
      "INSERT INTO runs(plan, ranks, status, process, boot, process_start, started_us) "
      "VALUES (?, ?, 'running', ?, ?, ?, ?)",
      {plan, std::int64_t{ranks}, p.pid, p.boot, p.start, clock_->wall_us()});
}

Result<Done> Workspace::add_spans(RowId run, const std::vector<SpanRow>& spans) {
  return db_.transaction([&] { return insert_spans(run, spans); });
}

Result<Done> Workspace::insert_spans(RowId run, const std::vector<SpanRow>& spans) {
  return db_.execute_many(
      "INSERT INTO spans(run, rank, step, instruction, kind, start_us, dur_us) VALUES (?, ?, ?, ?, ?, ?, ?)",
      spans.size(), [&](std::size_t i) -> SqlValues {
        const SpanRow& s = spans[i];
        return {run, std::int64_t{s.rank}, std::int64_t{s.step}, s.instruction, s.kind, s.start_us, s.dur_us};
      });
}

// Of a recording. A run whose beginning is recorded may have been taken for an abandoned one since.
Result<Done> Workspace::add_run(const Recording& r, RecordedRows& rows) {
  RunRow run = *r.run;
  if (run.id == 0) {
    const Result<RowId> id = start_run(rows.plan, run.ranks, run.process);
    if (!id.ok()) return id.diagnostics;
    run.id = *id;
    const Result<Done> begun = db_.execute("UPDATE runs SET started_us = ? WHERE id = ?", {run.started_us, run.id});
    if (!begun.ok()) return begun;
  }
  rows.run = run.id;
  if (Result<Done> d = insert_spans(run.id, r.spans); !d.ok()) return d;
  return db_.execute("UPDATE runs SET status = ?, ended_us = ?, result = ? WHERE id = ?",
                     {std::string(to_string(run.status)), run.ended_us.value_or(clock_->wall_us()), run.result, run.id});
}

Result<Done> Workspace::end_run(RowId id, RunStatus status, const std::string& result_json) {
  const Result<RunRow> known = run(id);
  if (!known.ok()) return known.diagnostics;
  return db_.execute("UPDATE runs SET status = ?, ended_us = ?, result = ? WHERE id = ?",
                     {std::string(to_string(status)), clock_->wall_us(), result_json, id});
}

Result<std::int64_t> Workspace::close_abandoned_runs(const std::function<bool(const ProcessIdentity&)>& is_alive) {
  const Result<std::vector<RunRow>> running =
      db_.select<RunRow>(select_runs + "WHERE status = 'running' ORDER BY id", {}, read_run);
  if (!running.ok()) return running.diagnostics;
  std::int64_t closed = 0;
  for (const RunRow& r : *running) {
    if (is_alive(r.process)) continue;
    Result<Done> done =
        db_.execute("UPDATE runs SET status = 'interrupted', ended_us = ? WHERE id = ?", {clock_->wall_us(), r.id});
    if (!done.ok()) return done.diagnostics;
    ++closed;
  }
  return closed;
}

Result<RunRow> Workspace::run(RowId id) const {
  return required(db_.select<RunRow>(select_runs + "WHERE id = ?", {id}, read_run), "run", id);
}

Result<std::vector<RunRow>> Workspace::runs(std::optional<RowId> plan) const {
  if (!plan) return db_.select<RunRow>(select_runs + "ORDER BY id", {}, read_run);
  return db_.select<RunRow>(select_runs + "WHERE plan = ? ORDER BY id", {*plan}, read_run);
}

Result<std::vector<SpanRow>> Workspace::spans(RowId run) const {
  return db_.select<SpanRow>(select_spans + "WHERE run = ? ORDER BY rank, start_us, rowid", {run}, read_span);
}

Result<std::vector<SpanRow>> Workspace::spans(RowId run, int step) const {
  return db_.select<SpanRow>(select_spans + "WHERE run = ? AND step = ? ORDER BY rank, start_us, rowid",
                             {run, std::int64_t{step}}, read_span);
}

}  // namespace planscope
