#pragma once
// Plans, runs and traces side by side as a job of a session: each plan is completed where it leaves something open,
// predicted and verified on one cluster (of `local`, with as many processes as it has devices), and told apart from the first one by what it decides and what that costs. Runs
// stand with what they measured and with the prediction of their plan, Chrome traces with what is in them.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/session/jobs.h"
#include "app/session/state.h"

namespace planscope::session {

struct CompareRequest {
  std::shared_ptr<const OpenModel> model;
  std::string text, name, cluster, workspace;  // the draft
  std::string base;                            // what stands first in its place; empty: the draft
  // Each a file or name of a plan, or a version of the workspace; `run:N`; a Chrome trace, `FILE.json`; one of `scripts`.
  std::vector<std::string> others;
  std::map<std::string, std::string> scripts = {};  // of plans that are in no file, by name: `candidate:1`
};

int compare_in_background(Jobs&, CompareRequest, std::function<void(std::shared_ptr<const Comparison>)> answer);

// The timelines of a comparison, on one axis. `align`: time, share, task. `overlay`: runs, all, none (State).
viz::TimelineModel compared_timelines(const Comparison&, const std::string& align, const std::string& overlay);

std::string comparison_title(const Comparison&, const std::string& model);  // `gpt2: plan, 1 on dgx-h100x1`
std::string lane_of(const ComparedEntry&, const std::string& lane);  // as it is called there

// The operators that a change is about, in words of the plan language; the first ones, where all are too many to be read.
std::string words_of(const Document&, const PlanChange&);

}  // namespace planscope::session
