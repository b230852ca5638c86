#pragma once
// Plans side by side as a job of a session: each is completed where it leaves something open, predicted and verified on one cluster,
// and told apart from the first by what it decides and what that costs. Runs stand with what they measured.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/jobs.h"
#include "app/session/state.h"

namespace planscope::session {

struct CompareRequest {
  std::shared_ptr<const OpenModel> model;
  std::string text, name, cluster, workspace;  // the first plan
  // Files, names or versions of plans of the workspace; `run:N`.
  std::vector<std::string> others;
};

int compare_in_background(Jobs&, CompareRequest, std::function<void(std::shared_ptr<const Comparison>)> answer);

}  // namespace planscope::session
