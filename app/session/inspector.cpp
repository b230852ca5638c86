#include "app/session/inspector.h"

#include <exception>

#include "engine/base/stop.h"

namespace planscope::session {

Inspector::Inspector(Answer answer) : answer_(std::move(answer)), thread_([this] { work(); }) {}

void Inspector::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    overtaken_ = true;
    waiting_.reset();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Inspector::ask(Request r) {
  {
    const std::lock_guard lock(mutex_);
    overtaken_ = true;
    waiting_ = std::move(r);
  }
  changed_.notify_all();
}

void Inspector::forget() {
  const std::lock_guard lock(mutex_);
  overtaken_ = true;
  waiting_.reset();
}

void Inspector::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_ && !busy_; });
}

void Inspector::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || waiting_; });
    if (ending_) return;
    Request r = std::move(*waiting_);
    waiting_.reset();
    busy_ = true;
    overtaken_ = false;
    lock.unlock();
    Inspection failed = r.of;
    try {
      const StopScope scope([this] { return overtaken_.load(); });
      inspect(r.picture, r.model->graph, std::move(r.of), *r.selected, cache_, overtaken_, [this](const Inspection& i) {
        if (!overtaken_) answer_(std::make_shared<const Inspection>(i));
      });
    } catch (const Stopped&) {
    } catch (const std::exception& e) {
      failed.running = false;
      failed.problem = std::string("internal error: ") + e.what();
      answer_(std::make_shared<const Inspection>(failed));
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace planscope::session
