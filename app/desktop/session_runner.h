#pragma once
// Calls a Session in one worker thread, so that a window never waits. Requests are tagged in order and the newest wins:
// a new plan text replaces one that waits and cancels one that runs, opening a model drops everything before it, and a
// result is delivered only if no newer request was made meanwhile (every snapshot holds the whole state, so nothing is
// lost). Results arrive in the thread that made the runner, by its event loop.
#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "app/workbench/session_view.h"

namespace planscope {

class SessionRunner {
 public:
  using Deliver = std::function<void(const SessionSnapshot&)>;

  SessionRunner(std::unique_ptr<Session> session, Deliver deliver);
  ~SessionRunner();  // cancels what runs and waits for it

  void open_model(std::string path);
  void open_plan(std::string path);
  void set_plan(std::string text);
  void save_plan(std::string path);

  bool busy() const;  // a request waits, runs, or its result is on its way

 private:
  enum class Kind { open_model, open_plan, set_plan, save_plan };
  struct Request {
    Kind kind;
    std::string argument;
    std::uint64_t tag;
    Cancel cancel;
  };

  void submit(Kind kind, std::string argument);
  bool replaces(Kind newer, Kind older) const;
  SessionSnapshot call(const Request& request);
  void work();

  std::unique_ptr<Session> session_;
  Deliver deliver_;
  QObject receiver_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Request> waiting_;
  std::optional<Request> running_;
  std::uint64_t newest_ = 0, delivered_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace planscope
