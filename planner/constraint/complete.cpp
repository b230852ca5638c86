#include "planner/constraint/complete.h"

#include "planner/constraint/conflict.h"
#include "planner/constraint/search.h"

namespace planscope::constraint {

std::string_view to_string(Outcome o) {
  return o == Outcome::complete ? "complete" : o == Outcome::impossible ? "impossible" : "unknown";
}

double Completion::gap() const {
  if (!plan || optimal || evaluation.step_us <= 0) return 0;
  return (evaluation.step_us - lower_bound_us) / evaluation.step_us;
}

namespace {

// No plan on these devices is faster than the work of the model shared out among all of them.
double roofline_bound(const Judge& judge, const Joined& joined) {
  std::int64_t devices = judge.device_count;
  for (const plan::Statement& s : joined.plan.statements)
    if (const auto* d = std::get_if<plan::DevicesStatement>(&s.body))
      if (d->count.kind == plan::Expression::Kind::number && d->count.text.empty()) devices = d->count.number;
  return devices > 0 ? judge.one_device_us / static_cast<double>(devices) : 0;
}

}  // namespace

Result<Completion> complete(const plan::Plan& plan, const std::vector<plan::Plan>& rows, const Judge& judge,
                            const Limits& limits) {
  const Deadline deadline(limits.seconds, limits.stop);
  const Joined joined = join_lines(plan, rows);
  Models models(judge);
  Evaluations evaluations(judge);
  SearchResult r = search(joined, judge, models, evaluations, deadline, limits, false);
  if (!r.errors.empty()) return r.errors;
  Completion c;
  c.assignments = r.assignments;
  c.reason = r.reason;
  c.lower_bound_us = roofline_bound(judge, joined);
  Result<Completion> out;
  if (r.best) {
    c.outcome = r.ended ? Outcome::unknown : Outcome::complete;
    c.plan = unjoined(joined, r.best->plan, plan.file);
    c.values = r.best->values;
    c.evaluation = r.best->evaluation;
    c.optimal = (r.exhausted && !r.partial) || c.evaluation.step_us <= c.lower_bound_us;
    if (c.optimal) c.lower_bound_us = c.evaluation.step_us;
  } else if (r.exhausted) {
    c.outcome = Outcome::impossible;
    const Conflict conflict = minimise(joined, r.core, judge, models, evaluations, deadline, limits);
    c.minimal = conflict.minimal;
    c.conflicts.emplace_back();
    for (int line : conflict.lines) c.conflicts.back().push_back(joined.at(line));
    for (Diagnostic& d : r.refusals) {
      d.severity = Severity::note;
      out.diagnostics.push_back(std::move(d));
    }
  }
  if (!r.best && !r.exhausted)
    for (Diagnostic& d : r.refusals) {
      d.severity = Severity::note;
      out.diagnostics.push_back(std::move(d));
    }
  c.evaluations = evaluations.count();
  out.value = std::move(c);
  return out;
}

}  // namespace planscope::constraint
