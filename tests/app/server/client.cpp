#include "tests/app/server/client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>

namespace planscope::testing {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using server::Json;

namespace {

tcp::socket connected(asio::io_context& io, const std::string& port, int milliseconds) {
  tcp::socket s(io);
  s.connect(tcp::endpoint(asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(std::stoi(port))));
  const timeval patience{milliseconds / 1000, milliseconds % 1000 * 1000};
  ::setsockopt(s.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return s;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string Reply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Json Reply::json() const { return Json::parse(body, nullptr, false); }

Client::Client(const server::Server& s) : token_(s.token()), port_(s.base().substr(s.base().rfind(':') + 1)) {}

Reply Client::send(const std::string& method, const std::string& target, const std::string& body,
                   Headers headers) const {
  http::request<http::string_body> request;
  request.method_string(method);
  request.target(target);
  request.set(http::field::host, host());
  request.set(http::field::authorization, "token " + token_);
  request.set(http::field::connection, "close");
  for (const auto& [name, value] : headers)
    value.empty() ? static_cast<void>(request.erase(name)) : request.set(name, value);
  request.body() = body;
  if (!body.empty()) request.prepare_payload();
  asio::io_context io;
  tcp::socket socket = connected(io, port_, 60'000);
  boost::system::error_code e;
  http::write(socket, request, e);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(1u << 30);
  if (method == "HEAD") parser.skip(true);
  http::read(socket, buffer, parser, e);
  if (e) return {};
  Reply out{parser.get().result_int(), {}, parser.get().body()};
  for (const auto& field : parser.get())
    out.headers[lower(std::string(field.name_string()))] = std::string(field.value());
  return out;
}

Reply Client::get(const std::string& target, Headers headers) const {
  return send("GET", target, "", std::move(headers));
}

Reply Client::post(const std::string& target, const Json& body, Headers headers) const {
  headers.insert(headers.begin(), {"Content-Type", "application/json"});
  return send("POST", target, body.dump(), std::move(headers));
}

Reply Client::run(const std::string& line) const { return post("/api/commands", {{"line", line}}); }

Json Client::panel(const std::string& name) const { return get("/api/panels/" + name + "?wait=60").json(); }

std::string Client::raw(const std::string& bytes, int milliseconds) const {
  asio::io_context io;
  tcp::socket socket = connected(io, port_, milliseconds);
  boost::system::error_code e;
  asio::write(socket, asio::buffer(bytes), e);
  std::string out(1 << 16, '\0');
  std::size_t size = 0;
  while (size < out.size()) {
    const ssize_t more = ::recv(socket.native_handle(), out.data() + size, out.size() - size, 0);
    if (more <= 0) break;
    size += static_cast<std::size_t>(more);
  }
  out.resize(size);
  return out;
}

std::string Client::event(const std::string& last_id) const {
  asio::io_context io;
  tcp::socket socket = connected(io, port_, 20'000);
  const std::string request = "GET /api/events HTTP/1.1\r\nHost: " + host() + "\r\nAuthorization: token " + token_ +
                              "\r\n" + (last_id.empty() ? "" : "Last-Event-ID: " + last_id + "\r\n") + "\r\n";
  asio::write(socket, asio::buffer(request));
  std::string out;
  while (out.find("}\n\n") == std::string::npos) {
    char some[512];
    const ssize_t more = ::recv(socket.native_handle(), some, sizeof some, 0);
    if (more <= 0) break;
    out.append(some, static_cast<std::size_t>(more));
  }
  return out;
}

std::shared_ptr<void> Client::listen(const std::string& session) const {
  struct Listening {
    asio::io_context io;
    std::optional<tcp::socket> socket;
  };
  auto it = std::make_shared<Listening>();
  it->socket = connected(it->io, port_, 20'000);
  const std::string request = "GET /api/events?session=" + session + " HTTP/1.1\r\nHost: " + host() +
                              "\r\nAuthorization: token " + token_ + "\r\n\r\n";
  asio::write(*it->socket, asio::buffer(request));
  return it;
}

}  // namespace planscope::testing
