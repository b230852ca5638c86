#pragma once
// One working session: the documents that a person has open, what is being edited, and what it comes to. Every
// surface stands on it
// (the desktop, the page in a browser, session scripts): it applies commands and gives its state as a value;
// panels are functions of
// that.
//
// What is typed is in the workspace when apply() returns, so that a kill -9 loses nothing; evaluation begins at
// once on another
// thread and the newest text wins. apply() is called by one thread at a time; state() by any.
//
//   Session s({.workspace = "work.planscope"});
//   s.apply(*parse_invocation("open model=gpt2.pt2"));
//   s.apply({"append", {{"statement", "devices 1"}}});
//   s.wait();
//   to_text(panels::chips(s.state()))
//
// Errors of apply(): the command cannot be run now (the reason), an argument that is not right, a file that cannot
// be read or written.
// The state is then as it was.
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "app/session/commands.h"
#include "app/session/state.h"

namespace planscope::session {

struct Core;

struct SessionSettings {
  std::string workspace = {};     // file; empty: one in memory, that ends with the session
  std::string cluster = {};       // of documents that name none; empty: the preferred one
  std::string programs = {};      // folder of planscope-worker, for trials; empty: none can be run
  std::string samples = {};       // folder of the sample models, for the guided tour
  const Clock* clock = nullptr;   // of what is written to the workspace; null: the machine's
  std::chrono::milliseconds patience{2000};  // how long a command waits for another program's lock on the workspace
};

class Session {
 public:
  explicit Session(SessionSettings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<Done> apply(const Invocation&);
  State state() const;

  // The bytes of the file that this `export` would write; nothing is written. `view`: what of the picture is looked at,
  // as Scene::view() says it, in the place of what the command `view` has set. By any thread; drawing holds nobody up.
  Result<std::string> exported(const Invocation&, const std::string& view = {}) const;
  void wait();  // until everything that was begun has ended
  int last_job() const;  // the number of the job that was begun last; 0: there was none
  Result<Done> wait(int job);  // until that job has. Errors: there is none of that number; why it failed

  // Called after every change, on the thread that made it, without a lock.
  void on_change(std::function<void()>);

  // What other programs have added to the workspace.
  void refresh();

  // The session is at its end, but its program goes on: what is not kept is offered to others as drafts that were left.
  void leave_drafts();

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace planscope::session
