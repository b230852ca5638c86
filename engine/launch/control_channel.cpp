#include "engine/launch/control_channel.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/base/clock.h"
#include "engine/base/text.h"

namespace planscope {
namespace {

Diagnostic no_channel(std::string why) {
  return error("no job came over the control channel", std::move(why), "this program is started by planscope");
}

// The next message of a blocking socket; an error if the other side is gone or speaks another language.
Result<Message> receive(int fd, FrameReader& frames) {
  std::array<char, 65536> buffer;
  for (;;) {
    Result<std::optional<Message>> next = frames.next();
    if (!next.ok()) return next.diagnostics;
    if (next->has_value()) return std::move(**next);
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return no_channel(std::strerror(errno));
    if (n == 0) return no_channel("the launcher is gone");
    frames.add(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
  }
}

}  // namespace

Result<std::unique_ptr<ControlChannel>> ControlChannel::connect(int fd, const ControlChannelSettings& settings) {
  FrameReader frames;
  Result<Message> first = receive(fd, frames);
  if (!first.ok()) return first.diagnostics;
  if (first->kind == MessageKind::refused) {
    const Result<FailureReport> report = parse_failure_report(first->payload);
    return no_channel(report.ok() ? report->reason : "refused");
  }
  if (first->kind != MessageKind::welcome)
    return no_channel("the first message is '" + std::string(to_string(first->kind)) + "'");
  Result<Welcome> welcome = parse_welcome(first->payload);
  if (!welcome.ok()) return welcome.diagnostics;
  if (welcome->origin_us < 0) welcome->origin_us = SystemClock().steady_us();
  return std::unique_ptr<ControlChannel>(new ControlChannel(fd, std::move(*welcome), settings, std::move(frames)));
}

ControlChannel::ControlChannel(int fd, Welcome welcome, const ControlChannelSettings& settings, FrameReader frames)
    : fd_(fd), welcome_(std::move(welcome)), settings_(settings), board_(PositionBoard::open(welcome_.board_fd)) {
  beat_thread_ = std::thread([this] { beat_loop(); });
  read_thread_ = std::thread([this, rest = std::move(frames)]() mutable { read_loop(std::move(rest)); });
}

ControlChannel::~ControlChannel() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  beat_thread_.join();
  ::shutdown(fd_, SHUT_RDWR);  // wakes the reader; what was sent before still arrives
  read_thread_.join();
  ::close(fd_);
}

Microseconds ControlChannel::now() const {
  return {static_cast<double>(SystemClock().steady_us() - welcome_.origin_us)};
}

bool ControlChannel::send(MessageKind kind, std::string_view payload) {
  const std::string frame = encode(kind, payload);
  const std::lock_guard lock(send_mutex_);
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t n = ::send(fd_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

void ControlChannel::beat_loop() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const std::string beat = print(position_);
    lock.unlock();
    send(MessageKind::beat, beat);
    lock.lock();
    changed_.wait_for(lock, settings_.beat_interval, [this] { return closing_; });
  }
}

void ControlChannel::read_loop(FrameReader frames) {
  for (;;) {
    Result<Message> message = receive(fd_, frames);
    const bool lost = !message.ok();
    if (!lost && message->kind == MessageKind::stop) stop_ = true;
    const std::lock_guard lock(mutex_);
    if (lost && settings_.end_with_launcher && !done_ && !closing_) std::_Exit(1);
    if (lost) connected_ = false;
    if (lost) stop_ = true;
    if (!lost && message->kind == MessageKind::store) {
      if (Result<StoreReply> reply = parse_store_reply(message->payload); reply.ok()) {
        const auto it = replies_.find(reply->id);
        if (it != replies_.end()) it->second = std::move(*reply);
      }
    }
    changed_.notify_all();
    if (lost) return;
  }
}

void ControlChannel::set_position(Position position) {
  const std::lock_guard lock(mutex_);
  position.changes = position_.changes + 1;
  position.step = position_.step;
  position.steps = position_.steps;
  position.instructions = position_.instructions;
  position_ = std::move(position);
  board_.write(position_);
}

Position ControlChannel::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

void ControlChannel::at_step(std::int64_t step, std::int64_t steps, std::int64_t instructions) {
  const std::lock_guard lock(mutex_);
  position_.step = step;
  position_.steps = steps;
  position_.instructions = instructions;
}

void ControlChannel::working(std::int64_t instruction, std::string_view what) {
  set_position({instruction, false, std::string(what), {}, 0});
}

void ControlChannel::waiting(std::int64_t instruction, std::string_view what, Microseconds expected) {
  set_position({instruction, true, std::string(what), expected, 0});
}

bool ControlChannel::report(std::string json) { return send(MessageKind::report, json); }

bool ControlChannel::fail(std::int64_t instruction, std::string reason, FailureOrigin origin) {
  return send(MessageKind::failed, print(FailureReport{instruction, std::move(reason), origin}));
}

bool ControlChannel::agree(std::string key, std::string value, int members, std::string what) {
  return send(MessageKind::agree,
              print(Statement{std::move(key), std::move(value), members, position().instruction, std::move(what)}));
}

bool ControlChannel::done() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  return send(MessageKind::done, "{}");
}

std::string ControlChannel::local_address() const {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  std::array<char, NI_MAXHOST> text{};
  auto* address = reinterpret_cast<sockaddr*>(&at);
  if (::getsockname(fd_, address, &size) != 0 || at.ss_family == AF_UNIX ||
      ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "127.0.0.1";
  return text.data();
}

bool ControlChannel::store_send(const StoreRequest& request) { return send(MessageKind::store, print(request)); }

Result<StoreReply> ControlChannel::store_ask(StoreRequest request, std::chrono::milliseconds patience) {
  const WaitScope waiting_for(*this, "store " + join(request.keys, " "));
  {
    const std::lock_guard lock(mutex_);
    request.id = next_request_++;
    replies_[request.id] = StoreReply{};  // id 0: not there yet
  }
  const bool sent = send(MessageKind::store, print(request));
  std::unique_lock lock(mutex_);
  const auto answered = [&] { return !connected_ || replies_[request.id].id != 0; };
  const bool in_time = sent && changed_.wait_for(lock, patience, answered);
  StoreReply reply = std::move(replies_[request.id]);
  replies_.erase(request.id);
  if (reply.id != 0) return reply;
  const std::string what = "no value for " + join(request.keys, ", ") + " came from the other ranks";
  if (in_time || !sent) return error(what, "the launcher is gone");
  return error(what, "the time limit of " + std::to_string(patience.count()) + " ms passed");
}

WaitScope::WaitScope(ControlChannel& channel, std::int64_t instruction, std::string_view what, Microseconds expected)
    : channel_(channel), before_(channel.position()) {
  channel_.waiting(instruction, what, expected);
}

WaitScope::WaitScope(ControlChannel& channel, std::string_view what, Microseconds expected)
    : channel_(channel), before_(channel.position()) {
  channel_.waiting(before_.instruction, what, expected);
}

WaitScope::~WaitScope() { channel_.set_position(std::move(before_)); }

}  // namespace planscope
