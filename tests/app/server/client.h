#pragma once
// A client of the server for tests: one request a connection, or raw bytes.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/server/server.h"

namespace planscope::testing {

struct Reply {
  unsigned status = 0;                         // 0: the connection has ended without an answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string header(const std::string& name) const;
  server::Json json() const;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

class Client {
 public:
  explicit Client(const server::Server&);

  // With the token, unless a header says otherwise (an empty value leaves a header out).
  Reply get(const std::string& target, Headers = {}) const;
  Reply post(const std::string& target, const server::Json& body, Headers = {}) const;
  Reply send(const std::string& method, const std::string& target, const std::string& body, Headers = {}) const;
  Reply run(const std::string& line) const;
  server::Json panel(const std::string& name) const;  // once nothing runs any more

  // What comes back to these bytes until the other end closes, or for so long.
  std::string raw(const std::string& bytes, int milliseconds = 5000) const;
  // What comes up to the end of the first event.
  std::string event(const std::string& last_id = {}) const;
  // Asks for events, and takes none as long as it is there.
  std::shared_ptr<void> listen(const std::string& session = "main") const;

  const std::string& token() const { return token_; }
  std::string host() const { return "127.0.0.1:" + port_; }

 private:
  std::string token_, port_;
};

}  // namespace planscope::testing
