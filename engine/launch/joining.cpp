#include "engine/launch/joining.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/launch/meeting.h"
#include "engine/launch/placement.h"

namespace planscope {

namespace {

constexpr std::size_t most_of_a_guest = 64u << 10;  // bytes from one that has not shown the token
constexpr std::size_t most_guests = 256;                   // the oldest goes when one more comes
constexpr std::chrono::seconds longest_introduction{2};  // a rank introduces itself as soon as it is connected
constexpr int tick_ms = 50;

std::string random_token() {
  std::random_device source;
  std::string token;
  for (int i = 0; i < 2; ++i) token += hex(std::uint64_t{source()} << 32 | source());
  return token;
}

// The machine, so that its ranks share its cores: the name alone may be the same on two.
std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return std::string(name.data()) + " " + boot_of_this_machine();
}

struct Addresses {
  addrinfo* first = nullptr;
  ~Addresses() {
    if (first != nullptr) ::freeaddrinfo(first);
  }
};

// Why there is none, or nothing.
std::string look_up(const std::string& address, const std::string& port, Addresses& out) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int code = ::getaddrinfo(address.c_str(), port.c_str(), &hints, &out.first);
  return code == 0 ? "" : ::gai_strerror(code);
}

int socket_of(const addrinfo& a) { return ::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC, a.ai_protocol); }

int port_of(int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) return 0;
  return ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(at).sin6_port
                                        : reinterpret_cast<sockaddr_in&>(at).sin_port);
}

// A rank that hangs in the network is noticed by its heartbeat; small messages go at once.
void set_options(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

void refuse(int fd, const std::string& reason) {
  const std::string frame = encode(MessageKind::refused, print(FailureReport{-1, reason, FailureOrigin::own}));
  [[maybe_unused]] const ssize_t n = ::send(fd, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(fd);
}

}  // namespace

Result<std::unique_ptr<JoinedProcesses>> JoinedProcesses::listen(const std::string& file, const std::string& address,
                                                                 JoinProgress progress) {
  const auto cannot = [&](const std::string& why) {
    return error("cannot wait for ranks at '" + address + "'", why, "an address of this host that the ranks reach");
  };
  Addresses found;
  if (const std::string why = look_up(address, "0", found); !why.empty()) return cannot(why);
  const int fd = socket_of(*found.first);
  if (fd < 0 || ::bind(fd, found.first->ai_addr, found.first->ai_addrlen) != 0 || ::listen(fd, SOMAXCONN) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    return cannot(why);
  }
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  const Meeting meeting{address, std::to_string(port_of(fd)), random_token(), this_process()};
  if (std::vector<Diagnostic> problems = write_meeting(file, meeting); !problems.empty()) {
    ::close(fd);
    return problems;
  }
  return std::unique_ptr<JoinedProcesses>(new JoinedProcesses(fd, file, meeting.token, std::move(progress)));
}

JoinedProcesses::JoinedProcesses(int fd, std::string file, std::string token, JoinProgress progress)
    : listener_(fd), file_(std::move(file)), token_(std::move(token)), progress_(std::move(progress)) {}

JoinedProcesses::~JoinedProcesses() {
  ::close(listener_);
  for (const Guest& g : guests_) ::close(g.fd);
  for (const auto& [rank, j] : joined_) {
    if (rank >= started_) ::close(j.fd);
  }
  remove_meeting(file_, token_);
}

Result<bool> JoinedProcesses::gather(int ranks, const std::atomic<bool>& stop) {
  if (progress_) progress_(static_cast<int>(joined_.size()), ranks);
  while (static_cast<int>(joined_.size()) < ranks && !stop) {
    std::vector<pollfd> fds = {{listener_, POLLIN, 0}};
    for (const Guest& g : guests_) fds.push_back({g.fd, POLLIN, 0});
    ::poll(fds.data(), fds.size(), tick_ms);
    accept_guests();
    for (Guest& g : guests_) {
      const std::size_t before = joined_.size();
      if (const auto problem = hear(g, ranks)) return *problem;
      if (progress_ && joined_.size() > before) progress_(static_cast<int>(joined_.size()), ranks);
    }
    const auto now = std::chrono::steady_clock::now();
    for (Guest& g : guests_)
      if (g.fd >= 0 && now - g.since > longest_introduction) ::close(std::exchange(g.fd, -1));
    std::erase_if(guests_, [](const Guest& g) { return g.fd < 0; });
  }
  return static_cast<int>(joined_.size()) == ranks;
}

// As many as there is room for in one round: those are heard before more are let in, and the oldest of those that still say
// nothing go for them. Where the system gives no more descriptors, the same.
void JoinedProcesses::accept_guests() {
  const auto now = std::chrono::steady_clock::now();
  std::size_t in_the_way = guests_.size();
  for (std::size_t accepted = 0; accepted < most_guests;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const bool none_left = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (fd < 0 && (!none_left || in_the_way == 0)) return;
    if (in_the_way > 0 && (none_left || guests_.size() >= most_guests)) {
      ::close(guests_.front().fd);
      guests_.erase(guests_.begin());
      --in_the_way;
    }
    if (fd < 0) continue;
    set_options(fd);
    guests_.push_back({fd, now, {}, 0});
    ++accepted;
  }
}

std::optional<Diagnostic> JoinedProcesses::hear(Guest& guest, int ranks) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::recv(guest.fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    guest.bytes += n > 0 ? static_cast<std::size_t>(n) : 0;
    if (n <= 0 || guest.bytes > most_of_a_guest) break;
    guest.frames.add(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
    const Result<std::optional<Message>> message = guest.frames.next();
    if (!message.ok()) break;
    if (message->has_value()) return seat(guest, **message, ranks);
  }
  ::close(std::exchange(guest.fd, -1));
  return std::nullopt;
}

std::optional<Diagnostic> JoinedProcesses::seat(Guest& guest, const Message& message, int ranks) {
  const int fd = std::exchange(guest.fd, -1);
  const Result<JoinRequest> request = message.kind == MessageKind::join ? parse_join_request(message.payload)
                                                                        : Result<JoinRequest>(error("not a rank"));
  if (!request.ok() || request->token != token_) {
    refuse(fd, "this is another trial");
    return std::nullopt;
  }
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    refuse(fd, what);
    return error(what, "", hint);
  };
  const std::string rank = "rank " + std::to_string(request->rank);
  if (request->ranks != ranks)
    return wrong(rank + " was started as one of " + std::to_string(request->ranks) + ", but the plan is for " +
                     std::to_string(ranks) + " devices",
                 "start " + std::to_string(ranks) + " ranks");
  if (joined_.count(request->rank) > 0) return wrong(rank + " joined twice", "start every rank once");
  joined_[request->rank] = {fd, *request};
  return std::nullopt;
}

// Ranks of one host share the cores that they have together.
Result<Child> JoinedProcesses::start(const ChildSpec&) {
  const Joined& own = joined_.at(started_++);
  std::set<int> cores;
  int ranks = 0;
  for (const auto& [rank, other] : joined_) {
    if (other.request.host != own.request.host) continue;
    cores.insert(other.request.cores.begin(), other.request.cores.end());
    ++ranks;
  }
  const RankPlacement placement = place_ranks(ranks, {cores.begin(), cores.end()});
  Child child;
  child.control = own.fd;
  child.threads = std::min(placement.threads, static_cast<int>(own.request.cores.size()));
  child.oversubscribed = placement.oversubscribed;
  child.same_clock = own.request.host == this_host();
  if (child.same_clock) processes_[own.fd] = static_cast<pid_t>(own.request.process);
  return child;
}

bool JoinedProcesses::is_at_work(const Child& child) {
  const auto here = processes_.find(child.control);
  return here != processes_.end() && activity_.is_at_work(here->second);
}

void JoinedProcesses::kill(const Child& child) {
  if (child.control >= 0) ::shutdown(child.control, SHUT_RDWR);
}

std::optional<std::string> JoinedProcesses::try_reap(const Child& child) {
  char byte = 0;
  if (child.control >= 0) {
    const ssize_t n = ::recv(child.control, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return std::nullopt;
  }
  return "ended its connection";
}

Result<RankOfMany> rank_in_environment(const std::function<const char*(const char*)>& variable) {
  constexpr std::array<std::array<const char*, 2>, 4> names = {{{"RANK", "WORLD_SIZE"},
                                                                {"SLURM_PROCID", "SLURM_NTASKS"},
                                                                {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                                {"PMI_RANK", "PMI_SIZE"}}};
  for (const auto& [rank_name, ranks_name] : names) {
    const char *rank = variable(rank_name), *ranks = variable(ranks_name);
    if (rank == nullptr || ranks == nullptr) continue;
    const auto number = [](std::string_view text, int& out) {
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
      return code == std::errc() && end == text.data() + text.size();
    };
    RankOfMany r;
    if (!number(rank, r.rank) || !number(ranks, r.ranks) || r.rank < 0 || r.rank >= r.ranks)
      return error(std::string(rank_name) + "=" + rank + " of " + ranks_name + "=" + ranks + " is no rank");
    return r;
  }
  return error("no rank in the environment",
               "RANK and WORLD_SIZE (torchrun), SLURM_PROCID, OMPI_COMM_WORLD_RANK or "
               "PMI_RANK are not set",
               "--rank and --ranks");
}

namespace {

// Connected and introduced; -1 and why not, or `foreign`: the file is one that no trial writes.
int try_to_join(const std::string& file, const RankOfMany& who, std::string& why, bool& foreign) {
  const std::optional<Meeting> meeting = read_meeting(file);
  if (!meeting && is_foreign_file(file)) return foreign = true, -1;
  if (!meeting) return why = "'" + file + "' is not there yet", -1;
  if (is_abandoned(*meeting)) return why = "the trial that wrote '" + file + "' has ended", -1;
  Addresses found;
  why = look_up(meeting->address, meeting->port, found);
  if (!why.empty()) return -1;
  const int fd = socket_of(*found.first);
  const JoinRequest request{meeting->token, who.rank, who.ranks, this_host(), ::getpid(), available_cores()};
  const std::string frame = encode(MessageKind::join, print(request));
  if (fd >= 0 && ::connect(fd, found.first->ai_addr, found.first->ai_addrlen) == 0 &&
      ::send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(frame.size())) {
    set_options(fd);
    return fd;
  }
  why = meeting->address + " port " + meeting->port + ": " + std::strerror(errno);
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace

Result<int> join(const std::string& file, const RankOfMany& who, Microseconds patience) {
  const SystemClock clock;
  const std::int64_t begin = clock.steady_us();
  std::string why;
  bool foreign = false;
  for (;;) {
    if (const int fd = try_to_join(file, who, why, foreign); fd >= 0) return fd;
    if (foreign)
      return error(
          "'" + file + "' is no file that ranks join by",
          "it is damaged, or something else has written it: such a file is one line of an address, a port, a token "
          "and the process that waits",
          "name the FILE of the trial that waits, planscope run MODEL PLAN --procs N --join FILE");
    if (static_cast<double>(clock.steady_us() - begin) >= patience.count)
      return error("no trial to join", why, "planscope run MODEL PLAN --procs N --join " + file);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace planscope
