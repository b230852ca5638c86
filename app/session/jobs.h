#pragma once
// Long work beside a session: searches, trials, profiles. Each job has a thread of its own, says how far it is, from which
// follows how long it still takes (estimate.h), and can be asked to stop; one that has ended stays listed.
//
//   Jobs jobs([] { … something has changed … });
//   const int job = jobs.start("slack", [](const Jobs::Report& r) {
//     for (int k = 0; k < 10 && !r.stop(); ++k) r.progress(k, 10, "");
//     return Jobs::End{JobState::done, ""};
//   });
//   jobs.cancel(job);
//   jobs.wait();
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/session/estimate.h"
#include "app/session/state.h"

namespace planscope::session {

class Jobs {
 public:
  struct End {
    JobState state = JobState::done;
    std::string text;
    std::vector<Diagnostic> why = {};  // a failed job failed

    // The end of a job whose input was refused. `otherwise` is its text where no diagnostic is an error.
    static End refused(std::vector<Diagnostic> why, std::string otherwise);
  };
  // What a job is given: the flag that asks it to stop, and how it says how far it is.
  class Report {
   public:
    int id() const { return id_; }
    const std::atomic<bool>& stop() const { return *stop_; }
    void progress(std::optional<double> done, std::optional<double> of, std::string best, std::string text = {}) const;
    void within(double seconds) const;  // it ends by itself, so many seconds from now at the latest
    void ended(End) const;  // to everybody else; what it still tidies up is waited for alone

   private:
    friend class Jobs;
    Report(Jobs& jobs, int id, const std::atomic<bool>* stop) : jobs_(jobs), id_(id), stop_(stop) {}
    Jobs& jobs_;
    int id_;
    const std::atomic<bool>* stop_;
  };

  explicit Jobs(std::function<void()> changed) : changed_(std::move(changed)) {}
  ~Jobs() { end(); }
  void end();  // asks all to stop and waits for them

  int start(std::string what, std::function<End(const Report&)> work);
  bool cancel(int id);  // false: there is no such job, or it has ended
  void wait();          // until none runs
  std::optional<End> wait(int id);  // returns when this job has ended; empty if there is no such job
  bool running() const;
  int last() const;  // the number of the newest; 0: there was none
  std::vector<Job> list() const;

 private:
  struct Running {
    Job job;
    std::vector<Diagnostic> why = {};  // it failed
    Estimate estimate;
    std::atomic<bool> stop = false;
    bool finished = false;  // nothing of it is under way any more
    std::thread thread;
  };

  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Running> all_;  // oldest first
  int last_ = 0;
};

}  // namespace planscope::session
