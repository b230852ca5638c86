#pragma once
// A trial as a job of a session: runs a kept version on processes and compares it with one device. Whatever
// happens to a worker, the
// session goes on.
//
//   try_in_background(jobs, {.model = model, .text = text, .version = 7, .cluster = "local", …},
// [](std::shared_ptr<const TrialAnswer> a) { … });
#include <functional>
#include <memory>
#include <string>

#include "app/session/jobs.h"
#include "app/session/state.h"

namespace planscope::session {

struct TrialRequest {
  std::shared_ptr<const OpenModel> model;
  std::string text, name, cluster, workspace, programs;
  RowId version = 0;
  int procs = 0;  // 0: as many as the plan has devices
  int steps = 1;
  std::string optimizer = "adamw", inputs = {}, join = {}, address = "127.0.0.1";  // join and address: for ranks of another launcher
  std::uint64_t seed = 1;
};

// The job's number. `answer` is called on the job's thread, when something is new and at the end.
int try_in_background(Jobs&, TrialRequest, std::function<void(std::shared_ptr<const TrialAnswer>)> answer);

}  // namespace planscope::session
