#pragma once
// Evaluates texts of plans on a thread of its own. Of each document the newest text wins: asking again ends what is
// under way for it, inside whatever step that is. What somebody waits for comes first: it ends what is under way for
// another document, which begins anew afterwards. Answers come as soon as there is a prediction, and with the verdict. Of a plan
// whose lines contradict each other, if somebody waits for it, they come with what taking out each of these lines brings, line by
// line.
//
//   Evaluator e(workspace_file, [&](int document, std::shared_ptr<const Picture> p, bool last) { … });  // on its thread
//   e.ask({.document = 1, .model = model, .text = "devices 1\n", .cluster = "local", .first = true});
//   e.wait();
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/session/state.h"

namespace planscope::session {

class Evaluator {
 public:
  struct Request {
    int document = 0;
    std::shared_ptr<const OpenModel> model = {};
    std::string text = {}, file = {}, cluster = {};
    bool first = false;  // somebody waits for it: it comes before all others, and lines in conflict are taken out one by one
  };
  using Answer = std::function<void(int document, std::shared_ptr<const Picture>, bool last)>;

  Evaluator(std::string workspace_file, Answer);
  ~Evaluator() { end(); }
  void end();  // what is under way; nothing is answered afterwards

  void ask(Request);
  void forget(int document);
  void wait();  // until every request has been answered, or overtaken

 private:
  void work();
  void drop(int document);  // with the mutex
  void evaluate(const Request&);                          // and answers
  std::shared_ptr<Picture> predict(const Request&);
  void try_relaxed(const Request&, const std::shared_ptr<Picture>& refused);
  std::shared_ptr<const PlanEffects> effects(const Request&, const plan::Plan&, const Result<Decided>&);
  const Workspace* workspace(std::vector<Diagnostic>&);

  const std::string file_;
  const Answer answer_;
  SystemClock clock_;                   // before the workspace, which keeps a reference
  std::optional<Workspace> workspace_;  // of the thread
  MaterializeCache cache_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;  // one of each document, in the order in which they are evaluated
  int under_way_ = -1;           // document
  bool again_ = false;           // what is under way is ended for another document's sake
  std::atomic<bool> overtaken_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace planscope::session
