#pragma once
// Recordings that could not be stored as another program had the workspace: files in a folder beside it, until a later command
// takes them in. Nothing that was found out is lost.
//
//   if (is_locked(workspace.add(recording).diagnostics)) leave(file, recording);   // FILE.pending/…
//   take_in(workspace);                                                            // how many it were
#include "storage/workspace.h"

namespace planscope {

std::string pending_folder(const std::string& workspace_file);

// Errors: the folder cannot be made, the file not be written.
std::vector<Diagnostic> leave(const std::string& workspace_file, const Recording&);

// Files that are no recordings stay, and are told. Two programs at once take in different ones.
Result<std::int64_t> take_in(Workspace&);

}  // namespace planscope
