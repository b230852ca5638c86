// The planner as a job, what it has found, and the jobs' end.
#include "app/session/core.h"
#include "app/session/planning.h"
#include "app/workbench/time_argument.h"

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
  PlannerAnswer begun{.asked = r.text, .cluster = r.cluster, .limit_seconds = r.seconds,
                      .batch = r.batch > 0 ? std::optional(r.batch) : std::nullopt, .within_us = r.within_us};
  begun.job = plan_in_background(*c.jobs, std::move(r), [&c, id = d.id](std::shared_ptr<const PlannerAnswer> a) {
    c.update(id, [&](Document& o) {
      if (!o.planner || o.planner->job <= a->job) o.planner = a;
    });
  });
  d.planner = std::make_shared<const PlannerAnswer>(std::move(begun));
  return Done{};
}

Result<Done> accept(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const PlannerAnswer& a = *d.planner;
  if (i.has("candidate")) {
    const std::size_t n = std::stoul(i.get("candidate"));
    if (n < 1 || n > a.candidates.size())
      return error("there is no candidate " + i.get("candidate"),
                   a.candidates.empty() ? "nothing has been found" : "the last one is " + std::to_string(a.candidates.size()));
    return write_draft(d, a.candidates[n - 1].script);
  }
  if (a.candidates.empty() && a.asked != d.draft.text() && !lines_left(a, d.draft.text()))
    return error("the plan has been changed since it was planned", "", "plan again");
  if (!i.has("line")) return write_draft(d, a.found);
  const std::optional<std::vector<FoundLine>> found = lines_left(a, d.draft.text());
  const std::size_t n = std::stoul(i.get("line"));
  if (!found) return error("the plan has no lines that could stay beside one of these", "", "accept");
  if (n < 1 || n > found->size() || !(*found)[n - 1].left)
    return error("line " + i.get("line") + " of what was found is not a line that is left to accept");
  std::string text;
  for (std::size_t k = 0; k < found->size(); ++k)
    if (!(*found)[k].left || k + 1 == n) text += (*found)[k].text + "\n";
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
