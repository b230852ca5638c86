#pragma once
// The sessions of a server by name: each has its own documents, selection and jobs, all on one workspace. `main` is
// there as long as the server is; clients begin and end others.
//
//   Sessions sessions(io, settings, page, rules, routes);
//   sessions.main().host.run(…);
//   Result<std::string> name = sessions.begin();  // "2"
//   const Sessions::Held held = sessions.find(*name);
//   held.session->routes.answer(request);
//   sessions.end(*name);                          // what is not kept stays in the workspace as drafts
//
// Errors of begin(): there are as many as there may be. Errors of end(): it is main, there is none of that name.
#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

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
    std::atomic<bool> ended = false;
    std::atomic<bool> asked = false;  // since it has looked around last
    const std::shared_ptr<const int> hold = std::make_shared<const int>(0), listen = std::make_shared<const int>(0);
  };

  // A session that stays as long as this does, also where it ends meanwhile. Nothing else of it is touched when this
  // goes: requests that the server's end interrupts go after the sessions.
  struct Held {
    One* session = nullptr;  // null: there is none of that name
    std::shared_ptr<const int> hold = {};
  };

  // `routes`: what all have; the list of sessions and their beginning are added.
  Sessions(boost::asio::io_context&, session::SessionSettings, const PageFiles&, FileRules, RouteSettings routes);

  Held find(const std::string& name);  // empty: main. On the I/O thread
  bool has_ended(const std::string& name);
  One& main() { return *main_; }
  Result<std::string> begin();                // takes as long as it takes to open the workspace. On any thread
  Result<Done> end(const std::string& name);  // takes as long as its jobs need to end. On any thread
  Json list();                                // [{session, documents: [names], pages}]
  void look_around();  // for what other programs have done, in sessions that pages show or that somebody asks

 private:
  std::unique_ptr<One> make();
  void remove_unused();  // with the mutex

  boost::asio::io_context& io_;
  const session::SessionSettings settings_;
  const PageFiles& page_;
  const FileRules rules_;
  const RouteSettings routes_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<One>> all_;
  std::vector<std::unique_ptr<One>> ended_;  // that somebody still holds
  std::set<std::string> ended_names_;
  One* main_ = nullptr;
  int begun_ = 1;
  boost::asio::thread_pool removing_{1};  // a session that goes waits for its threads
  boost::asio::thread_pool looking_{1};
};

}  // namespace planscope::server
