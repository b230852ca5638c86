#include "engine/base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace planscope {

namespace fs = std::filesystem;

namespace {

std::string written(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (out) write(out);
  out.close();
  if (out) return {};
  return errno != 0 ? std::strerror(errno) : "it cannot be written";
}

// A new file under a name that nobody can guess: nothing that lies there already, a link least of all, is written to. With the
// permissions of the file that it will replace, else those that new files get.
std::string temporary_beside(const fs::path& target, std::string& problem) {
  std::string name = target.string() + ".XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) {
    problem = std::strerror(errno);
    return {};
  }
  struct stat old{};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool known = ::stat(target.c_str(), &old) == 0;
  ::fchmod(file, known ? old.st_mode & 07777 : 0666 & ~mask);
  ::close(file);
  return name;
}

}  // namespace

std::string replace_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::error_code ec;
  const fs::path target = fs::is_symlink(path, ec) ? fs::weakly_canonical(path, ec) : fs::path(path);
  if (fs::exists(target, ec) && !fs::is_regular_file(target, ec)) return written(target, write);
  std::string problem;
  const fs::path temporary = temporary_beside(target, problem);
  if (temporary.empty()) return problem;
  problem = written(temporary, write);
  if (problem.empty()) {
    fs::rename(temporary, target, ec);
    if (!ec) return {};
    problem = ec.message();
  }
  fs::remove(temporary, ec);
  return problem;
}

}  // namespace planscope
