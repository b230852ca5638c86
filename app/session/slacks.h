#pragma once
// The tasks of a step by how much later each may begin without a longer step: those of the critical path, and the
// longest others. A task is a run of a segment; in a step of few such runs, one operator; and a message that is
// recorded alone.
//
//   for (const TaskSlack& t : slack_candidates(evaluation)) t.task.what        // those of the critical path first
//   slacks_in_background(jobs, study, [](std::shared_ptr<const SlackAnswer> a) { a->tasks[0].task.slack });
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/jobs.h"
#include "app/session/state.h"

namespace planscope::session {

inline constexpr std::size_t kMostSlacks = 48;  // tasks

// At most kMostSlacks, without their slack: what is on the critical path first, of these and of the others the longest
// first; of runs that do the same in one lane and are not on the path, all but one come after all others.
std::vector<TaskSlack> slack_candidates(const Evaluation&);

// Answers after each task; the rows are sorted by slack, those that are not known yet last.
int slacks_in_background(Jobs&, std::shared_ptr<const Study>,
                         std::function<void(std::shared_ptr<const SlackAnswer>)> answer);

}  // namespace planscope::session
