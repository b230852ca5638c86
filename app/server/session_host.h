#pragma once
// The session that all clients of a server share, and what has been made of its newest state: panels and canvas models,
// each once for all who ask. Every function but the first three may take long: callers are threads that may wait.
//
//   SessionHost host({.workspace = file}, [&] { …something has changed, on any thread… });
//   host.run({"append", {{"statement", "devices 4 as data=4"}}}, 0);
//   host.panel("chips", Form::values).body->bytes()    // as `show chips json`
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/server/body.h"
#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"

namespace planscope::server {

// `values`: what scripts get; `whole`: what renderers need.
enum class Form { values, whole };

struct Made {
  BodyPtr body;                // null: there is no such thing, or nothing to show
  std::uint64_t revision = 0;  // that it is of, or an older one with the same contents
};

class SessionHost {
 public:
  SessionHost(session::SessionSettings, std::function<void()> changed);
  ~SessionHost();

  std::uint64_t revision() const { return revision_; }  // grows with every change
  // Both answer at once: what is there already of the newest revision.
  std::optional<Made> ready_panel(const std::string& id, Form);
  static bool has_panel(const std::string& id);

  // `document`: the number of the one that the command is for, whichever is the current one; 0: that. One caller at a
  // time.
  Result<Done> run(const session::Invocation&, int document);
  session::State state() const { return session_.state(); }
  bool refresh();  // looks at what other programs have done to the workspace
  Result<std::string> exported(const session::Invocation&, const std::string& view) const;  // as Session::exported()
  void wait();     // until everything that was begun has ended
  void end_jobs();
  void leave();  // ends its jobs, and leaves what is not kept to the other sessions of the workspace

  Made panel(const std::string& id, Form);
  Made canvases();                     // the list, with what there is to draw of each
  Made canvas(const std::string& id);  // its model
  Made marks(const std::string& id);
  std::vector<std::string> document_names() const;  // model · plan
  std::uint64_t seen() const;                       // the number of the text that is in front; 0: none is
  Made selection();  // with the number of the current document (0: none), and what was asked to the front
  Made commands();
  Made choices(const std::string& command, const std::string& argument);
  Made offers(const std::string& line);  // what can be done with what the line selects
  Made targets();
  Made notices();
  Made completions(const std::string& text, std::size_t cursor);

 private:
  struct KeptPanel {
    std::mutex mutex;
    std::uint64_t revision = 0;
    std::optional<session::Panel> panel;
    BodyPtr values, whole;
    BodyPtr& body(Form f) { return f == Form::values ? values : whole; }
  };
  struct KeptCanvas {
    std::mutex mutex;
    session::CanvasSource source;
    std::string etag;
    BodyPtr body;
  };

  std::string tag_of(KeptCanvas&, const session::CanvasInfo&,
                     const session::State&);  // with its mutex; empty: nothing to draw
  KeptPanel* find_panel(const std::string& id);
  KeptCanvas* find_canvas(const std::string& id, const session::CanvasInfo*& info);

  const std::string start_;  // differs from other starts of the server
  std::atomic<std::uint64_t> revision_ = 1;
  std::atomic<std::uint64_t> models_ = 0;
  std::map<std::string, KeptPanel> panels_;
  std::map<std::string, KeptCanvas> canvases_;
  const std::function<void()> changed_;
  session::Session session_;
};

}  // namespace planscope::server
