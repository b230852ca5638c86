#include "app/server/server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>

namespace planscope::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

// In the order in which they may be made; undone from the end.
struct Server::Parts {
  explicit Parts(ServerSettings s)
      : settings(std::move(s)), page(settings.page) {}

  asio::awaitable<void> accept();
  Result<Done> listen();
  Result<Done> read_certificate();

  ServerSettings settings;
  asio::io_context io{1};
  std::optional<asio::ssl::context> tls;
  tcp::acceptor acceptor{io};
  PageFiles page;
  std::optional<Access> access;
  std::optional<Sessions> sessions;
  std::shared_ptr<Shared> shared;
  std::thread thread;
};

Result<Done> Server::Parts::read_certificate() {
  if (settings.certificate.empty()) return Done{};
  tls.emplace(asio::ssl::context::tls_server);
  Error e;
  tls->set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, e);
  tls->use_certificate_chain_file(settings.certificate, e);
  if (e)
    return error("the certificate '" + settings.certificate + "' cannot be used", e.message(),
                 "it is to be a PEM file");
  tls->use_private_key_file(settings.key, asio::ssl::context::pem, e);
  if (e)
    return error("the key '" + settings.key + "' cannot be used", e.message(),
                 "it is to be the PEM file of the certificate's key");
  return Done{};
}

// The address itself, or all that the name has, those of IPv4 first: clients try both, and tunnels mean 127.0.0.1.
static std::vector<asio::ip::address> addresses_of(const std::string& name, Error& e) {
  if (const asio::ip::address one = asio::ip::make_address(name, e); !e) return {one};
  asio::io_context io;
  std::vector<asio::ip::address> out;
  for (const auto& found : tcp::resolver(io).resolve(name, "", e)) out.push_back(found.endpoint().address());
  std::stable_partition(out.begin(), out.end(), [](const asio::ip::address& a) { return a.is_v4(); });
  return out;
}

Result<Done> Server::Parts::listen() {
  Error e;
  const std::vector<asio::ip::address> addresses = addresses_of(settings.address, e);
  if (addresses.empty())
    return error("'" + settings.address + "' is no address, and no name of one", e.message(),
                 "--bind takes one of this host, as 127.0.0.1 or its name, or 0.0.0.0 for all");
  const bool loopback =
      std::all_of(addresses.begin(), addresses.end(), [](const asio::ip::address& a) { return a.is_loopback(); });
  if (!loopback && settings.certificate.empty() && !settings.insecure)
    return error("another address than loopback is served without encryption only if that is wanted", "",
                 "use --tls CERTIFICATE KEY, or --insecure; or an ssh tunnel (docs/web.md)");
  std::vector<int> ports;
  for (int i = 0; i <= 20 && settings.port > 0 && settings.port + i < 65536; ++i) ports.push_back(settings.port + i);
  ports.push_back(0);
  for (const asio::ip::address& address : addresses)
    for (const int port : ports) {
      const tcp::endpoint at(address, static_cast<unsigned short>(port));
      acceptor.open(at.protocol(), e);
      if (!e) acceptor.set_option(asio::socket_base::reuse_address(true), e);
      if (!e) acceptor.bind(at, e);
      if (!e) acceptor.listen(asio::socket_base::max_listen_connections, e);
      if (!e) return Done{};
      acceptor.close();
    }
  return error("cannot listen at " + settings.address, e.message());
}

asio::awaitable<void> Server::Parts::accept() {
  Error e;
  while (acceptor.is_open()) {
    tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, e));
    if (e) {  // as when there are too many open files: others end in a while
      asio::steady_timer pause(io, std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, e));
      continue;
    }
    const tcp::endpoint from = socket.remote_endpoint(e);
    if (e) continue;
    socket.set_option(tcp::no_delay(true), e);
    TcpStream stream(std::move(socket));
    const std::string address = from.address().to_string();
    if (tls) {
      TlsStream encrypted(std::move(stream), *tls);
      asio::co_spawn(io, serve(std::move(encrypted), shared, address), asio::detached);
    } else {
      asio::co_spawn(io, serve(std::move(stream), shared, address), asio::detached);
    }
  }
}

// What other programs add to the workspace is seen within two seconds, as in the window.
static asio::awaitable<void> look_around(asio::io_context& io, Sessions& sessions) {
  asio::steady_timer timer(io);
  for (Error e; !e;) {
    timer.expires_after(std::chrono::seconds(2));
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, e));
    sessions.look_around();
  }
}

// What uploads have left that ended with an earlier server.
static void remove_parts(const std::string& uploads) {
  std::error_code ec;
  std::vector<std::filesystem::path> parts;
  if (!uploads.empty())
    for (const auto& entry : std::filesystem::directory_iterator(uploads, ec))
      if (entry.path().extension() == ".part") parts.push_back(entry.path());
  for (const std::filesystem::path& part : parts) std::filesystem::remove(part, ec);
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings) {
  auto p = std::make_unique<Parts>(std::move(settings));
  if (const Result<Done> read = p->read_certificate(); !read.ok()) return read.diagnostics;
  if (const Result<Done> there = p->listen(); !there.ok()) return there.diagnostics;
  const ServerSettings& s = p->settings;
  const tcp::endpoint at = p->acceptor.local_endpoint();
  p->access.emplace(AccessSettings{s.address, at.address().to_string(), at.port(), p->tls.has_value()});
  std::vector<std::string> folders = s.roots;
  folders.push_back(s.uploads);
  FileRules rules(std::move(folders), s.files, {s.samples});
  p->sessions.emplace(
      p->io, s.session, p->page, std::move(rules),
      RouteSettings{.version = s.version, .link = [a = &*p->access] { return a->link(); }});
  p->shared = std::make_shared<Shared>(Shared{.access = *p->access,
                                              .sessions = *p->sessions,
                                              .limits = s.limits,
                                              .uploads = s.uploads,
                                              .tls = p->tls.has_value()});
  remove_parts(s.uploads);
  asio::co_spawn(p->io, p->accept(), asio::detached);
  asio::co_spawn(p->io, look_around(p->io, *p->sessions), asio::detached);
  p->thread = std::thread([io = &p->io] { io->run(); });
  return std::unique_ptr<Server>(new Server(std::move(p)));
}

Server::~Server() {
  parts_->io.stop();
  parts_->thread.join();
  parts_->sessions.reset();  // their threads may still say that something has changed
}

std::string Server::url() const { return parts_->access->url(); }
std::string Server::base() const { return parts_->access->base(); }
std::string Server::token() const { return parts_->access->token(); }
std::string Server::missing() const { return what_is_missing(parts_->page); }

std::string Server::link() {
  std::promise<std::string> made;
  asio::post(parts_->io, [&] { made.set_value(parts_->access->link()); });
  return made.get_future().get();
}

Result<Done> Server::run(const session::Invocation& i) { return parts_->sessions->main().host.run(i, 0); }

void Server::run_until_signal() {
  std::promise<void> asked;
  asio::signal_set signals(parts_->io, SIGINT, SIGTERM);
  signals.async_wait([&](const Error&, int) { asked.set_value(); });
  asked.get_future().wait();
}

}  // namespace planscope::server
