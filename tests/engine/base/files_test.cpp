// Files that come from the user and go to the user.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "engine/base/file_text.h"
#include "engine/base/process_identity.h"
#include "engine/base/replace_file.h"
#include "engine/base/temporary_folder.h"

using namespace planscope;
namespace fs = std::filesystem;

namespace {

std::string content(const std::string& path) { return *file_text(path); }
mode_t mode(const std::string& path) {
  struct stat s{};
  ::stat(path.c_str(), &s);
  return s.st_mode & 07777;
}

}  // namespace

TEST_CASE("what is no file is refused and never waited for", "[files]") {
  const TemporaryFolder folder("files");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto why = [&](const std::string& path) { return to_string(file_text(path).diagnostics.front()); };
  CHECK(why(folder / "pipe") == (folder / "pipe") + ": cannot be read; it is a pipe");
  CHECK(why(folder.path()) == folder.path().string() + ": cannot be read; it is a folder");
  CHECK(why("/dev/zero") == "/dev/zero: cannot be read; it is not a regular file");
  CHECK(why(folder / "none") == (folder / "none") + ": there is no such file");
}

TEST_CASE("the mark before a text is left out", "[files]") {
  const TemporaryFolder folder("files");
  std::ofstream(folder / "a") << "\xEF\xBB\xBFtext";
  CHECK(content(folder / "a") == "text");
}

TEST_CASE("a file is replaced with its permissions, beside links that lie in the way", "[files]") {
  const TemporaryFolder folder("files");
  const std::string file = folder / "private", precious = folder / "precious";
  std::ofstream(file) << "old";
  std::ofstream(precious) << "precious";
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  fs::create_symlink(precious, file + ".part" + std::to_string(::getpid()));
  CHECK(replace_file(file, [](std::ostream& out) { out << "new"; }).empty());
  CHECK(content(file) == "new");
  CHECK(content(precious) == "precious");
  CHECK(mode(file) == 0600);
}

TEST_CASE("a pipe that nobody reads is refused, and one whose reader does not take what there is ends by a signal",
          "[files]") {
  const TemporaryFolder folder("files");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string much(1 << 20, 'x');
  const auto write = [&] { return replace_file(pipe, [&](std::ostream& out) { out << much; }); };
  CHECK(write() == "it is a pipe that nobody reads");
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, &before);
  ::ualarm(20'000, 20'000);
  CHECK(write() == std::strerror(EINTR));
  ::ualarm(0, 0);
  ::sigaction(SIGALRM, &before, nullptr);
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("what does not fit on a disk is told as that, and nothing is left of it", "[files]") {
  CHECK(replace_file("/dev/full", [](std::ostream& out) { out << "text"; }) == std::strerror(ENOSPC));
  const TemporaryFolder folder("files");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{1 << 10, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &little);
  const std::string problem = replace_file(folder / "a", [](std::ostream& out) { out << std::string(1 << 20, 'x'); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(problem == std::strerror(EFBIG));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a process is known by its start, not by its number alone", "[files]") {
  const ProcessIdentity me = this_process();
  CHECK(is_alive(me));
  CHECK_FALSE(is_alive({me.boot, me.pid, me.start + 1}));
  CHECK_FALSE(is_alive({"another", me.pid, me.start}));
  CHECK_FALSE(is_alive({me.boot, 0, 0}));
  CHECK_FALSE(is_alive({me.boot, -1, 0}));
  CHECK_FALSE(is_alive({me.boot, std::int64_t{1} << 33, 0}));
}
