#pragma once
// The window's end of a session: commands run in order on a thread of their own, so that the window never waits,
// and what there is to
// show comes back to the thread of the window, the newest alone. Texts that are typed while others wait replace them.
//
//   SessionBridge b({.workspace = file}, [&](const Shown& s) { … }, [&](const Invocation& i, const
// std::vector<Diagnostic>& why) { … });
//   b.run(*session::parse_invocation("open model=a.pt2"));
//   b.type(document, before, text, false);
//
// Both functions are called by the event loop of the thread that made the bridge. Texts are typed into the
// document that they are of,
// whichever is the current one by then, and what a command has written into it meanwhile stays.
#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "app/desktop/presenter.h"
#include "app/session/session.h"

namespace planscope {

class SessionBridge {
 public:
  using Show = std::function<void(const Shown&)>;
  using Refused = std::function<void(const session::Invocation&, const std::vector<Diagnostic>&)>;

  SessionBridge(session::SessionSettings, Show, Refused);
  ~SessionBridge();

  void run(session::Invocation);
  void type(int document, std::string before, std::string text, bool new_step);
  void refresh();  // looks at what other programs have done to the workspace
  session::State state() const { return session_.state(); }
  void look_at(std::set<std::string> panels) { presenter_->look_at(std::move(panels)); }

  std::uint64_t typed() const { return typed_; }  // texts sent
  std::uint64_t asked() const;  // commands sent, texts among them; Shown::answered counts those that are in a state
  // Something that was asked for is not on the screen yet.
  bool busy() const;

 private:
  struct Task {
    session::Invocation invocation = {};
    int document = 0;         // of texts
    std::uint64_t typed = 0;  // of texts: their number
    bool refresh = false;
  };

  void add(Task);
  void work();
  Result<Done> apply(const Task&);
  void deliver(Shown);
  void show_newest();

  const Show show_;
  const Refused refused_;
  session::Session session_;
  QObject here_;  // the thread of the window
  std::uint64_t typed_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool working_ = false, ending_ = false;
  std::uint64_t typed_done_ = 0, asked_ = 0, answered_ = 0;
  std::optional<Shown> newest_;  // not yet shown
  bool evaluating_ = false;      // as it was shown last
  std::unique_ptr<Presenter> presenter_;
  std::thread thread_;
};

}  // namespace planscope
