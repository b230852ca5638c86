#include "app/session/graph/run_layout.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "engine/launch/processes.h"

namespace planscope::session {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongest{60};  // of a program that limits what it computes itself

std::string program() {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
  for (const std::filesystem::path& p :
       {folder / "planscope-layout", folder.parent_path() / "bin" / "planscope-layout"})
    if (std::filesystem::exists(p, ec)) return p.string();
  return {};
}

// Gives it the text and takes what it answers. Empty: it does not answer whole.
std::string talk(const Child& child, std::string_view text, Clock::time_point end) {
  std::string answer;
  bool more = true;
  while (more) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return {};
    pollfd news[] = {{text.empty() ? -1 : child.control, POLLOUT, 0}, {child.out, POLLIN, 0}};
    if (::poll(news, 2, static_cast<int>(left)) <= 0) continue;
    if (news[0].revents != 0) {
      const ssize_t n = ::send(child.control, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return {};
      if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
      if (text.empty()) ::shutdown(child.control, SHUT_WR);
    }
    if (news[1].revents != 0) {
      char buffer[1 << 14];
      const ssize_t n = ::read(child.out, buffer, sizeof buffer);
      if (n > 0) answer.append(buffer, static_cast<std::size_t>(n));
      more = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
    }
  }
  return answer;
}

}  // namespace

Result<viz::GraphLayout> run_layout(const viz::LayoutRequest& request) {
  const std::string file = program();
  if (file.empty()) return error("the program planscope-layout is not there");
  PosixProcesses processes;
  const Result<Child> child = processes.start({.program = file});
  if (!child.ok()) return child.diagnostics;
  std::optional<viz::GraphLayout> layout =
      viz::read_plain(request, talk(*child, to_dot(request), Clock::now() + kLongest));
  std::optional<std::string> end = processes.try_reap(*child);
  if (!end) processes.kill(*child);
  for (const int fd : {child->control, child->out, child->err})
    if (fd >= 0) ::close(fd);
  for (; !end; end = processes.try_reap(*child)) {
    pollfd news{child->death, POLLIN, 0};
    ::poll(&news, 1, 10);
  }
  if (child->death >= 0) ::close(child->death);
  if (!layout) return error("planscope-layout: " + *end);
  return std::move(*layout);
}

}  // namespace planscope::session
