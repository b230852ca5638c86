#pragma once
// A rank's side of the control channel: a socket to the launcher, inherited at start or connected (joining.h). Through it the rank gets its
// job, tells where it is (a heartbeat thread of its own, so that a long operator is no silence), sends reports, and
// shares small values with the other ranks (store()). Tensors never pass here.
//
// The launcher ends the trial when a rank dies, is silent for 3 s, reports a failure, or when all live ranks wait
// without progress for 3 s. So every wait must be told before it begins:
//
//   auto channel = ControlChannel::connect(control_fd);      // blocks until the job is here; starts the threads
//   if (!channel.ok()) { …print…; return 2; }
//   ControlChannel& c = **channel;
//   for (i = 0; …; ++i) {
//     if (c.stop_requested()) break;
//     c.working(i, "linear");                                // about 50 ns: once per instruction is fine
//     …compute…
//     { const WaitScope wait(c, i, "all_reduce lm_head", expected); work.wait(); }
//   }
//   c.report(R"({"step_us": 1200})");
//   c.done();                                                // or c.fail(i, "shape …", FailureOrigin::own)
//
// All members may be called from any thread. If the launcher is gone, sends answer false and the process is killed by
// the kernel anyway (parent-death signal). Errors of connect: the descriptor is not a channel, the launcher went away,
// the first message is malformed.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"
#include "engine/launch/message.h"
#include "engine/launch/position_board.h"
#include "engine/launch/store.h"

namespace planscope {

struct ControlChannelSettings {
  std::chrono::milliseconds beat_interval{200};
  bool end_with_launcher =
      false;  // this process ends when the connection is lost before done() (else the kernel ends it)
};

class ControlChannel final : private StoreLink {
 public:
  static Result<std::unique_ptr<ControlChannel>> connect(int fd, const ControlChannelSettings& settings = {});
  ~ControlChannel() override;
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  int rank() const { return welcome_.rank; }
  int ranks() const { return welcome_.ranks; }
  int threads() const { return welcome_.threads; }         // how many this rank should compute with
  std::string local_address() const;                       // of this host, as the launcher's network reaches it
  const std::string& job() const { return welcome_.job; }  // the launcher's LaunchSpec::job, as it is
  bool joined() const { return settings_.end_with_launcher; }  // the launcher did not start this process
  Microseconds now() const;                                // since the run began; one origin for all ranks of a host

  // Where this rank is. `expected` is how long a wait may rightly take (a large transfer): it is added to the 3 s.
  void working(std::int64_t instruction, std::string_view what);
  void waiting(std::int64_t instruction, std::string_view what, Microseconds expected = {});

  // The step of those positions that are told from now on: Position.
  void at_step(std::int64_t step, std::int64_t steps, std::int64_t instructions);

  std::int64_t instruction() const { return position().instruction; }

  bool report(std::string json);  // any JSON value; handed to the launcher's on_report in order
  bool fail(std::int64_t instruction, std::string reason, FailureOrigin origin = FailureOrigin::own);
  bool done();  // this rank's work is finished; exit with status 0 soon after

  // Tells what this rank is about to do with `members` ranks, at its current instruction (agreement.h). Does not wait.
  bool agree(std::string key, std::string value, int members, std::string what);

  bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }
  Store& store() { return store_; }

 private:
  friend class WaitScope;

  ControlChannel(int fd, Welcome welcome, const ControlChannelSettings& settings, FrameReader frames);
  bool send(MessageKind kind, std::string_view payload);
  void beat_loop();
  void read_loop(FrameReader frames);
  void set_position(Position position);
  Position position() const;

  // StoreLink
  bool store_send(const StoreRequest& request) override;
  Result<StoreReply> store_ask(StoreRequest request, std::chrono::milliseconds patience) override;

  int fd_;
  Welcome welcome_;
  ControlChannelSettings settings_;
  std::atomic<bool> stop_{false};

  std::mutex send_mutex_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Position position_;
  PositionBoard board_;
  bool closing_ = false;   // this object is being destroyed
  bool done_ = false;      // the launcher may hang up
  bool connected_ = true;  // the launcher is there
  std::int64_t next_request_ = 1;
  std::map<std::int64_t, StoreReply> replies_;

  Store store_{*this};
  std::thread beat_thread_;
  std::thread read_thread_;
};

// Tells a wait on entry and what was before on exit.
class WaitScope {
 public:
  WaitScope(ControlChannel& channel, std::int64_t instruction, std::string_view what, Microseconds expected = {});
  WaitScope(ControlChannel& channel, std::string_view what, Microseconds expected = {});  // at the current instruction
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  ControlChannel& channel_;
  Position before_;
};

}  // namespace planscope
