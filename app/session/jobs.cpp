#include "app/session/jobs.h"

#include <algorithm>
#include <chrono>
#include <exception>

namespace planscope::session {

namespace {

bool has_ended(const Job& j) { return j.state != JobState::queued && j.state != JobState::running; }

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Jobs::End Jobs::End::refused(std::vector<Diagnostic> why, std::string otherwise) {
  const auto first = std::find_if(why.begin(), why.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
  std::string text = first == why.end() ? std::move(otherwise) : first->what;
  return {JobState::failed, std::move(text), std::move(why)};
}

void Jobs::Report::progress(std::optional<double> done, std::optional<double> of, std::string best,
                            std::string text) const {
  {
    const std::lock_guard lock(jobs_.mutex_);
    for (Running& r : jobs_.all_)
      if (r.job.id == id_) {
        r.job.done = done, r.job.of = of, r.job.best = std::move(best), r.job.text = std::move(text);
        r.estimate.count(now_s(), done, of);
      }
  }
  jobs_.changed_();
}

void Jobs::Report::within(double seconds) const {
  const std::lock_guard lock(jobs_.mutex_);
  for (Running& r : jobs_.all_)
    if (r.job.id == id_) r.estimate.ends_by(now_s() + seconds);
}

void Jobs::Report::ended(End end) const {
  {
    const std::lock_guard lock(jobs_.mutex_);
    for (Running& r : jobs_.all_)
      if (r.job.id == id_) r.job.state = end.state, r.job.text = std::move(end.text);
  }
  jobs_.changed_();
}

void Jobs::end() {
  {
    const std::lock_guard lock(mutex_);
    for (Running& r : all_) r.stop = true;
  }
  for (Running& r : all_)
    if (r.thread.joinable()) r.thread.join();
}

int Jobs::start(std::string what, std::function<End(const Report&)> work) {
  const std::lock_guard lock(mutex_);
  Running& r = all_.emplace_back();
  r.job = {.id = ++last_, .what = std::move(what), .state = JobState::running};
  r.thread = std::thread([this, &r, id = r.job.id, work = std::move(work)] {
    End end;
    try {
      end = work(Report(*this, id, &r.stop));
    } catch (const std::exception& e) {  // a fault of ours: the session goes on
      end = {JobState::failed, std::string("a fault of planscope: ") + e.what()};
    }
    {
      const std::lock_guard ending(mutex_);
      r.job.state = end.state;
      r.job.text = end.text;
      if (end.state == JobState::done) r.job.of = r.job.done;  // nothing is left to do
      r.why = std::move(end.why);
      r.finished = true;
    }
    changed_();
    ended_.notify_all();
  });
  return last_;
}

bool Jobs::cancel(int id) {
  const std::lock_guard lock(mutex_);
  for (Running& r : all_)
    if (r.job.id == id && !has_ended(r.job)) return r.stop = true;
  return false;
}

void Jobs::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] {
    return std::all_of(all_.begin(), all_.end(), [](const Running& r) { return r.finished; });
  });
}

std::optional<Jobs::End> Jobs::wait(int id) {
  std::unique_lock lock(mutex_);
  const auto one = std::find_if(all_.begin(), all_.end(), [&](const Running& r) { return r.job.id == id; });
  if (one == all_.end()) return std::nullopt;
  ended_.wait(lock, [&] { return one->finished; });
  return End{one->job.state, one->job.text, one->why};
}

bool Jobs::running() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const Running& r) { return !r.finished; });
}

int Jobs::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::vector<Job> Jobs::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Job> out;
  for (const Running& r : all_) {
    out.push_back(r.job);
    if (has_ended(r.job)) continue;
    out.back().remaining_s = r.estimate.remaining_s(now_s());
    out.back().at_most = r.estimate.at_most();
  }
  return out;
}

}  // namespace planscope::session
