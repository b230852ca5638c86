#pragma once
// Child processes as the launcher needs them: each in a process group of its own, killed by the kernel when the thread
// that started it ends (so no orphan is left even if planscope is killed), with one socket to talk through and pipes
// for its output. An interface: processes may also be others' (joining.h).
//
//   PosixProcesses processes;
//   Result<Child> child = processes.start({.program = "bin/planscope-worker", .arguments = {}, .cores = {0}});
//   …
//   processes.kill(*child);
//   while (!processes.try_reap(*child)) …
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope {

struct ChildSpec {
  std::string program;                      // a path
  std::vector<std::string> arguments = {};  // `--control-fd 3` is added
  std::vector<int> cores = {};              // pinned to these; empty: not pinned
  int board = -1;                           // becomes descriptor 4 of the child; -1: none
};

// Descriptors belong to whoever has the Child; all are non-blocking and closed on exec.
struct Child {
  pid_t pid = -1;
  int control = -1;  // our end of the socket pair
  int out = -1;      // read end of standard output
  int err = -1;      // read end of standard error
  int death = -1;    // becomes readable when the process ends; -1 where the kernel cannot (then ask try_reap)
  int threads = 0;   // that it should compute with; 0: as its placement here says
  bool oversubscribed = false;  // on a host of its own
  bool same_clock = true;       // its steady clock is ours
};

// The descriptor numbers under which a child finds its end of the control socket and the position board.
constexpr int control_fd_of_child = 3;
constexpr int board_fd_of_child = 4;

class Processes {
 public:
  virtual ~Processes() = default;
  // Called once, before the first start: waits for what must be there. False: `stop` came first.
  virtual Result<bool> gather(int /*ranks*/, const std::atomic<bool>& /*stop*/) { return true; }
  // Errors: the program is not there or cannot be executed, too many processes or files.
  virtual Result<Child> start(const ChildSpec& spec) = 0;
  virtual void kill(const Child& child) = 0;                            // the whole group, at once, for certain
  virtual std::optional<std::string> try_reap(const Child& child) = 0;  // how it ended: "exited with status 1"
  // It gets on, or would if the machine were quicker: a thread of it runs, could run or waits for the disk, or the process
  // has used the processor or memory since the last call. If it is not heard, the machine may be the reason.
  virtual bool is_at_work(const Child& child) = 0;
};

// The same of any process of this host, by what it had used when last looked.
class ProcessActivity {
 public:
  bool is_at_work(pid_t pid);

 private:
  std::map<pid_t, std::uint64_t> used_;
};

class PosixProcesses final : public Processes {
 public:
  Result<Child> start(const ChildSpec& spec) override;
  void kill(const Child& child) override;
  std::optional<std::string> try_reap(const Child& child) override;
  bool is_at_work(const Child& child) override { return activity_.is_at_work(child.pid); }

 private:
  ProcessActivity activity_;
};

// "exited with status 1", "killed by signal 9 (Killed)" from a wait status.
std::string describe_exit(int wait_status);
constexpr const char* clean_exit = "exited with status 0";

}  // namespace planscope
