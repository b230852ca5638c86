#include "engine/launch/rank_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace planscope {
namespace {

constexpr std::size_t some_bytes = 4u << 20;

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// What can be read now. At its end, or on an error, the descriptor is closed.
std::string drain(int& fd, RankLink::Amount amount) {
  std::string text;
  std::array<char, 65536> buffer;
  while (fd >= 0 && (amount == RankLink::Amount::all || text.size() < some_bytes)) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0)
      close_fd(fd);
    else
      text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

RankLink::~RankLink() {
  for (int* fd : {&child_.control, &child_.out, &child_.err, &child_.death}) close_fd(*fd);
}

void RankLink::send(MessageKind kind, std::string_view payload) {
  if (child_.control < 0) return;
  outgoing_ += encode(kind, payload);
  flush();
}

void RankLink::flush() {
  while (wants_to_write()) {
    const ssize_t n = ::send(child_.control, outgoing_.data() + written_, outgoing_.size() - written_, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      if (errno != EAGAIN) written_ = outgoing_.size();  // it is gone, which its exit will tell
      break;
    }
    written_ += static_cast<std::size_t>(n);
  }
  if (written_ == outgoing_.size()) {
    outgoing_.clear();
    written_ = 0;
  }
}

Result<std::vector<Message>> RankLink::read_messages(Amount amount) {
  frames_.add(drain(child_.control, amount));
  std::vector<Message> messages;
  for (;;) {
    Result<std::optional<Message>> next = frames_.next();
    if (!next.ok()) {
      close_fd(child_.control);
      return next.diagnostics;
    }
    if (!next->has_value()) return messages;
    messages.push_back(std::move(**next));
  }
}

std::string RankLink::read_output(Amount amount) { return drain(child_.out, amount); }
std::string RankLink::read_errors(Amount amount) { return drain(child_.err, amount); }

}  // namespace planscope
