// Ranks that the launcher did not start: real connections, ranks as threads of this process.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "engine/base/temporary_folder.h"
#include "engine/launch/control_channel.h"
#include "engine/launch/joining.h"
#include "engine/launch/launcher.h"
#include "engine/launch/meeting.h"

using namespace planscope;
using namespace std::chrono_literals;

namespace {

constexpr Microseconds patience{10e6};

struct Gathering {
  TemporaryFolder folder{"join"};
  std::string file = folder / "trial.join";
  std::vector<std::pair<int, int>> progress;
  std::unique_ptr<JoinedProcesses> processes;

  Gathering() {
    auto made = JoinedProcesses::listen(file, "127.0.0.1", [this](int n, int of) { progress.emplace_back(n, of); });
    REQUIRE(made.ok());
    processes = std::move(*made);
  }
};

// What a rank of a trial does: joins, shares a value, says that it is done.
std::string take_part(const std::string& file, RankOfMany who) {
  const Result<int> fd = join(file, who, patience);
  if (!fd.ok()) return to_string(fd.diagnostics);
  auto channel = ControlChannel::connect(*fd, {.beat_interval = 50ms});
  if (!channel.ok()) return to_string(channel.diagnostics);
  ControlChannel& c = **channel;
  c.store().set("address/" + std::to_string(c.rank()), c.local_address());
  for (int r = 0; r < c.ranks(); ++r) {
    if (!c.store().get("address/" + std::to_string(r), 10s).ok()) return "rank " + std::to_string(r) + " is not there";
  }
  c.done();
  return "rank " + std::to_string(c.rank()) + " of " + std::to_string(c.ranks()) + ", job " + c.job() + " at " +
         c.local_address();
}

int connected(const std::string& port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  return fd;
}

LaunchResult launch_joined(Gathering& m, int ranks, const std::atomic<bool>& stop = false) {
  return launch({.program = {}, .ranks = ranks, .job = "meet"}, {}, stop, *m.processes, SystemClock());
}

Result<RankOfMany> in_environment(const std::map<std::string, std::string>& variables) {
  return rank_in_environment([&](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

}  // namespace

TEST_CASE("ranks join in any order and work", "[joining]") {
  Gathering m;
  std::vector<std::string> said(3);
  std::vector<std::thread> ranks;
  for (const int r : {2, 0, 1}) {
    ranks.emplace_back([&, r] { said[static_cast<std::size_t>(r)] = take_part(m.file, {r, 3}); });
    std::this_thread::sleep_for(20ms);
  }
  const LaunchResult result = launch_joined(m, 3);
  for (std::thread& t : ranks) t.join();
  CHECK(result.status == LaunchStatus::done);
  for (int r = 0; r < 3; ++r)
    CHECK(said[static_cast<std::size_t>(r)] == "rank " + std::to_string(r) + " of 3, job meet at 127.0.0.1");
  CHECK(m.progress.front() == std::pair(0, 3));
  CHECK(m.progress.back() == std::pair(3, 3));
  CHECK(result.oversubscribed == (available_cores().size() < 3));
}

TEST_CASE("the file is for its owner alone and goes with the trial", "[joining]") {
  Gathering m;
  struct stat status{};
  REQUIRE(::stat(m.file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  m.processes.reset();
  CHECK(::access(m.file.c_str(), F_OK) != 0);
}

TEST_CASE("a file that another trial has written stays", "[joining]") {
  Gathering first;
  const auto own = read_meeting(first.file);
  REQUIRE(own);
  const auto second = JoinedProcesses::listen(first.file, "127.0.0.1", {});
  CHECK(to_string(second.diagnostics.front()) ==
        "'" + first.file + "' belongs to another trial; process " + std::to_string(::getpid()) +
            " waits for its ranks there; another name");
  Meeting other = *own;
  other.token = "0123456789abcdef";
  ::unlink(first.file.c_str());
  REQUIRE(write_meeting(first.file, other).empty());
  first.processes.reset();
  CHECK(read_meeting(first.file)->token == other.token);
}

TEST_CASE("what a trial that was killed has left is replaced, and nobody joins it", "[joining]") {
  const TemporaryFolder folder("join");
  const std::string file = folder / "f";
  Meeting left{"127.0.0.1", "1", "0123456789abcdef", this_process()};
  left.owner.start -= 1;
  REQUIRE(write_meeting(file, left).empty());
  CHECK(join(file, {0, 1}, Microseconds{0.1e6}).diagnostics.front().why == "the trial that wrote '" + file + "' has ended");
  const auto next = JoinedProcesses::listen(file, "127.0.0.1", {});
  REQUIRE(next.ok());
  CHECK(read_meeting(file)->token != left.token);
}

TEST_CASE("a file of somebody else is neither written over nor removed", "[joining]") {
  const TemporaryFolder folder("join");
  const std::string file = folder / "precious";
  for (const std::string text : {"", "127.0.0.1 80 token\n", "weights"}) {
    std::ofstream(file) << text;
    const auto refused = JoinedProcesses::listen(file, "127.0.0.1", {});
    REQUIRE_FALSE(refused.ok());
    CHECK(to_string(refused.diagnostics.front()) == "'" + file +
                                                        "' is there already; it is no file that ranks join by, or a "
                                                        "damaged one, and is not written over; give --join "
                                                        "the name of a file that is not there, or remove this one");
    CHECK(to_string(join(file, {0, 1}, Microseconds{20e6}).diagnostics.front()) ==
          "'" + file +
              "' is no file that ranks join by; it is damaged, or something else has written it: such a file is one "
              "line of "
              "an address, a port, a token and the process that waits; name the FILE of the trial that waits, "
              "planscope run "
              "MODEL PLAN --procs N --join FILE");
    std::ifstream in(file);
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == text);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(JoinedProcesses::listen(folder / "pipe", "127.0.0.1", {}).ok());
}

TEST_CASE("connections that say nothing keep no rank out", "[joining]") {
  Gathering m;
  const auto where = read_meeting(m.file);
  std::vector<int> silent;
  for (int i = 0; i < 400; ++i) silent.push_back(connected(where->port));  // more than are let in at once
  std::string said;
  std::thread rank([&] { said = take_part(m.file, {0, 1}); });
  const LaunchResult result = launch_joined(m, 1);
  rank.join();
  for (const int fd : silent) ::close(fd);
  CHECK(result.status == LaunchStatus::done);
  CHECK(said == "rank 0 of 1, job meet at 127.0.0.1");
}

TEST_CASE("ranks that join and say nothing more are silent", "[joining]") {
  Gathering m;
  const auto where = read_meeting(m.file);
  const int fd = connected(where->port);
  const JoinRequest request{where->token, 0, 1, "elsewhere", 0, {0}};
  const std::string frame = encode(MessageKind::join, print(request));
  REQUIRE(::send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(frame.size()));
  const LaunchResult result = launch_joined(m, 1);
  ::close(fd);
  CHECK(result.failure == LaunchFailure{0, -1, "no sign of life for 3 s, before it told where it is"});
}

TEST_CASE("who does not know the token, or speaks nonsense, is not heard", "[joining]") {
  Gathering m;
  Meeting meeting = *read_meeting(m.file);
  meeting.token = "0123456789abcdef";
  const std::string forged = m.folder / "forged.join";
  REQUIRE(write_meeting(forged, meeting).empty());
  std::string stranger;
  std::thread other([&] { stranger = take_part(forged, {0, 1}); });
  std::thread nonsense([&] {
    const Result<int> fd = join(forged, {0, 1}, patience);
    const std::string text(1 << 20, 'x');
    [[maybe_unused]] const ssize_t n = ::send(*fd, text.data(), text.size(), MSG_NOSIGNAL);
    ::close(*fd);
  });
  std::string said;
  std::thread rank([&] {
    std::this_thread::sleep_for(300ms);
    said = take_part(m.file, {0, 1});
  });
  const LaunchResult result = launch_joined(m, 1);
  rank.join();
  other.join();
  nonsense.join();
  CHECK(result.status == LaunchStatus::done);
  CHECK(said == "rank 0 of 1, job meet at 127.0.0.1");
  CHECK(stranger.find("this is another trial") != std::string::npos);
}

TEST_CASE("ranks that do not fit are told, on both sides", "[joining]") {
  const auto refusal = [](std::vector<RankOfMany> guests) {
    Gathering m;
    std::vector<std::string> said(guests.size());
    std::vector<std::thread> ranks;
    for (std::size_t i = 0; i < guests.size(); ++i) {
      ranks.emplace_back([&, i] {
        std::this_thread::sleep_for(100ms * i);
        said[i] = take_part(m.file, guests[i]);
      });
    }
    const LaunchResult result = launch_joined(m, 2);
    m.processes.reset();  // hangs up on those that waited
    for (std::thread& t : ranks) t.join();
    CHECK(result.status == LaunchStatus::failed);
    REQUIRE(result.failure);
    CHECK(result.failure->rank == -1);
    CHECK(said.back().find(result.failure->reason.substr(0, 20)) != std::string::npos);
    return result.failure->reason;
  };
  CHECK(refusal({{0, 3}}) == "rank 0 was started as one of 3, but the plan is for 2 devices; start 2 ranks");
  CHECK(refusal({{1, 2}, {1, 2}}) == "rank 1 joined twice; start every rank once");
}

TEST_CASE("waiting for ranks can be stopped", "[joining]") {
  Gathering m;
  std::atomic<bool> stop{false};
  std::thread later([&] {
    std::this_thread::sleep_for(200ms);
    stop = true;
  });
  CHECK(launch_joined(m, 2, stop).status == LaunchStatus::interrupted);
  later.join();
}

TEST_CASE("a rank whose connection ends before its work is done has failed", "[joining]") {
  Gathering m;
  std::thread rank([&] {
    const Result<int> fd = join(m.file, {0, 1}, patience);
    auto channel = ControlChannel::connect(*fd);
    (*channel)->working(5, "linear");
    std::this_thread::sleep_for(300ms);
  });
  const LaunchResult result = launch_joined(m, 1);
  rank.join();
  REQUIRE(result.failure);
  CHECK(result.failure->reason == "ended its connection in linear");
  CHECK(result.failure->instruction == 5);
}

TEST_CASE("no trial to join is told after the patience", "[joining]") {
  const TemporaryFolder folder("join");
  CHECK(to_string(join(folder / "none", {0, 1}, Microseconds{0.3e6}).diagnostics.front()) ==
        "no trial to join; '" + (folder / "none") + "' is not there yet; planscope run MODEL PLAN --procs N --join " +
            (folder / "none"));
}

TEST_CASE("an address of another host, and a folder that is not there, are told", "[joining]") {
  const TemporaryFolder folder("join");
  const auto elsewhere = JoinedProcesses::listen(folder / "f", "203.0.113.7", {});
  CHECK(
      to_string(elsewhere.diagnostics.front()) ==
      "cannot wait for ranks at '203.0.113.7'; Cannot assign requested address; an address of this host that the ranks "
      "reach");
  const auto nowhere = JoinedProcesses::listen(folder / "no/f", "127.0.0.1", {});
  CHECK(to_string(nowhere.diagnostics.front()) ==
        "cannot write '" + (folder / "no/f") + "'; No such file or directory");
}

TEST_CASE("the rank is what torchrun, Slurm, Open MPI or PMI say", "[joining]") {
  CHECK(*in_environment({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}) ==
        RankOfMany{3, 4});
  CHECK(*in_environment({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}) == RankOfMany{1, 2});
  CHECK(*in_environment({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}) == RankOfMany{1, 2});
  CHECK(*in_environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}}) == RankOfMany{0, 8});
  CHECK(to_string(in_environment({{"RANK", "4"}, {"WORLD_SIZE", "4"}}).diagnostics.front()) ==
        "RANK=4 of WORLD_SIZE=4 is no rank");
  CHECK(to_string(in_environment({{"RANK", "x"}, {"WORLD_SIZE", "4"}}).diagnostics.front()) ==
        "RANK=x of WORLD_SIZE=4 is no rank");
  CHECK_FALSE(in_environment({{"RANK", "1"}}).ok());
}
