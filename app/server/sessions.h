#pragma once
// The sessions of a server by name: each has its own documents, selection and jobs, all on one workspace. `main` is there
// from the start; clients begin others, which stay as long as the server does.
//
//   Sessions sessions(io, settings, page, rules, routes);
//   sessions.find("")->host.run(…);            // of main
//   Result<std::string> name = sessions.begin();  // "2"
//   sessions.find(*name)->routes.answer(request);
//
// Errors of begin(): there are as many as there may be.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "app/server/events.h"
#include "app/server/routes.h"

namespace planscope::server {

class Sessions {
 public:
  static constexpr std::size_t most = 32;
  static constexpr const char* first = "main";

  struct One {
    One(boost::asio::io_context&, const session::SessionSettings&, const PageFiles&, const FileRules&, RouteSettings);
    Events events;
    SessionHost host;
    Routes routes;
  };

  // `routes`: what all have; the list of sessions and their beginning are added.
  Sessions(boost::asio::io_context&, session::SessionSettings, const PageFiles&, FileRules, RouteSettings routes);

  One* find(const std::string& name);  // empty: main; null: there is none. On any thread
  One& main() { return *find(first); }
  Result<std::string> begin();  // takes as long as it takes to open the workspace. On any thread
  Json list();                  // [{session, documents: [names]}]

 private:
  std::unique_ptr<One> make();

  boost::asio::io_context& io_;
  const session::SessionSettings settings_;
  const PageFiles& page_;
  const FileRules rules_;
  const RouteSettings routes_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<One>> all_;
  int begun_ = 1;
};

}  // namespace planscope::server
