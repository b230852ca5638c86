#pragma once
// What is answered to which path, apart from how bytes come and go: a request and an answer are plain values. Who may
// ask has been looked at before.
//
//   Routes routes(host, page, {.version = "1.0"});
//   Answer a = co_await routes.answer(request);
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/server/body.h"
#include "app/server/file_rules.h"
#include "app/server/page_files.h"
#include "app/server/session_host.h"
#include "app/server/wire.h"

namespace planscope::server {

struct Request {
  std::string method, path;                  // decoded, without the query
  std::map<std::string, std::string> query;  // decoded
  std::string body, content_type, if_none_match;
  bool accepts_gzip = false;
};

struct Answer {
  unsigned status = 200;
  BodyPtr body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool zipped = false;  // body->gzip() is what is sent
};

Answer answer_of(unsigned status, const Json&);
Answer failure(unsigned status, const std::string& what, const std::string& hint = {});

// The path and the query of a request's target. Errors: it is no path, or has an escape that is none.
Result<Done> read_target(std::string_view target, Request&);

struct RouteSettings {
  std::string version;
  std::function<std::string()> link;                 // makes one more
  std::function<Json()> sessions = {};               // lists them
  std::function<Result<std::string>()> begin = {};  // begins one more, and says its name
  std::function<Result<Done>(const std::string&)> end = {};
};

class Routes {
 public:
  Routes(SessionHost&, const PageFiles&, FileRules, RouteSettings);
  ~Routes();  // waits for what its threads do

  boost::asio::awaitable<Answer> answer(const Request&);

 private:
  boost::asio::awaitable<Answer> get(const Request&);
  boost::asio::awaitable<Answer> api(const Request&);
  boost::asio::awaitable<Answer> panel(const Request&);
  boost::asio::awaitable<Answer> canvas(const Request&);
  boost::asio::awaitable<Answer> exported(const Request&);
  boost::asio::awaitable<Answer> post(const Request&);
  boost::asio::awaitable<Answer> remove(const Request&);
  boost::asio::awaitable<Answer> command(const Json&);
  boost::asio::awaitable<void> wait(double seconds);
  boost::asio::awaitable<void> finish(const Request&, Answer&);  // tags, and compression
  Answer page(const Request&) const;

  SessionHost& host_;
  const PageFiles& page_;
  const FileRules rules_;
  const RouteSettings settings_;
  boost::asio::thread_pool commands_{1}, making_{2}, waiting_{1};
  boost::asio::thread_pool exporting_{1};  // exports take long: panels do not wait for them
};

}  // namespace planscope::server
