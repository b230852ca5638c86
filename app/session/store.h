#pragma once
// What a session keeps in a workspace: versions of plans with what they were predicted to come to, and drafts. Each version has the
// one that it was edited from as its parent; the history of a plan is all that were edited from one another, whatever their names.
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

// Of the plans of a model, oldest first, those that one was edited from, or that were edited from it, in any number of steps.
std::vector<PlanRow> history_of(std::vector<PlanRow> plans, std::optional<RowId> one);

// The newest plan that was kept of a file; where its file is not known, of its name. Nothing where there is no file.
std::optional<RowId> newest_of_file(const std::vector<PlanRow>& plans, const std::string& path, const std::string& name);

// As versions, in their order, with their last predictions on the cluster and their last verdicts.
std::vector<Version> versions_of(const Workspace&, const std::vector<PlanRow>& plans, const std::string& cluster);

// What a picture of a version comes to, for later sessions. Does nothing for a picture without a prediction.
Result<Done> store_figures(Workspace&, RowId version, const Picture&);

// What predictions start from now, by the name that the workspace gives it.
std::string measurements_of(const Workspace&, std::vector<Diagnostic>& problems);

// The runs of a plan's versions, oldest first.
Result<std::vector<RunEntry>> runs_of(const Workspace&, const std::vector<Version>&);
RunEntry run_entry_of(const RunRow&);

// All that the workspace holds but drafts, by kind, oldest first.
Result<std::vector<WorkspaceEntry>> entries_of(const Workspace&);

// Drafts of programs that have ended.
Result<std::vector<LostDraft>> lost_drafts(const Workspace&);

}  // namespace planscope::session
