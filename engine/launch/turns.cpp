#include "engine/launch/turns.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace planscope {

namespace {

constexpr int look_ms = 100;  // how soon a request to stop is seen

// For reading and writing, so that opening waits for nobody and the pipe has a reader as long as anyone is there.
int open_pipe(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC); }

}  // namespace

Result<Turns> Turns::open(const std::string& from, const std::string& to) {
  const int in = open_pipe(from);
  if (in < 0) return error("cannot open '" + from + "'", std::strerror(errno));
  const int out = open_pipe(to);
  if (out >= 0) return Turns(in, out);
  const int why = errno;
  ::close(in);
  return error("cannot open '" + to + "'", std::strerror(why));
}

Turns::Turns(Turns&& other) noexcept : from_(std::exchange(other.from_, -1)), to_(std::exchange(other.to_, -1)) {}

Turns::~Turns() {
  if (from_ >= 0) ::close(from_);
  if (to_ >= 0) ::close(to_);
}

bool Turns::take(const std::function<bool()>& stop) {
  while (!stop()) {
    pollfd ready{from_, POLLIN, 0};
    char token = 0;
    if (::poll(&ready, 1, look_ms) > 0 && ::read(from_, &token, 1) == 1) return true;
  }
  return false;
}

void Turns::give() {
  const char token = 1;
  while (::write(to_, &token, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace planscope
