#include "app/server/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "app/server/on_pool.h"
#include "engine/base/text.h"

namespace planscope::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr std::chrono::seconds kClosingTime{2};

using Error = boost::system::error_code;
using Head = http::request_parser<http::empty_body>;

// Counts the connection as long as it is there. Until a request of it has been let in it is one of a few, of which the oldest
// goes: whoever opens many and says nothing locks nobody out.
class Place {
 public:
  Place(std::shared_ptr<Shared> s, std::string address, std::function<void()> end)
      : s_(std::move(s)), address_(std::move(address)), stranger_(s_->strangers.insert(s_->strangers.end(), std::move(end))) {
    if (s_->strangers.size() > s_->limits.strangers) s_->strangers.front()();
  }
  ~Place() {
    if (stranger_ != s_->strangers.end()) {
      s_->strangers.erase(stranger_);
      return;
    }
    --s_->connections;
    if (--s_->of_address[address_] == 0) s_->of_address.erase(address_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // False: there are too many.
  bool let_in() {
    if (stranger_ != s_->strangers.end()) {
      s_->strangers.erase(stranger_);
      stranger_ = s_->strangers.end();
      ++s_->connections;
      ++s_->of_address[address_];
    }
    return s_->connections <= s_->limits.connections && s_->of_address[address_] <= s_->limits.connections_of_an_address;
  }

 private:
  std::shared_ptr<Shared> s_;
  std::string address_;
  std::list<std::function<void()>>::iterator stranger_;  // the end: it has been let in
};

std::string field(const http::fields& f, http::field name) {
  const auto v = f[name];
  return {v.data(), v.size()};
}

Credentials credentials_of(const http::fields& f, const Request& r, bool spends) {
  const auto site = f["Sec-Fetch-Site"];
  const auto token = r.query.find("token");
  return {.host = field(f, http::field::host),
          .origin = field(f, http::field::origin),
          .fetch_site = {site.data(), site.size()},
          .authorization = field(f, http::field::authorization),
          .cookie = field(f, http::field::cookie),
          .token = r.method == "GET" && r.path == "/" && token != r.query.end() ? token->second : std::string(),
          .spends = spends};
}

// What every answer says, whatever it is.
std::string safe_headers() {
  return "Vary: Accept-Encoding, Cookie, Authorization\r\n"
         "Content-Security-Policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data: blob:; "
         "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n"
         "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
         "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n";
}

std::string head_of(const Answer& a, std::size_t size, bool keep_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(a.status) + " " +
                    std::string(http::obsolete_reason(static_cast<http::status>(a.status))) + "\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  bool cached = false;
  for (const auto& [name, value] : a.headers) {
    add(name, value);
    cached = cached || name == "Cache-Control";
  }
  if (!cached) add("Cache-Control", "private, no-cache");
  if (a.status != 304) {
    add("Content-Type", a.body->type());
    add("Content-Length", std::to_string(size));
  }
  if (a.zipped) add("Content-Encoding", "gzip");
  out += safe_headers();
  add("Connection", keep_alive ? "keep-alive" : "close");
  return out + "\r\n";
}

template <class Stream>
asio::awaitable<bool> send(Stream& stream, const Shared& s, const Answer& a, bool head_only, bool keep_alive) {
  const std::string& bytes = a.zipped ? a.body->gzip() : a.body->bytes();
  const std::string head = head_of(a, bytes.size(), keep_alive);
  const bool bare = head_only || a.status == 304;
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head), bare ? asio::const_buffer() : asio::buffer(bytes)};
  beast::get_lowest_layer(stream).expires_after(s.limits.write_time);
  Error e;
  co_await asio::async_write(stream, parts, asio::redirect_error(asio::use_awaitable, e));
  co_return !e;
}

template <class Stream>
asio::awaitable<void> send_events(Stream& stream, Shared* s, Sessions::One* session, std::uint64_t seen) {
  const std::shared_ptr<const int> listens = session->listen;
  std::string next =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n" +
      safe_headers() + "Connection: close\r\n\r\nretry: 1000\n\n";
  // A client says nothing more: what can be read is its end, which must not wait for the next heartbeat.
  const auto timer = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor);
  struct Watch {
    bool gone = false, over = false;
  };
  const auto watch = std::make_shared<Watch>();
  auto& socket = beast::get_lowest_layer(stream).socket();
  socket.async_wait(asio::ip::tcp::socket::wait_read, [timer, watch, &socket](Error waited) {
    if (watch->over || waited == asio::error::operation_aborted) return;
    Error none;
    if (std::is_same_v<Stream, TcpStream> && !waited && socket.available(none) > 0) return;
    watch->gone = true;
    timer->cancel();
  });
  Error e;
  while (!session->ended && !watch->gone) {
    if (const std::uint64_t now = session->host.revision(); now != seen) next += Events::event(seen = now);
    beast::get_lowest_layer(stream).expires_after(s->limits.write_time);
    co_await asio::async_write(stream, asio::buffer(next), asio::redirect_error(asio::use_awaitable, e));
    if (e) break;
    timer->expires_after(Events::between);
    co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, e));
    next.clear();
    if (session->host.revision() != seen || session->ended || watch->gone) continue;
    timer->expires_after(Events::silence);
    session->events.waiting().insert(timer.get());
    co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, e));
    session->events.waiting().erase(timer.get());
    if (session->host.revision() == seen) next = Events::heartbeat;
  }
  watch->over = true;
  socket.cancel(e);
}

bool same_bytes(const std::string& a, const std::string& b) {
  std::error_code ec;
  if (std::filesystem::file_size(a, ec) != std::filesystem::file_size(b, ec) || ec) return false;
  std::ifstream one(a, std::ios::binary), other(b, std::ios::binary);
  return std::equal(std::istreambuf_iterator<char>(one), {}, std::istreambuf_iterator<char>(other), {});
}

// Where an upload goes so that it replaces no other file of its name: `a.plan`, `a-2.plan`.
std::string beside_others(const std::string& part, const std::string& wanted) {
  const std::filesystem::path path(wanted);
  std::string out = wanted;
  std::error_code ec;
  for (int n = 2; std::filesystem::exists(out, ec) && !same_bytes(part, out); ++n)
    out = (path.parent_path() / (path.stem().string() + "-" + std::to_string(n) + path.extension().string())).string();
  return out;
}

// A file that is there under its name only once it is there as a whole.
template <class Stream>
asio::awaitable<Answer> upload(Stream& stream, beast::flat_buffer& buffer, Head& head, const Shared& s,
                               const std::string& name) {
  if (s.uploads.empty()) co_return failure(409, "there is no workspace that files can be uploaded into");
  if (const Result<Done> fine = check_upload_name(name); !fine.ok())
    co_return answer_of(400, refusal_json(fine.diagnostics));
  std::error_code ec;
  std::filesystem::create_directories(s.uploads, ec);
  std::string path = s.uploads + "/" + name;
  const std::string part = s.uploads + "/." + name + "." + random_name() + ".part";
  http::request_parser<http::file_body> body(std::move(head));
  body.body_limit(s.limits.upload_bytes);
  Error e;
  body.get().body().open(part.c_str(), beast::file_mode::write_new, e);
  if (e) co_return failure(500, "the file cannot be written", e.message());
  beast::get_lowest_layer(stream).expires_after(s.limits.upload_time);
  co_await http::async_read(stream, buffer, body, asio::redirect_error(asio::use_awaitable, e));
  body.get().body().close();
  asio::thread_pool comparing{1};  // files may be large
  const auto beside = [&] { return beside_others(part, path); };
  if (!e) path = co_await on(comparing, beside);
  if (!e) std::filesystem::rename(part, path, ec);
  if (e || ec) std::filesystem::remove(part, ec);
  if (e == http::error::body_limit)
    co_return failure(413, "the file is too large",
                      "at most " + with_commas(static_cast<std::int64_t>(s.limits.upload_bytes)) + " bytes");
  if (e) co_return failure(400, "the file has not come as a whole", e.message());
  if (ec) co_return failure(500, "the file cannot be written", ec.message());
  co_return answer_of(200, {{"path", path}});
}

Answer not_let_in(Admission v, const Request& r) {
  if (v == Admission::foreign)
    return failure(403, "the request comes under another name, or from a page of another site",
                   "open the link that planscope serve prints, or reach the server by an ssh tunnel (docs/web.md)");
  if (r.path == "/" && r.method == "GET") return {401, how_to_enter(), {}};
  return failure(401, "the token is missing or wrong",
                 "send the header Authorization: token T, with the T that planscope serve prints");
}

// Reads the body, if there is one, and asks the routes. False: it has not come, and the connection has ended.
template <class Stream>
asio::awaitable<bool> answered(Stream& stream, beast::flat_buffer& buffer, Head& head, Shared& s,
                               Sessions::One& session, Request& r, Answer& a) {
  const std::string files = "/api/files/";
  if (r.method == "PUT" && r.path.starts_with(files)) {
    const std::string name = r.path.substr(files.size());
    a = co_await upload(stream, buffer, head, s, name);
    co_return true;
  }
  a = failure(413, "the body is too large",
              "at most " + with_commas(static_cast<std::int64_t>(s.limits.body_bytes)) + " bytes");
  if (head.content_length().value_or(0) > s.limits.body_bytes) co_return true;
  http::request_parser<http::string_body> body(std::move(head));
  body.body_limit(s.limits.body_bytes);
  beast::get_lowest_layer(stream).expires_after(s.limits.body_time);
  Error e;
  co_await http::async_read(stream, buffer, body, asio::redirect_error(asio::use_awaitable, e));
  if (e == http::error::body_limit) co_return true;
  if (e) co_return false;
  beast::get_lowest_layer(stream).expires_never();
  r.body = std::move(body.get().body());
  a = co_await session.routes.answer(r);
  co_return true;
}

// What is said to bytes that are no request; nothing: the connection has ended.
std::optional<Answer> to_no_request(const Error& e) {
  if (e == http::error::end_of_stream || e == http::error::partial_message) return std::nullopt;
  if (e == http::error::header_limit) return failure(431, "the header is too large");
  if (e == http::error::body_limit) return failure(413, "the body is too large");
  if (e.category() == http::make_error_code(http::error::bad_method).category())
    return failure(400, "this is no HTTP request", e.message());
  return std::nullopt;
}

// `gzip, deflate`, `gzip;q=0.5`; not `gzip;q=0`.
bool takes_gzip(const std::string& accepted) {
  for (const std::string& one : split(accepted, ',')) {
    const std::size_t name = one.find("gzip"), quality = one.find("q=");
    if (name != std::string::npos && (quality == std::string::npos || std::strtod(one.c_str() + quality + 2, nullptr) > 0))
      return true;
  }
  return false;
}

Request request_of(const http::fields& fields, std::string method) {
  Request r;
  r.method = std::move(method);
  r.content_type = field(fields, http::field::content_type);
  r.if_none_match = field(fields, http::field::if_none_match);
  r.accepts_gzip = takes_gzip(field(fields, http::field::accept_encoding));
  return r;
}

// What is said to a request that gets nothing; nothing: it is let in.
std::optional<Answer> refused(Shared& s, const http::fields& fields, std::string_view target,
                              const std::string& address, Request& r, bool& enters) {
  for (const http::field once : {http::field::host, http::field::origin, http::field::authorization})
    if (fields.count(once) > 1) return failure(400, "the header " + std::string(http::to_string(once)) + " stands there twice");
  const auto now = std::chrono::steady_clock::now();
  const auto too_much = [] { return failure(429, "this address asks for too much"); };
  if (const Result<Done> read = read_target(target, r); !read.ok())
    return s.rate.take(address, Caller::stranger, now) ? answer_of(400, refusal_json(read.diagnostics)) : too_much();
  const auto session = r.query.find("session");
  const bool spends = s.sessions.find(session == r.query.end() ? "" : session->second).session;
  const Admission v = s.access.judge(credentials_of(fields, r, spends), now);
  const bool lets_in = v == Admission::allowed || v == Admission::enters;
  if (!s.rate.take(address, lets_in ? Caller::known : Caller::stranger, now)) return too_much();
  enters = v == Admission::enters;
  return lets_in ? std::nullopt : std::optional<Answer>(not_let_in(v, r));
}

// False: the connection has ended.
template <class Stream>
asio::awaitable<bool> serve_one(Stream& stream, beast::flat_buffer& buffer, Shared& s, const std::string& address,
                                Place& place, bool first) {
  Head head;
  head.header_limit(s.limits.header_bytes);
  head.body_limit(s.limits.upload_bytes);  // narrowed once it is known what it is
  beast::get_lowest_layer(stream).expires_after(first ? s.limits.header_time : s.limits.idle_time);
  Error e;
  co_await http::async_read_header(stream, buffer, head, asio::redirect_error(asio::use_awaitable, e));
  if (e) {
    const std::optional<Answer> said = to_no_request(e);
    if (said) co_await send(stream, s, *said, false, false);
    co_return false;
  }
  const auto& fields = head.get();
  Request r = request_of(fields, std::string(fields.method_string()));
  const bool head_only = r.method == "HEAD", keep = fields.keep_alive();
  bool enters = false;
  const std::optional<Answer> no =
      refused(s, fields, {fields.target().data(), fields.target().size()}, address, r, enters);
  if (no) {
    co_await send(stream, s, *no, head_only, false);
    co_return false;
  }
  if (!place.let_in()) {
    const Answer full = failure(503, "too many connections");
    co_await send(stream, s, full, head_only, false);
    co_return false;
  }
  const auto named = r.query.find("session");
  const Sessions::Held held = s.sessions.find(named == r.query.end() ? "" : named->second);
  Sessions::One* const session = held.session;
  if (!session) {
    const std::string name = "session '" + printable(named->second) + "'";
    const Answer none = s.sessions.has_ended(named->second)
                            ? failure(410, "the " + name + " has ended")
                            : failure(404, "there is no " + name, "GET /api/sessions lists them");
    co_await send(stream, s, none, head_only, false);
    co_return false;
  }
  if (r.method == "GET" && r.path == "/api/events") {
    co_await send_events(stream, &s, session, std::strtoull(std::string(fields["Last-Event-ID"]).c_str(), nullptr, 10));
    co_return false;
  }
  if (beast::iequals(fields[http::field::expect], "100-continue")) {
    const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream, asio::buffer(go_on), asio::redirect_error(asio::use_awaitable, e));
    if (e) co_return false;
  }
  Answer a;
  std::string bug;
  try {
    const bool come = co_await answered(stream, buffer, head, s, *session, r, a);
    if (!come) co_return false;
  } catch (const std::exception& x) {
    bug = x.what();
  }
  if (!bug.empty()) a = failure(500, "internal error: " + bug);
  if (enters) a.headers.emplace_back("Set-Cookie", s.access.cookie());
  const bool whole = keep && a.status != 413 && a.status < 500;
  const bool sent = co_await send(stream, s, a, head_only, whole);
  co_return sent&& whole;
}

template <class Stream>
asio::awaitable<void> serve_all(Stream& stream, Shared& s, const std::string& address, Place& place) {
  beast::flat_buffer buffer;
  bool first = true;
  bool more = true;
  while (more) {
    more = co_await serve_one(stream, buffer, s, address, place, first);
    first = false;
  }
}

// Takes what is still coming for a moment: a connection that is closed on unread bytes loses the answer before them.
asio::awaitable<void> close(TcpStream& stream) {
  Error e;
  stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, e);
  stream.expires_after(kClosingTime);
  std::array<char, 4096> unread;
  while (!e) co_await stream.async_read_some(asio::buffer(unread), asio::redirect_error(asio::use_awaitable, e));
}

}  // namespace

asio::awaitable<void> serve(TcpStream stream, std::shared_ptr<Shared> s, std::string address) {
  Place place(s, address, [&stream] { stream.close(); });
  co_await serve_all(stream, *s, address, place);
  co_await close(stream);
}

asio::awaitable<void> serve(TlsStream stream, std::shared_ptr<Shared> s, std::string address) {
  Place place(s, address, [&stream] { beast::get_lowest_layer(stream).close(); });
  Error e;
  beast::get_lowest_layer(stream).expires_after(s->limits.header_time);
  co_await stream.async_handshake(asio::ssl::stream_base::server, asio::redirect_error(asio::use_awaitable, e));
  if (e) co_return;
  co_await serve_all(stream, *s, address, place);
  beast::get_lowest_layer(stream).expires_after(kClosingTime);
  co_await stream.async_shutdown(asio::redirect_error(asio::use_awaitable, e));
}

}  // namespace planscope::server
