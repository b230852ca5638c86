#pragma once
// Work of which only the newest counts, on a thread of its own: asking again, or forgetting, ends what is under way, inside
// whatever step that is (StopScope).
//
//   Background b;
//   b.ask([study] { study->task(0, "compute", window); });
//   b.wait();
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace planscope::session {

class Background {
 public:
  Background();
  ~Background() { end(); }
  void end();  // what is under way; nothing is answered afterwards

  void ask(std::function<void()>);
  void forget();
  void wait();  // until what was asked for last is done, or overtaken

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> waiting_;
  bool busy_ = false, ending_ = false;
  std::atomic<bool> overtaken_ = false;
  std::thread thread_;
};

}  // namespace planscope::session
