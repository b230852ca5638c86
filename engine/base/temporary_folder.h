#pragma once
// A folder of its own under the system's temporary ones, gone with all that is in it when this is.
//
//   const TemporaryFolder folder("bench");           // …/planscope-bench-x8Kf2a
//   if (folder) write(folder / "model.pt2");         // false: it could not be made, errno says why
#include <filesystem>
#include <string>

namespace planscope {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  explicit operator bool() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace planscope
