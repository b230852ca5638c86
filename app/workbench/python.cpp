#include "app/workbench/python.h"

#include <poll.h>
#include <unistd.h>

#include <optional>

#include "engine/launch/processes.h"

namespace planscope {

namespace {

void append_all(int fd, std::string& text) {
  char buffer[1 << 14];
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
}

}  // namespace

bool PythonEnd::well() const { return how == clean_exit; }

PythonEnd run_python(const std::string& python, std::vector<std::string> arguments, const std::atomic<bool>& stop,
                     const std::function<void(std::string_view)>& on_output) {
  PosixProcesses processes;
  arguments.insert(arguments.begin(), python);
  const Result<Child> child = processes.start({.program = "/usr/bin/env", .arguments = std::move(arguments)});
  if (!child.ok()) return {to_string(child.diagnostics), "", ""};
  PythonEnd ended;
  pollfd news[] = {{child->out, POLLIN, 0}, {child->err, POLLIN, 0}, {child->death, POLLIN, 0}};
  for (std::optional<std::string> how; !how;) {
    constexpr int look_ms = 100;
    ::poll(news, 3, look_ms);
    for (pollfd& n : news)
      if ((n.revents & POLLIN) == 0 && (n.revents & POLLHUP) != 0) n.fd = -1;  // nothing more comes from there
    how = processes.try_reap(*child);
    const std::size_t told = ended.out.size();
    append_all(child->out, ended.out);
    append_all(child->err, ended.err);
    if (on_output && ended.out.size() > told) on_output(std::string_view(ended.out).substr(told));
    if (how) ended.how = *how;
    if (stop && !how) processes.kill(*child);
  }
  for (const int fd : {child->control, child->out, child->err, child->death})
    if (fd >= 0) ::close(fd);
  return ended;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? -1 : begin));
}

}  // namespace planscope
