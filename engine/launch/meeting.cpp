#include "engine/launch/meeting.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace planscope {

namespace {

constexpr const char* magic = "planscope-trial";

// The first bytes of a file that is one; a pipe or a device is not waited for.
std::string beginning_of(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 1024> text{};
  struct stat about{};
  ssize_t n = -1;
  if (::fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) n = ::read(fd, text.data(), text.size());
  ::close(fd);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

// For the owner alone; empty: errno says why not.
std::string written_draft(const std::string& file, const Meeting& m) {
  std::ostringstream text;
  text << m.address << " " << m.port << " " << m.token << " " << magic << " " << m.owner.boot << " " << m.owner.pid << " "
       << m.owner.start << "\n";
  const std::string line = text.str(), draft = file + "." + m.token.substr(0, 8);
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return {};
  const bool whole = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int code = errno;
  ::close(fd);
  if (whole) return draft;
  ::unlink(draft.c_str());
  errno = code;
  return {};
}

}  // namespace

std::optional<Meeting> read_meeting(const std::string& file) {
  std::istringstream in(beginning_of(file));
  Meeting m;
  std::string word;
  if (in >> m.address >> m.port >> m.token >> word >> m.owner.boot >> m.owner.pid >> m.owner.start && word == magic)
    return m;
  return std::nullopt;
}

bool is_foreign_file(const std::string& file) {
  struct stat about{};
  const auto there = [&] { return ::stat(file.c_str(), &about) == 0; };
  return there() && !read_meeting(file) && there();  // a trial may end or begin meanwhile
}

bool is_abandoned(const Meeting& m) { return m.owner.boot == boot_of_this_machine() && !is_alive(m.owner); }

std::vector<Diagnostic> write_meeting(const std::string& file, const Meeting& m) {
  const auto cannot = [&] { return std::vector{error("cannot write '" + file + "'", std::strerror(errno))}; };
  const std::string draft = written_draft(file, m);
  if (draft.empty()) return cannot();
  std::vector<Diagnostic> problems;
  if (::link(draft.c_str(), file.c_str()) != 0) {  // never over something that is there
    struct stat about{};
    const bool there = errno == EEXIST || ::lstat(file.c_str(), &about) == 0;
    const std::optional<Meeting> other = read_meeting(file);
    if (there && !other)
      problems = {error("'" + file + "' is there already",
                        "it is no file that ranks join by, or a damaged one, and is not written over",
                        "give --join the name of a file that is not there, or remove this one")};
    else if (other && is_alive(other->owner))
      problems = {error("'" + file + "' belongs to another trial", "process " + std::to_string(other->owner.pid) +
                                                                       " waits for its ranks there",
                        "another name")};
    else if (::rename(draft.c_str(), file.c_str()) != 0)
      problems = cannot();
  }
  ::unlink(draft.c_str());
  return problems;
}

void remove_meeting(const std::string& file, const std::string& token) {
  if (const auto now = read_meeting(file); now && now->token == token) ::unlink(file.c_str());
}

}  // namespace planscope
