// The planner as a job, what it has found, and the jobs' end.
#include <algorithm>

#include "app/session/core.h"
#include "app/session/planning.h"
#include "app/workbench/time_argument.h"
#include "engine/base/text.h"
#include "engine/plan/bind.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"

namespace planscope::session {

namespace {

Result<Done> plan(Core& c, const Invocation& i) {
  Document& d = *c.document();
  if (i.has("whole") && i.get("whole") != "whole") return error("'plan' does not take '" + i.get("whole") + "'");
  for (const char* number : {"limit", "batch"})
    if (i.has(number) && std::stoll(i.get(number)) < 1) return error("'plan': " + std::string(number) + " is a whole number from 1");
  if (i.has("batch") && !i.has("whole"))
    return error("'plan' takes a batch only with whole", "what is open in a plan is filled for the batch that the plan says",
                 "write `model batch=" + i.get("batch") + "` into the plan, or plan whole");
  PlanRequest r{.model = d.model, .text = d.draft.text(), .file = d.path.empty() ? d.name : d.path, .cluster = d.cluster,
                .workspace = c.settings.workspace, .whole = i.has("whole")};
  if (i.has("batch")) r.batch = std::stoll(i.get("batch"));
  r.seconds = std::stod(i.has("limit") ? i.get("limit") : c.state.preferences.get("planner_limit"));
  if (i.has("within")) {
    const Result<double> within = time_argument(i.get("within"));
    if (!within.ok()) return within.diagnostics;
    r.within_us = *within;
  }
  PlannerAnswer begun{.asked = r.text, .cluster = r.cluster, .measurements = d.measurements, .limit_seconds = r.seconds,
                      .batch = r.batch > 0 ? std::optional(r.batch) : std::nullopt, .within_us = r.within_us};
  begun.job = plan_in_background(*c.jobs, std::move(r), [&c, id = d.id](std::shared_ptr<const PlannerAnswer> a) {
    c.update(id, [&](Document& o) {
      if (!o.planner || o.planner->job <= a->job) o.planner = a;
    });
  });
  d.planner = std::make_shared<const PlannerAnswer>(std::move(begun));
  return Done{};
}

// A plan that was found from nothing, with the rows that it was asked to keep and what stands in comments. Rows that speak of names
// which it does not have become comments.
std::string with_own_lines(const Document& d, const PlannerAnswer& a, const std::string& script) {
  std::string rows, comments;
  for (const std::string& line : split(a.asked, '\n')) {
    const Result<plan::Statement> s = plan::parse_statement(line);
    if (!s.ok() || s->automatic) continue;
    const bool row = std::holds_alternative<plan::RequireStatement>(s->body) || std::holds_alternative<plan::ForbidStatement>(s->body);
    const bool comment = std::holds_alternative<plan::EmptyStatement>(s->body) && line.find('#') != std::string::npos;
    if (comment) comments += line + "\n";
    if (row) rows += line + "\n";
  }
  const std::string kept = comments + script + (script.empty() || script.ends_with('\n') ? "" : "\n");
  if (rows.empty()) return kept;
  const Result<plan::Plan> whole = plan::parse_plan(kept + rows, d.name);
  if (whole.ok() && plan::bind(*whole, model_info(d.model->graph)).ok()) return kept + rows;
  std::string out = kept;
  for (const std::string& line : split(rows, '\n'))
    if (!line.empty()) out += "# " + line + "\n";
  return out;
}

// Whether the draft is what was planned, or what was accepted of it: nothing has been written since that would be lost.
bool is_as_planned(const Document& d, const PlannerAnswer& a) {
  const std::string& now = d.draft.text();
  return now == a.asked || std::any_of(a.candidates.begin(), a.candidates.end(), [&](const auto& candidate) {
    return now == with_own_lines(d, a, candidate.script);
  });
}

Result<Done> accept(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const PlannerAnswer& a = *d.planner;
  const std::size_t n = i.has("candidate") ? std::stoul(i.get("candidate")) : 1;
  if (i.has("candidate") && (n < 1 || n > a.candidates.size()))
    return error("there is no candidate " + i.get("candidate"),
                 a.candidates.empty() ? "nothing has been found" : "the last one is " + std::to_string(a.candidates.size()));
  if (!a.candidates.empty() && !i.has("line")) {
    if (!is_as_planned(d, a))
      return error("the plan has been changed since it was planned", "what was written since would be lost", "plan again, or undo");
    return write_draft(d, with_own_lines(d, a, a.candidates[n - 1].script));
  }
  if (a.candidates.empty() && a.asked != d.draft.text() && !lines_left(a, d.draft.text()))
    return error("the plan has been changed since it was planned", "", "plan again");
  if (!i.has("line")) return write_draft(d, a.found);
  const std::optional<std::vector<FoundLine>> found = lines_left(a, d.draft.text());
  const std::size_t line = std::stoul(i.get("line"));
  if (!found) return error("the plan has no lines that could stay beside one of these", "", "accept");
  if (line < 1 || line > found->size() || !(*found)[line - 1].left)
    return error("line " + i.get("line") + " of what was found is not a line that is left to accept");
  std::string text;
  for (std::size_t k = 0; k < found->size(); ++k)
    if (!(*found)[k].left || k + 1 == line) text += (*found)[k].text + "\n";
  return write_draft(d, std::move(text));
}

Result<Done> cancel(Core& c, const Invocation& i) {
  if (c.jobs->cancel(std::stoi(i.get("job")))) return Done{};
  return error("there is no job " + i.get("job") + " that runs");
}

Result<Done> dismiss(Core& c, const Invocation&) {
  c.state.messages.clear();
  return Done{};
}

}  // namespace

void add_planner_handlers(Handlers& all) {
  all["plan"] = plan;
  all["accept"] = accept;
  all["cancel"] = cancel;
  all["dismiss"] = dismiss;
}

}  // namespace planscope::session
