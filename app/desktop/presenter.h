#pragma once
// Turns states of the session into what the window draws (panels, the models of canvases) on a thread of its own, so that neither
// typing nor drawing waits for it. States that come while it works are passed over: the newest wins. What has not changed is handed
// out again as the same object, so that views can tell by the pointer.
//
//   Presenter p([&] { return session.state(); }, [&](Shown s) { … });   // on its thread
//   p.look_at({"chips", "script", "canvas.timeline"});
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
#include "app/session/canvases/canvases.h"

namespace planscope {

struct CanvasPicture {
  std::shared_ptr<const std::string> model;  // bytes of the scene; null: there is nothing to draw
  std::vector<std::string> marks;            // ids of what is selected
  std::string view;                          // that a command has set last; empty: none has
  bool operator==(const CanvasPicture&) const = default;
};

struct Shown {
  session::State state;
  std::map<std::string, std::shared_ptr<const session::Panel>> panels;  // those that are looked at
  std::map<std::string, CanvasPicture> canvases;                        // those that are looked at, of the current document
  std::map<std::string, session::CanvasWords> words;                    // of them, whether there is a picture or not
  std::uint64_t typed = 0;                                              // how many of the texts sent by type() are in the state
  std::uint64_t answered = 0;  // how many of the commands sent to the session have been run in the state, texts among them
};

class Presenter {
 public:
  using Look = std::function<Shown()>;  // the newest state
  using Deliver = std::function<void(Shown)>;

  Presenter(Look, Deliver);
  ~Presenter();

  void look_at(std::set<std::string> panels_and_canvases);
  void changed();
  bool busy() const;

 private:
  void work();
  void add_panels(Shown&, const std::set<std::string>& wanted);
  void add_canvases(Shown&, const std::set<std::string>& wanted);

  const Look look_;
  const Deliver deliver_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::string> wanted_;
  bool dirty_ = false, working_ = false, ending_ = false;
  // Of the thread alone.
  std::map<std::string, std::shared_ptr<const session::Panel>> panels_;
  struct Drawn {
    session::CanvasSource source;
    std::shared_ptr<const std::string> model;
  };
  std::map<std::pair<int, std::string>, Drawn> drawn_;  // by document and canvas
  std::thread thread_;          // last
};

}  // namespace planscope
