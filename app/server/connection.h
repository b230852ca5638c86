#pragma once
// One connection: reads requests with limits of time and size, asks who they are, and writes what the routes answer.
// Everything on the I/O thread, as coroutines; a client that is slow holds up nobody but itself.
#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>

#include "app/server/access.h"
#include "app/server/rate.h"
#include "app/server/sessions.h"

namespace planscope::server {

struct Limits {
  std::uint32_t header_bytes = 16 * 1024;
  std::uint64_t body_bytes = 4 * 1024 * 1024;
  std::uint64_t upload_bytes = std::uint64_t{2} << 30;
  std::size_t connections = 512, connections_of_an_address = 256;  // that have been let in
  std::size_t strangers = 64;  // connections that have not: one more ends the oldest of them
  std::chrono::seconds header_time{10}, body_time{30}, write_time{30}, idle_time{75};
  std::chrono::seconds upload_time{3600};
};

// What all connections share; of the I/O thread.
struct Shared {
  Access& access;
  Sessions& sessions;
  Limits limits;
  std::string uploads;  // folder; empty: nothing can be uploaded
  bool tls = false;
  Rate rate = {};
  std::size_t connections = 0;  // that have been let in
  std::map<std::string, std::size_t> of_address = {};
  std::list<std::function<void()>> strangers = {};  // the oldest first: what ends each of the others
};

using TcpStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

boost::asio::awaitable<void> serve(TcpStream, std::shared_ptr<Shared>, std::string address);
boost::asio::awaitable<void> serve(TlsStream, std::shared_ptr<Shared>, std::string address);

}  // namespace planscope::server
