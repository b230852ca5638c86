#include "engine/base/replace_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <streambuf>

#include "engine/base/file_text.h"

namespace planscope {

namespace fs = std::filesystem;

namespace {

// Writes to a descriptor, which it closes. A pipe whose reader does not take what there is is waited for until a signal
// comes.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int file) : file_(file) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  DescriptorBuffer(const DescriptorBuffer&) = delete;
  DescriptorBuffer& operator=(const DescriptorBuffer&) = delete;
  ~DescriptorBuffer() override { close(); }

  void close() {
    sync();
    if (file_ >= 0 && ::close(file_) != 0) fail();
    file_ = -1;
  }
  int failed() const { return failed_; }  // the number of the first error; 0: none

 protected:
  int overflow(int c) override {
    if (sync() != 0) return traits_type::eof();
    if (c != traits_type::eof()) sputc(static_cast<char>(c));
    return traits_type::not_eof(c);
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (size < epptr() - pptr()) return std::streambuf::xsputn(text, size);
    return sync() == 0 && write(text, text + size) ? size : 0;
  }

  int sync() override {
    const bool good = write(pbase(), pptr());
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return good ? 0 : -1;
  }

 private:
  bool write(const char* text, const char* end) {
    while (text != end && failed_ == 0) {
      const ssize_t n = ::write(file_, text, static_cast<std::size_t>(end - text));
      pollfd room{file_, POLLOUT, 0};
      if (n >= 0)
        text += n;
      else if (errno != EAGAIN || ::poll(&room, 1, -1) < 0)
        fail();
    }
    return failed_ == 0;
  }

  void fail() {
    if (failed_ == 0) failed_ = errno != 0 ? errno : EIO;
  }

  int file_;
  int failed_ = 0;
  std::array<char, 1 << 16> buffer_{};
};

std::string written(int file, const std::function<void(std::ostream&)>& write) {
  DescriptorBuffer buffer(file);
  std::ostream out(&buffer);
  write(out);
  buffer.close();
  return buffer.failed() != 0 ? std::strerror(buffer.failed()) : "";
}

// What is no file and stays. A pipe may have been made a moment before its reader comes.
std::string written_to(const std::string& path, mode_t mode, const std::function<void(std::ostream&)>& write) {
  constexpr int looks = 100;
  int file = -1;
  for (int k = 0; k < looks && file < 0; ++k) {
    file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0 || errno != ENXIO || !S_ISFIFO(mode)) break;
    ::usleep(20'000);
    errno = ENXIO;
  }
  if (file >= 0) return written(file, write);
  if (errno == ENXIO && S_ISFIFO(mode)) return kind_of_file(mode) + " that nobody reads";
  return S_ISSOCK(mode) ? kind_of_file(mode) : std::strerror(errno);
}

// A new file under a name that nobody can guess: nothing that lies there already, a link least of all, is written to. With the
// permissions of the file that it will replace, else those that new files get. Its descriptor; negative: errno says why
// not.
int open_beside(const fs::path& target, std::string& name) {
  name = target.string() + ".XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return file;
  struct stat old{};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool known = ::stat(target.c_str(), &old) == 0;
  ::fchmod(file, known ? old.st_mode & 07777 : 0666 & ~mask);
  return file;
}

}  // namespace

std::string replace_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  struct stat there{};
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) return written_to(path, there.st_mode, write);
  std::error_code ec;
  const fs::path target = fs::is_symlink(path, ec) ? fs::weakly_canonical(path, ec) : fs::path(path);
  std::string temporary;
  const int file = open_beside(target, temporary);
  if (file < 0) return std::strerror(errno);
  std::string problem = written(file, write);
  if (problem.empty()) {
    fs::rename(temporary, target, ec);
    if (!ec) return {};
    problem = ec.message();
  }
  fs::remove(temporary, ec);
  return problem;
}

}  // namespace planscope
