#pragma once
// Ranks that somebody else starts (torchrun, Slurm, MPI, a shell on each machine): they find the trial through a file
// that both sides can read, connect over TCP, and from then on are like ranks that were started here.
//
//   planscope                                      each rank (see `join` below)
//   listens, writes FILE: address, port, token ──▶ waits for FILE, connects, says token, rank, number of ranks, cores
//   gather(): until all ranks are there       ──▶  gets its Welcome and works
//
// The token is drawn for each trial and the file is readable by its owner alone (meeting.h); who does not know it is not heard, and
// who says nothing keeps nobody out. The
// connection is neither encrypted nor meant for networks that others can listen to. A rank has ended when its
// connection has; a rank whose connection has ended ends itself (ControlChannelSettings::end_with_launcher). Model,
// Program and one-device run are read from files, so the ranks must see the folders that planscope sees.
//
//   auto ranks = JoinedProcesses::listen("trial.join", "10.0.0.1", {});
//   if (!ranks.ok()) …
//   LaunchResult r = launch(spec, events, stop, **ranks, clock);                     // ranks may come in any order
//
// Errors of listen: no such address on this host, the file is something else or cannot be written. Of gather: a rank that does not belong to
// the trial (out of range, there twice, started as one of another number of ranks).
#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "engine/launch/message.h"
#include "engine/launch/processes.h"

namespace planscope {

using JoinProgress = std::function<void(int joined, int ranks)>;  // when the waiting begins and after each rank

class JoinedProcesses final : public Processes {
 public:
  static Result<std::unique_ptr<JoinedProcesses>> listen(const std::string& file, const std::string& address,
                                                         JoinProgress);
  ~JoinedProcesses() override;  // the file goes, unless it is another trial's by then
  JoinedProcesses(const JoinedProcesses&) = delete;
  JoinedProcesses& operator=(const JoinedProcesses&) = delete;

  Result<bool> gather(int ranks, const std::atomic<bool>& stop) override;
  Result<Child> start(const ChildSpec&) override;  // those that were gathered, in the order of their ranks
  void kill(const Child&) override;
  std::optional<std::string> try_reap(const Child&) override;
  bool is_at_work(const Child&) override;  // known of those on this host

 private:
  struct Guest {  // connected, and has not said who it is
    int fd;
    std::chrono::steady_clock::time_point since;
    FrameReader frames;
    std::size_t bytes = 0;
  };
  struct Joined {
    int fd;
    JoinRequest request;
  };

  JoinedProcesses(int fd, std::string file, std::string token, JoinProgress);
  void accept_guests();
  std::optional<Diagnostic> hear(Guest&, int ranks);  // closes it if it is not one of ours
  std::optional<Diagnostic> seat(Guest&, const Message&, int ranks);

  int listener_;
  std::string file_, token_;
  JoinProgress progress_;
  std::vector<Guest> guests_;
  std::map<int, Joined> joined_;    // by rank
  std::map<int, pid_t> processes_;  // of this host, by their connections
  ProcessActivity activity_;
  int started_ = 0;
};

// The side of a rank.

struct RankOfMany {
  int rank = 0, ranks = 1;
  bool operator==(const RankOfMany&) const = default;
};

// What torchrun (RANK, WORLD_SIZE), Slurm, Open MPI or a PMI launcher says in the environment; the first that is there
// counts. `variable` answers null for what is not set. Errors: none is there, or no number.
Result<RankOfMany> rank_in_environment(const std::function<const char*(const char*)>& variable);

// A connected descriptor for ControlChannel::connect. Waits for the file, and for somebody to listen where it says.
Result<int> join(const std::string& file, const RankOfMany&, Microseconds patience);

}  // namespace planscope
