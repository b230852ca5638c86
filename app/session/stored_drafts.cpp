#include "app/session/stored_drafts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace planscope::session {

std::vector<Diagnostic> StoredDrafts::keep(Workspace* workspace, int document, DraftRow row) {
  Stored& known = stored_[document];
  row.id = known.row.id;
  const bool waits = !known.left.empty() && workspace;
  if (row == known.row && !waits && (row.id != 0 || !known.left.empty())) return {};
  return store(workspace, known, std::move(row));
}

std::vector<Diagnostic> StoredDrafts::store(Workspace* workspace, Stored& known, DraftRow row) {
  std::vector<Diagnostic> problems;
  if (workspace) {
    const Result<RowId> id = workspace->put_draft(row);
    if (id.ok()) {
      row.id = known.row.id = *id;
      remove_left(workspace, known);
      known.row = std::move(row);
      return {};
    }
    problems = id.diagnostics;
  }
  if (file_.empty()) return problems;  // a workspace in memory
  const bool known_to_wait = !known.left.empty();
  DraftRow dated = row;
  dated.written_us = clock_->wall_us();
  const Result<std::string> left = leave(file_, dated, known.left);
  if (!left.ok()) {
    problems.insert(problems.end(), left.diagnostics.begin(), left.diagnostics.end());
    return problems;
  }
  known.row = std::move(row);
  known.left = *left;
  if (known_to_wait) return {};  // it has been said
  if (problems.empty()) return {not_stored_yet(file_, "the workspace could not be opened")};
  return {not_stored_yet(file_, problems[0].why)};
}

std::vector<Diagnostic> StoredDrafts::remove(Workspace* workspace, int document) {
  const auto found = stored_.find(document);
  if (found == stored_.end()) return {};
  remove_left(workspace, found->second);
  if (workspace && found->second.row.id != 0) {
    const Result<Done> removed = workspace->remove_draft(found->second.row.id);
    if (!removed.ok()) return removed.diagnostics;
  }
  stored_.erase(found);
  return {};
}

// Where another program has taken the file in meanwhile, the row that it made of it goes.
void StoredDrafts::remove_left(Workspace* workspace, Stored& known) {
  if (known.left.empty()) return;
  std::error_code ec;
  const bool was_there = std::filesystem::remove(std::exchange(known.left, {}), ec);
  if (was_there || !workspace) return;
  const Result<std::vector<DraftRow>> rows = workspace->drafts();
  if (!rows.ok()) return;
  for (const DraftRow& r : *rows) {
    // Other sessions of this program have rows too: only one with the very text that waited is meant.
    const bool is_own = std::any_of(stored_.begin(), stored_.end(), [&](const auto& s) { return s.second.row.id == r.id; });
    if (!is_own && r.process == this_process() && r.model == known.row.model && r.name == known.row.name &&
        r.text == known.row.text)
      (void)workspace->remove_draft(r.id);
  }
}

std::vector<Diagnostic> StoredDrafts::leave_all(Workspace* workspace) {
  std::vector<Diagnostic> problems;
  for (auto& [document, known] : stored_) {
    if (known.row.text.empty() && known.row.id == 0) continue;
    DraftRow row = known.row;
    row.process = {};
    const std::vector<Diagnostic> of_one = store(workspace, known, std::move(row));
    problems.insert(problems.end(), of_one.begin(), of_one.end());
  }
  return problems;
}

}  // namespace planscope::session
