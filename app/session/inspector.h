#pragma once
// Looks closely at what is selected, on a thread of its own (inspection.h). The newest request wins: asking again, or
// forgetting, ends what is under way, inside whatever step that is.
//
//   Inspector i([&](std::shared_ptr<const Inspection> answer) { … });   // on its thread, with every alternative
//   i.ask({.model = model, .picture = picture, .selected = selected, .of = {…}});
//   i.wait();
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/session/state.h"

namespace planscope::session {

class Inspector {
 public:
  struct Request {
    std::shared_ptr<const OpenModel> model;
    std::shared_ptr<const Picture> picture;
    std::shared_ptr<const Selected> selected;
    Inspection of;  // the document, the text and the selection that it is about
  };
  using Answer = std::function<void(std::shared_ptr<const Inspection>)>;

  explicit Inspector(Answer);
  ~Inspector() { end(); }
  void end();  // what is under way; nothing is answered afterwards

  void ask(Request);
  void forget();
  void wait();  // until the request has been answered, or overtaken

 private:
  void work();

  const Answer answer_;
  MaterializeCache cache_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Request> waiting_;
  bool busy_ = false, ending_ = false;
  std::atomic<bool> overtaken_ = false;
  std::thread thread_;
};

}  // namespace planscope::session
