#include "engine/base/replace_file.h"

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

}  // namespace

std::string replace_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::error_code ec;
  const fs::path target = fs::is_symlink(path, ec) ? fs::weakly_canonical(path, ec) : fs::path(path);
  if (fs::exists(target, ec) && !fs::is_regular_file(target, ec)) return written(target, write);
  const fs::path temporary = target.string() + ".part" + std::to_string(::getpid());
  std::string problem = written(temporary, write);
  if (problem.empty()) {
    fs::rename(temporary, target, ec);
    if (!ec) return {};
    problem = ec.message();
  }
  fs::remove(temporary, ec);
  return problem;
}

}  // namespace planscope
