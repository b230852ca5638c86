#include "tests/app/cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

namespace planscope {

namespace fs = std::filesystem;

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

pid_t start_planscope(const std::vector<std::string>& arguments, const ScratchFolder& scratch,
                      const std::string& name) {
  const std::string program = PLANSCOPE_BIN_DIR "/planscope", out = scratch.path(name + ".out"),
                    err = scratch.path(name + ".err");
  std::vector<std::string> all = {program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"--workspace", scratch.path("work.planscope")});
  std::vector<char*> argv;
  for (std::string& a : all) argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

Ended finish_planscope(pid_t pid, const ScratchFolder& scratch, const std::string& name,
                       std::chrono::seconds patience) {
  Ended e;
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (std::chrono::steady_clock::now() <= deadline)
    e.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  e.out = read_text(scratch.path(name + ".out"));
  e.err = read_text(scratch.path(name + ".err"));
  return e;
}

Ended planscope_program(const std::vector<std::string>& arguments, const ScratchFolder& scratch) {
  return finish_planscope(start_planscope(arguments, scratch, "last"), scratch, "last");
}

bool has_worker() { return fs::exists(PLANSCOPE_BIN_DIR "/planscope-worker"); }

}  // namespace planscope
