#pragma once
// One session served over HTTP: its panels, canvases and commands, and the page that shows them (docs/web.md).
//
//   Result<std::unique_ptr<Server>> s = Server::start({.session = {.workspace = file}, .page = "build/release/web"});
//   std::cout << (*s)->url() << "\n";   // http://127.0.0.1:8640/?token=…
//   (*s)->run_until_signal();           // SIGINT or SIGTERM
//
// Errors of start(): no port is free, the address is not this host's or its name has none, the certificate cannot be
// read, another address than loopback without TLS where that is not said to be wanted.
#include <memory>
#include <string>
#include <vector>

#include "app/server/connection.h"
#include "app/session/session.h"

namespace planscope::server {

struct ServerSettings {
  session::SessionSettings session = {};
  std::string address = "127.0.0.1";
  int port = 8640;                         // or one of the twenty behind it, or any that is free; 0: any
  std::string certificate = {}, key = {};  // PEM files; empty: without TLS
  bool insecure = false;                   // without TLS also at another address than loopback
  std::vector<std::string> roots = {"."};  // commands of clients open files below these
  std::vector<std::string> files = {};     // and these
  std::string uploads = {};                // folder for what they send
  std::string page = {}, samples = {};     // folders
  std::string version = {};
  Limits limits = {};
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerSettings);
  ~Server();  // ends every connection
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const;
  std::string base() const;  // without the token
  std::string token() const;
  std::string link();                            // that lets one browser in
  std::string missing() const;                   // of the page; empty: it is all there
  Result<Done> run(const session::Invocation&);  // as the one who has started the server: any file
  void run_until_signal();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts>);
  std::unique_ptr<Parts> parts_;
};

}  // namespace planscope::server
