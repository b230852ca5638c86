#pragma once
// The drafts of a session as they lie in its workspace: rows of it, or files beside it (storage/pending.h) as long as it cannot be
// written. What has been keyed in is on disk either way.
//
//   StoredDrafts drafts(workspace_file, clock);
//   say(drafts.keep(workspace, document, {.model = path, .name = "data", .text = "devices 4 as data=4\n"}));
//   say(drafts.remove(workspace, document));
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storage/pending.h"

namespace planscope::session {

class StoredDrafts {
 public:
  StoredDrafts(std::string workspace_file, const Clock& clock) : file_(std::move(workspace_file)), clock_(&clock) {}

  // Does nothing where the same draft of the document is stored already. `workspace` may be null: it could not be opened.
  // Warnings: the draft waits in a file. Errors: it is in neither place.
  std::vector<Diagnostic> keep(Workspace* workspace, int document, DraftRow);

  // The document has no draft any longer. Errors: the row is still there; the next call tries again.
  std::vector<Diagnostic> remove(Workspace* workspace, int document);

  void adopt(int document, RowId row) { stored_[document].row.id = row; }  // that another program has left
  void workspace_is_new() { stored_.clear(); }

  // All as of a program that has ended, so that whoever comes next is offered them.
  std::vector<Diagnostic> leave_all(Workspace* workspace);

 private:
  struct Stored {
    DraftRow row;             // as it was stored last; id 0: it is no row
    std::string left = {};    // file that holds what the row does not; empty: none
  };
  std::vector<Diagnostic> store(Workspace*, Stored&, DraftRow);
  void remove_left(Workspace*, Stored&);

  std::string file_;
  const Clock* clock_;
  std::map<int, Stored> stored_;  // by document
};

}  // namespace planscope::session
