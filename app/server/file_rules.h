#pragma once
// Which files commands of the browser may name: those below the folders that the server was told, and those that its
// own command line has named; of some folders they may be read alone. Links that lead out of them, devices and pipes are
// refused.
//
//   FileRules rules({"/data/models"}, {"/models/gpt2.pt2"}, {"/usr/share/samples"});
//   rules.check(*parse_invocation("open model=/etc/passwd"))             // Errors: it does not lie below /data/models
//   rules.check(*parse_invocation("save /usr/share/samples/my.plan"))    // the same
#include <filesystem>
#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/session/session.h"

namespace planscope::server {

class FileRules {
 public:
  FileRules(const std::vector<std::string>& folders, const std::vector<std::string>& files,
            const std::vector<std::string>& to_read = {});

  // Of every argument that names a file, as the process would open it. What is no file is the name of something in the
  // workspace.
  Result<Done> check(const session::Invocation&) const;
  // The same, and of files that the command means without naming them: that of the plan which is saved, those of a draft,
  // the model that a plan was opened with.
  // `document`: that it is for; 0: the current one.
  Result<Done> check(const session::Invocation&, const session::State&, int document) const;
  enum class Use : std::uint8_t { reads, writes };
  Result<Done> check(const std::string& path, Use = Use::reads) const;

 private:
  std::vector<std::filesystem::path> folders_, files_, to_read_;  // canonical
};

// A file that is uploaded: a plain name that ends in .pt2, .plan or .json. Errors: any other.
Result<Done> check_upload_name(const std::string& name);

}  // namespace planscope::server
