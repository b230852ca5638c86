#pragma once
// Measuring what the operators of a plan take on this machine, as a job of a session; where there is no plan yet, those
// of the whole model on one device. What was measured before it is cancelled is kept.
//
//   profile_in_background(jobs, {.model = model, .text = text, .cluster = "local", …}, [](std::shared_ptr<const ProfileAnswer> a) { … });
#include <functional>
#include <memory>
#include <string>

#include "app/session/jobs.h"
#include "app/session/state.h"

namespace planscope::session {

struct ProfileRequest {
  std::shared_ptr<const OpenModel> model;
  std::string text, name, cluster, workspace, programs;
  bool links = false;  // the link between two processes instead of operators
};

int profile_in_background(Jobs&, ProfileRequest, std::function<void(std::shared_ptr<const ProfileAnswer>)> answer);

}  // namespace planscope::session
