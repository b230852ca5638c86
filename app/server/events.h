#pragma once
// Tells clients that the session has changed, as server-sent events. One that reads slowly misses revisions in between,
// never the newest, and holds nobody up. Of the I/O thread alone, but for changed().
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <set>
#include <string>

namespace planscope::server {

class Events {
 public:
  explicit Events(boost::asio::io_context& io) : io_(io) {}

  void changed();  // on any thread; those who wait are woken
  std::set<boost::asio::steady_timer*>& waiting() { return waiting_; }

  static std::string event(std::uint64_t revision);
  static constexpr const char* heartbeat = ": alive\n\n";
  static constexpr std::chrono::seconds silence{15};       // at most, between two signs of life
  static constexpr std::chrono::milliseconds between{25};  // at least, between two events

 private:
  boost::asio::io_context& io_;
  std::atomic<bool> posted_ = false;
  std::set<boost::asio::steady_timer*> waiting_;
};

}  // namespace planscope::server
