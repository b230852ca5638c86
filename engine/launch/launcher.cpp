#include "engine/launch/launcher.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>

#include "engine/base/text.h"
#include "engine/launch/agreement.h"
#include "engine/launch/rank_link.h"
#include "engine/launch/store.h"

namespace planscope {
namespace {

constexpr std::size_t tail_bytes = 4096;
constexpr int tick_ms = 50;
constexpr Microseconds reap_limit{2e6};  // after a kill; only a process stuck in the kernel takes longer

void add_to_tail(std::string& tail, std::string_view text) {
  tail += text;
  if (tail.size() > tail_bytes) tail.erase(0, tail.size() - tail_bytes);
}

// The last lines of standard error, for the reason of a failure.
std::string last_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string& line : split(text, '\n')) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  constexpr std::size_t most = 3;
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - most);
  return join(lines, " | ");
}

class Trial {
 public:
  Trial(const LaunchSpec& spec, const LaunchEvents& events, const std::atomic<bool>& stop, Processes& processes,
        const Clock& clock)
      : spec_(spec),
        events_(events),
        stop_(stop),
        processes_(processes),
        clock_(clock),
        watch_(spec.ranks, spec.limits, now()) {
    result_.ranks.resize(static_cast<std::size_t>(spec.ranks));
  }

  LaunchResult run() {
    if (start_all()) {
      while (!ended()) turn();
    }
    kill_all();
    explain();
    return std::move(result_);
  }

  // An exception of a callback leaves the ranks to this.
  ~Trial() {
    for (int rank = 0; rank < count(); ++rank) {
      if (!is_over(rank)) processes_.kill(link(rank).child());
    }
    const Microseconds since = now();
    for (int rank = 0; rank < count(); ++rank) {
      while (!is_over(rank) && now() - since < reap_limit) {
        wait_for_news();
        over_[static_cast<std::size_t>(rank)] = processes_.try_reap(link(rank).child()).has_value();
      }
    }
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  Microseconds now() const { return {static_cast<double>(clock_.steady_us())}; }
  int count() const { return static_cast<int>(links_.size()); }
  RankEnd& end_of(int rank) { return result_.ranks[static_cast<std::size_t>(rank)]; }
  bool is_over(int rank) const { return over_[static_cast<std::size_t>(rank)]; }
  RankLink& link(int rank) { return *links_[static_cast<std::size_t>(rank)]; }

  bool start_all() {
    const RankPlacement placement = place_ranks(spec_.ranks, spec_.cores.empty() ? available_cores() : spec_.cores);
    result_.oversubscribed = placement.oversubscribed;
    result_.threads = placement.threads;
    const Result<bool> gathered = processes_.gather(spec_.ranks, stop_);
    if (!gathered.ok()) result_.failure = LaunchFailure{-1, -1, to_string(gathered.diagnostics.front())};
    if (gathered.ok() && !*gathered) result_.status = LaunchStatus::interrupted;
    if (!gathered.ok() || !*gathered) return false;
    const std::int64_t origin = clock_.steady_us();
    for (int rank = 0; rank < spec_.ranks; ++rank) {
      PositionBoard board = PositionBoard::create();
      Result<Child> child = processes_.start(
          {spec_.program, spec_.arguments, placement.cores[static_cast<std::size_t>(rank)], board.fd()});
      if (!child.ok()) {
        result_.failure = LaunchFailure{rank, -1, to_string(child.diagnostics.front())};
        return false;
      }
      links_.push_back(std::make_unique<RankLink>(*child, std::move(board)));
      over_.push_back(false);
      result_.oversubscribed = result_.oversubscribed || child->oversubscribed;
      const bool has_board = child->pid >= 0 && links_.back()->board().fd() >= 0;
      const int threads = child->threads > 0 ? child->threads : placement.threads;
      links_.back()->send(MessageKind::welcome,
                          print(Welcome{rank, spec_.ranks, threads, has_board ? board_fd_of_child : -1,
                                        child->same_clock ? origin : -1, spec_.job}));
    }
    return true;
  }

  // One round: wait for news or the next tick, take the news, judge.
  void turn() {
    wait_for_news();
    for (int rank = 0; rank < count(); ++rank) take_news(rank);
  }

  void wait_for_news() {
    std::vector<pollfd> fds;
    for (const auto& l : links_) {
      const Child& c = l->child();
      const bool over = is_over(static_cast<int>(&l - links_.data()));
      fds.push_back({c.control, static_cast<short>(POLLIN | (l->wants_to_write() ? POLLOUT : 0)), 0});
      fds.push_back({c.out, POLLIN, 0});
      fds.push_back({c.err, POLLIN, 0});
      fds.push_back({over ? -1 : c.death, POLLIN, 0});  // poll skips negative descriptors
    }
    ::poll(fds.data(), fds.size(), tick_ms);
  }

  void take_news(int rank) {
    RankLink& l = link(rank);
    RankEnd& end = end_of(rank);
    // The end is asked for first: what a rank said before it died is then read completely below.
    std::optional<std::string> how = is_over(rank) ? std::nullopt : processes_.try_reap(l.child());
    const RankLink::Amount amount = how ? RankLink::Amount::all : RankLink::Amount::some;
    l.flush();
    read_messages(rank, amount);
    read_streams(rank, amount);
    if (const std::optional<Position> position = l.board().read()) watch_.located(rank, *position, now());
    if (watch_.is_overdue(rank, now()) && processes_.is_at_work(l.child())) watch_.at_work(rank, now());
    if (!how) return;
    over_[static_cast<std::size_t>(rank)] = true;
    end.how = *how;
    watch_.exited(rank, *how == clean_exit ? "exited before its work was done" : *how, now());
    end.last = watch_.position(rank);
  }

  void read_messages(int rank, RankLink::Amount amount) {
    Result<std::vector<Message>> messages = link(rank).read_messages(amount);
    if (!messages.ok()) return watch_.broke(rank, to_string(messages.diagnostics.front()), now());
    for (const Message& m : *messages) take_message(rank, m);
  }

  void take_message(int rank, const Message& m) {
    switch (m.kind) {
      case MessageKind::beat:
        if (Result<Position> p = parse_position(m.payload); checked(rank, p)) {
          watch_.beat(rank, *p, now());
          if (events_.on_position) events_.on_position(rank, *p);
        }
        break;
      case MessageKind::report:
        if (events_.on_report) events_.on_report(rank, m.payload);
        break;
      case MessageKind::failed:
        if (Result<FailureReport> f = parse_failure_report(m.payload); checked(rank, f))
          watch_.reported(rank, *f, now());
        break;
      case MessageKind::done:
        watch_.done(rank, now());
        break;
      case MessageKind::store:
        if (Result<StoreRequest> r = parse_store_request(m.payload); checked(rank, r)) {
          for (const auto& [to, reply] : store_.handle(rank, *r)) link(to).send(MessageKind::store, print(reply));
        }
        break;
      case MessageKind::agree:
        if (Result<Statement> s = parse_statement(m.payload); checked(rank, s)) {
          if (auto failure = agreement_.handle(rank, *s)) watch_.reported(rank, *failure, now());
        }
        break;
      case MessageKind::welcome:
      case MessageKind::stop:
      case MessageKind::join:
      case MessageKind::refused:
        watch_.broke(rank, "sent a '" + std::string(to_string(m.kind)) + "' message to the launcher", now());
        break;
    }
  }

  template <class T>
  bool checked(int rank, const Result<T>& r) {
    if (!r.ok()) watch_.broke(rank, to_string(r.diagnostics.front()), now());
    return r.ok();
  }

  void read_streams(int rank, RankLink::Amount amount) {
    const std::string out = link(rank).read_output(amount);
    const std::string err = link(rank).read_errors(amount);
    add_to_tail(end_of(rank).output_tail, out);
    add_to_tail(end_of(rank).error_tail, err);
    if (events_.on_output && !out.empty()) events_.on_output(rank, false, out);
    if (events_.on_output && !err.empty()) events_.on_output(rank, true, err);
  }

  bool ended() {
    if (stop_ && !stopping_since_) {
      stopping_since_ = now();
      for (const auto& l : links_) l->send(MessageKind::stop, "{}");
    }
    if (stopping_since_) {
      result_.status = LaunchStatus::interrupted;
      return watch_.all_exited() || now() - *stopping_since_ >= spec_.stop_limit;
    }
    if (std::optional<LaunchFailure> failure = watch_.verdict(now())) {
      result_.status = LaunchStatus::failed;
      result_.failure = std::move(failure);
      return true;
    }
    if (!watch_.all_done() || watch_.suspects()) return false;
    result_.status = LaunchStatus::done;
    if (!done_since_) done_since_ = now();
    return watch_.all_exited() || now() - *done_since_ >= spec_.exit_limit;
  }

  bool all_over() const { return std::find(over_.begin(), over_.end(), false) == over_.end(); }

  void kill_all() {
    for (int rank = 0; rank < count(); ++rank) {
      if (!is_over(rank)) processes_.kill(link(rank).child());
    }
    const Microseconds since = now();
    while (!all_over() && now() - since < reap_limit) turn();
  }

  void explain() {
    if (!result_.failure || result_.failure->rank < 0 || result_.failure->rank >= count()) return;
    const std::string said = last_lines(end_of(result_.failure->rank).error_tail);
    if (!said.empty()) result_.failure->reason += "; it wrote: " + said;
  }

  const LaunchSpec& spec_;
  const LaunchEvents& events_;
  const std::atomic<bool>& stop_;
  Processes& processes_;
  const Clock& clock_;
  Watch watch_;
  StoreRelay store_;
  AgreementRelay agreement_;
  std::vector<std::unique_ptr<RankLink>> links_;
  std::vector<bool> over_;  // of each: ended and reaped
  std::optional<Microseconds> stopping_since_;
  std::optional<Microseconds> done_since_;
  LaunchResult result_;
};

}  // namespace

std::string_view to_string(LaunchStatus s) {
  constexpr std::array<std::string_view, 3> names = {"done", "failed", "interrupted"};
  return names[static_cast<std::size_t>(s)];
}

LaunchResult launch(const LaunchSpec& spec, const LaunchEvents& events, const std::atomic<bool>& stop,
                    Processes& processes, const Clock& clock) {
  if (spec.ranks < 1) {
    LaunchResult nothing;
    nothing.failure = LaunchFailure{-1, -1, "a trial needs at least one rank"};
    return nothing;
  }
  return Trial(spec, events, stop, processes, clock).run();
}

}  // namespace planscope
