#pragma once
// Recordings and drafts that could not be stored, as another program had the workspace or it could not be written: files in a
// folder beside it, until a later command takes them in. Nothing that was found out or keyed in is lost.
//
//   if (is_locked(workspace.add(recording).diagnostics)) leave(file, recording);   // FILE.pending/…
//   take_in(workspace);                                                            // how many it were
#include "storage/workspace.h"

namespace planscope {

std::string pending_folder(const std::string& workspace_file);

// Errors: the folder cannot be made, the file not be written.
std::vector<Diagnostic> leave(const std::string& workspace_file, const Recording&);

// A draft, in place of what the file `before` holds, which an earlier call returned; empty: a new one. Returns the file.
// Errors: as above.
Result<std::string> leave(const std::string& workspace_file, const DraftRow&, const std::string& before = {});

// What is said of what waits.
Diagnostic not_stored_yet(const std::string& workspace_file, const std::string& why);

// Files that hold neither stay, and are told. Two programs at once take in different ones. A draft whose row has been
// written since it was left is older than that, and goes.
Result<std::int64_t> take_in(Workspace&);

}  // namespace planscope
