#include "storage/pending.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "engine/base/file_text.h"
#include "engine/base/replace_file.h"
#include "engine/base/text.h"
#include "storage/draft_text.h"

namespace planscope {

namespace fs = std::filesystem;

namespace {

// One program at a time takes in: a lock that ends with the program.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::vector<std::string> waiting_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".json") out.push_back(it->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string pending_folder(const std::string& workspace_file) { return workspace_file + ".pending"; }

namespace {

// The text as a file of the folder: `file`, or a new one. Returns it.
Result<std::string> left_as(const std::string& workspace_file, std::string file, const std::string& text) {
  const fs::path folder = pending_folder(workspace_file);
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return error("cannot make the folder '" + folder.string() + "'", ec.message());
  fs::permissions(folder, fs::perms::owner_all, ec);
  if (file.empty()) {
    std::random_device random;
    file = (folder / (hex(std::uint64_t{random()} << 32 | random()) + ".json")).string();
  }
  const std::string problem = replace_file(file, [&](std::ostream& out) { out << text; });
  if (!problem.empty()) return error("cannot write '" + file + "'", problem);
  return file;
}

Result<Done> take_in_draft(Workspace& workspace, const DraftRow& draft) {
  const Result<std::vector<DraftRow>> rows = workspace.drafts();
  if (!rows.ok()) return rows.diagnostics;
  for (const DraftRow& r : *rows)
    if (r.id == draft.id && r.written_us >= draft.written_us) return Done{};
  const Result<RowId> put = workspace.put_draft(draft);
  if (!put.ok()) return put.diagnostics;
  return Done{};
}

Result<Done> take_in_text(Workspace& workspace, const std::string& text) {
  if (is_draft(text)) {
    const Result<DraftRow> draft = parse_draft(text);
    return draft.ok() ? take_in_draft(workspace, *draft) : Result<Done>(draft.diagnostics);
  }
  const Result<Recording> recording = parse_recording(text);
  if (!recording.ok()) return recording.diagnostics;
  const Result<RecordedRows> added = workspace.add(*recording);
  if (!added.ok()) return added.diagnostics;
  return Done{};
}

}  // namespace

std::vector<Diagnostic> leave(const std::string& workspace_file, const Recording& r) {
  return left_as(workspace_file, {}, print(r)).diagnostics;
}

Result<std::string> leave(const std::string& workspace_file, const DraftRow& d, const std::string& before) {
  return left_as(workspace_file, before, print(d));
}

Diagnostic not_stored_yet(const std::string& workspace_file, const std::string& why) {
  Diagnostic d = warning("not in the workspace yet: " + why, "",
                         "the next command takes it in, from '" + pending_folder(workspace_file) + "'");
  d.file = workspace_file;
  return d;
}

Result<std::int64_t> take_in(Workspace& workspace) {
  const std::string folder = pending_folder(workspace.file());
  std::error_code ec;
  if (!fs::is_directory(folder, ec)) return std::int64_t{0};
  const FolderLock lock(folder);
  Result<std::int64_t> taken(std::int64_t{0});
  if (!lock) return taken;
  for (const std::string& file : waiting_in(folder)) {
    const Result<std::string> text = file_text(file);
    std::vector<Diagnostic> problems = text.ok() ? take_in_text(workspace, *text).diagnostics : text.diagnostics;
    if (problems.empty()) {
      fs::remove(file, ec);
      ++*taken;
      continue;
    }
    if (is_locked(problems)) break;
    for (Diagnostic& d : problems) {
      d.severity = Severity::warning;
      d.file = file;
      taken.diagnostics.push_back(std::move(d));
    }
  }
  if (waiting_in(folder).empty()) fs::remove(folder, ec);
  return taken;
}

}  // namespace planscope
