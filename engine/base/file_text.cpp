#include "engine/base/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace planscope {

namespace {

Diagnostic about(const std::string& path, std::string what, std::string why = {}) {
  Diagnostic d = error(std::move(what), std::move(why));
  d.file = path;
  return d;
}

}  // namespace

std::string kind_of_file(unsigned mode) {
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a pipe";
  if (S_ISSOCK(mode)) return "it is a socket";
  return "it is not a regular file";
}

Result<int> open_regular(const std::string& path) {
  struct stat status{};  // first, as a socket cannot be opened, and opening some devices does something
  if (::stat(path.c_str(), &status) != 0)
    return errno == ENOENT ? about(path, "there is no such file") : about(path, "cannot be read", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return about(path, "cannot be read", kind_of_file(status.st_mode));
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return about(path, "cannot be read", std::strerror(errno));
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
  ::close(file);
  return about(path, "cannot be read", kind_of_file(status.st_mode));
}

Result<std::string> file_text(const std::string& path) {
  const Result<int> file = open_regular(path);
  if (!file.ok()) return file.diagnostics;
  std::string text;
  std::array<char, 1 << 16> buffer;
  ssize_t n = 0;
  while ((n = ::read(*file, buffer.data(), buffer.size())) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  const int code = errno;
  ::close(*file);
  if (n < 0) return about(path, "cannot be read", std::strerror(code));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

}  // namespace planscope
