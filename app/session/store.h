#pragma once
// What a session keeps in a workspace: versions of plans with what they were predicted to come to, and drafts. The texts of a plan are
// the rows of one name on one model; each has the version that it was edited from as its parent.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

// The row of the model, put there if it is new.
Result<RowId> model_row(Workspace&, const OpenModel&);

// What a person has named and noted, by kind and row.
using Labels = std::map<std::pair<EntryKind, RowId>, LabelRow>;
Labels labels_of(const Workspace&);

// The versions of a plan, oldest first, with their last predictions on the cluster and their last verdicts.
Result<std::vector<Version>> versions_of(const Workspace&, RowId model, const std::string& name, const std::string& cluster);

// What a picture of a version comes to, for later sessions. Does nothing for a picture without a prediction.
Result<Done> store_figures(Workspace&, RowId version, const Picture&);

// The runs of a plan's versions, oldest first.
Result<std::vector<RunEntry>> runs_of(const Workspace&, const std::vector<Version>&);
RunEntry run_entry_of(const RunRow&);

// All that the workspace holds but drafts, by kind, oldest first.
Result<std::vector<WorkspaceEntry>> entries_of(const Workspace&);

// Drafts of programs that have ended.
Result<std::vector<LostDraft>> lost_drafts(const Workspace&);

}  // namespace planscope::session
