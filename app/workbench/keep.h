#pragma once
// Keeps what a verb has found out: in the workspace, or, while another program has it, in a file beside it that the next command
// takes in (storage/pending.h). Nothing is lost; the diagnostics say what happened, and the work goes on.
//
//   Recording found = recording_of(model, plan, cluster);
//   found.prediction = PredictionRow{.json = json};
//   const Kept kept = keep("work.planscope", &workspace, found, {}, diagnostics);       // kept.recorded
#include <atomic>
#include <chrono>
#include <functional>

#include "app/workbench/workbench.h"
#include "storage/pending.h"

namespace planscope {

// The model, the plan and the cluster of what is to be recorded.
Recording recording_of(const OpenModel&, const plan::Plan&, const Cluster&);

struct Patience {
  std::chrono::milliseconds most{0};         // beside the workspace's own (WorkspaceSettings)
  std::function<void()> on_wait = {};        // when the waiting begins
  const std::atomic<bool>* stop = nullptr;   // ends it
};

struct Kept {
  bool recorded = false;  // in the workspace
  RecordedRows rows;      // 0 where it is not
};

// `file`: of the workspace, empty: there is none. `workspace`: null if it could not be opened; that is tried again.
Kept keep(const std::string& file, Workspace*, const Recording&, const Patience&, std::vector<Diagnostic>&);

}  // namespace planscope
