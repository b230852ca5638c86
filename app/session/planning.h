#pragma once
// The planner as a job of a session: completes the text of a plan, or finds one from nothing.
//
//   plan_in_background(jobs, {.model = model, .text = text, .cluster = "dgx-h100x1"}, [](std::shared_ptr<const PlannerAnswer> a) { … });
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/jobs.h"
#include "app/session/state.h"

namespace planscope::session {

struct PlanRequest {
  std::shared_ptr<const OpenModel> model;
  std::string text, file, cluster, workspace;
  bool whole = false;  // from nothing, under the rows of the text alone
  std::int64_t batch = 0;
  double seconds = 60;
  std::optional<double> within_us = {};  // the least memory within this time, not the fastest plan
};

// The job's number. `answer` is called on the job's thread, each time there is something better, and at the end.
int plan_in_background(Jobs&, PlanRequest, std::function<void(std::shared_ptr<const PlannerAnswer>)> answer);

// The user's text with the lines that a planner has written behind the statements that they answer; what the user wrote stays as it
// is, byte for byte. Lines that a planner wrote before are gone.
std::string with_planned_lines(const std::string& text, const plan::Plan& completed);

// The lines of what was found for a plan, and which of them its text does not have yet; nothing where the text has lines that
// the found plan has not: then it can only be taken as a whole.
struct FoundLine {
  std::string text;
  bool left = false;
};
std::optional<std::vector<FoundLine>> lines_left(const PlannerAnswer&, const std::string& text);

}  // namespace planscope::session
