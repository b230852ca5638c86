#include "engine/launch/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace planscope {
namespace {

// A descriptor that is closed unless it is released.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

bool make_pipe(Fd& read_end, Fd& write_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return true;
}

bool make_socket_pair(Fd& ours, Fd& theirs) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  ours.reset(ends[0]);
  theirs.reset(ends[1]);
  return true;
}

void set_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

struct ChildFds {
  int control, board, out, err, trouble;
};

// In the new process, between fork and exec: only async-signal-safe calls, nothing that allocates. Never returns.
[[noreturn]] void become(const char* program, char* const* arguments, const cpu_set_t* cores, ChildFds fds,
                         pid_t parent) {
  const auto give_up = [&] {
    const int code = errno;
    [[maybe_unused]] const ssize_t n = ::write(fds.trouble, &code, sizeof code);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(s, SIG_DFL);
  if (cores != nullptr) ::sched_setaffinity(0, sizeof *cores, cores);
  // Away from 0-4 first, so that no dup2 below overwrites a descriptor that is still needed.
  fds.control = ::fcntl(fds.control, F_DUPFD_CLOEXEC, 10);
  if (fds.board >= 0) fds.board = ::fcntl(fds.board, F_DUPFD_CLOEXEC, 10);
  fds.out = ::fcntl(fds.out, F_DUPFD_CLOEXEC, 10);
  fds.err = ::fcntl(fds.err, F_DUPFD_CLOEXEC, 10);
  fds.trouble = ::fcntl(fds.trouble, F_DUPFD_CLOEXEC, 10);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, 0) < 0 || ::dup2(fds.out, 1) < 0 || ::dup2(fds.err, 2) < 0 ||
      ::dup2(fds.control, control_fd_of_child) < 0 || (fds.board >= 0 && ::dup2(fds.board, board_fd_of_child) < 0)) {
    give_up();
  }
  ::fcntl(0, F_SETFD, 0);  // `nothing` may have been descriptor 0 itself
  // Descriptors that other parts of this program opened without close-on-exec do not belong to the child.
  constexpr unsigned close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC
  ::syscall(SYS_close_range, (fds.board >= 0 ? board_fd_of_child : control_fd_of_child) + 1, ~0u, close_on_exec);
  ::execv(program, arguments);
  give_up();
  ::_exit(127);
}

// What kept the child from becoming the program; false: it runs, as exec closed the pipe, or it hangs before exec, which
// whoever waits for its first sign of life will notice.
bool read_trouble(int pipe, pid_t child, int& code) {
  constexpr int look_ms = 500;
  ProcessActivity activity;
  for (;;) {
    pollfd news{pipe, POLLIN, 0};
    const int found = ::poll(&news, 1, look_ms);
    if (found == 0 && !activity.is_at_work(child)) return false;
    if (found <= 0) continue;
    const ssize_t n = ::read(pipe, &code, sizeof code);
    if (n < 0 && errno == EINTR) continue;
    return n == static_cast<ssize_t>(sizeof code);
  }
}

Diagnostic cannot_start(const std::string& program, int code) {
  return error("cannot start '" + program + "'", std::strerror(code));
}

}  // namespace

Result<Child> PosixProcesses::start(const ChildSpec& spec) {
  std::vector<std::string> words = {spec.program};
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  words.insert(words.end(), {"--control-fd", std::to_string(control_fd_of_child)});
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const int c : spec.cores) {
    if (c >= 0 && c < CPU_SETSIZE) CPU_SET(c, &cores);
  }

  Fd control, their_control, out, their_out, err, their_err, trouble, their_trouble;
  if (!make_socket_pair(control, their_control) || !make_pipe(out, their_out) || !make_pipe(err, their_err) ||
      !make_pipe(trouble, their_trouble)) {
    return cannot_start(spec.program, errno);
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot_start(spec.program, errno);
  if (pid == 0) {
    become(spec.program.c_str(), arguments.data(), spec.cores.empty() ? nullptr : &cores,
           {their_control.get(), spec.board, their_out.get(), their_err.get(), their_trouble.get()}, parent);
  }
  ::setpgid(pid, pid);  // both sides do it: whoever comes first
  their_trouble.reset();
  int code = 0;
  if (read_trouble(trouble.get(), pid, code)) {
    ::waitpid(pid, nullptr, 0);
    return cannot_start(spec.program, code);
  }
  for (const Fd* fd : {&control, &out, &err}) set_non_blocking(fd->get());
  Child child;
  child.pid = pid;
  child.control = control.release();
  child.out = out.release();
  child.err = err.release();
  child.death = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // close-on-exec by itself
  return child;
}

void PosixProcesses::kill(const Child& child) {
  if (child.pid <= 0) return;
  ::kill(-child.pid, SIGKILL);
  ::kill(child.pid, SIGKILL);
}

std::optional<std::string> PosixProcesses::try_reap(const Child& child) {
  int status = 0;
  const pid_t pid = ::waitpid(child.pid, &status, WNOHANG);
  if (pid == child.pid) return describe_exit(status);
  if (pid < 0 && errno == ECHILD) return "ended, and another part of the program has taken its status";
  return std::nullopt;
}

// From what follows the name of the thread in its `stat`, "17 (a name) R …": the state, and behind it what was used.
bool ProcessActivity::is_at_work(pid_t pid) {
  if (pid <= 0) return false;
  bool ready = false;
  std::uint64_t used = 0;
  std::error_code gone;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end; task.increment(gone)) {
    std::ifstream in(task->path() / "stat");
    std::string text;
    std::getline(in, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(text.substr(name_end + 1));
    std::string state, field;
    fields >> state;
    ready = ready || state == "R" || state == "D";
    // From the parent (4) on: page faults (10, 12), processor time (14, 15).
    for (int number = 4; number <= 15 && fields >> field; ++number)
      if (number == 10 || number == 12 || number >= 14) used += std::strtoull(field.c_str(), nullptr, 10);
  }
  const auto [before, is_first] = used_.try_emplace(pid, used);
  const std::uint64_t used_then = std::exchange(before->second, used);
  return ready || (!is_first && used > used_then);
}

std::string describe_exit(int status) {
  if (WIFSIGNALED(status)) {
    const int s = WTERMSIG(status);
    return "killed by signal " + std::to_string(s) + " (" + ::strsignal(s) + ")";
  }
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace planscope
