#include "engine/graph/pt2/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace planscope {
namespace {

Diagnostic unreadable(const std::string& path, std::string why) {
  Diagnostic diagnostic = error("cannot read the file", std::move(why));
  diagnostic.file = path;
  return diagnostic;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return unreadable(path, std::strerror(errno));
  struct stat status{};
  std::string why;
  if (fstat(descriptor, &status) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    why = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file";
  else if (status.st_size == 0)
    why = "it is empty";
  void* address = MAP_FAILED;
  auto size = static_cast<std::size_t>(status.st_size);
  if (why.empty()) {
    address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) why = std::strerror(errno);
  }
  ::close(descriptor);
  if (!why.empty()) return unreadable(path, why);
  MappedFile file;
  file.mapping_ = std::shared_ptr<const void>(address, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  file.bytes_ = {static_cast<const char*>(address), size};
  return file;
}

}  // namespace planscope
