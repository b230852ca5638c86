#pragma once
// Turns states of the session into what the window draws (panels, the picture of the timeline) on a thread of its own, so that neither
// typing nor drawing waits for it. States that come while it works are passed over: the newest wins. What has not changed is handed
// out again as the same object, so that views can tell by the pointer.
//
//   Presenter p([&] { return session.state(); }, [&](Shown s) { … });   // on its thread
//   p.look_at({"chips", "script"});
//   p.changed();
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "app/session/panel.h"
#include "app/session/state.h"
#include "app/workbench/timeline.h"
#include "viz/timeline/index.h"

namespace planscope {

struct TimelinePicture {
  Timeline timeline;
  viz::TimelineIndex index;
};

struct Shown {
  session::State state;
  std::map<std::string, std::shared_ptr<const session::Panel>> panels;  // those that are looked at
  std::shared_ptr<const TimelinePicture> timeline;                      // of the current document; null: none
  std::string stale;                                                    // why the timeline is not of the text as it stands
  std::uint64_t typed = 0;                                              // how many of the texts sent by type() are in the state
};

class Presenter {
 public:
  using Look = std::function<Shown()>;  // the newest state
  using Deliver = std::function<void(Shown)>;

  Presenter(Look, Deliver);
  ~Presenter();

  void look_at(std::set<std::string> panels);
  void changed();
  bool busy() const;

 private:
  void work();
  void add_panels(Shown&, const std::set<std::string>& wanted);
  void add_timeline(Shown&);

  const Look look_;
  const Deliver deliver_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::string> wanted_;
  bool dirty_ = false, working_ = false, ending_ = false;
  // Of the thread alone.
  std::map<std::string, std::shared_ptr<const session::Panel>> panels_;
  struct Drawn {
    std::shared_ptr<const Evaluation> evaluation;
    std::shared_ptr<const TimelinePicture> picture;
  };
  std::map<int, Drawn> drawn_;  // by document
  std::thread thread_;          // last
};

}  // namespace planscope
