#include "app/session/background.h"

#include <exception>
#include <utility>

#include "engine/base/stop.h"

namespace planscope::session {

Background::Background() : thread_([this] { work(); }) {}

void Background::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    overtaken_ = true;
    waiting_ = nullptr;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::ask(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    overtaken_ = true;
    waiting_ = std::move(work);
  }
  changed_.notify_all();
}

void Background::forget() {
  const std::lock_guard lock(mutex_);
  overtaken_ = true;
  waiting_ = nullptr;
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_ && !busy_; });
}

void Background::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || waiting_; });
    if (ending_) return;
    const std::function<void()> now = std::exchange(waiting_, nullptr);
    busy_ = true;
    overtaken_ = false;
    lock.unlock();
    try {
      const StopScope scope([this] { return overtaken_.load(); });
      now();
    } catch (const Stopped&) {
    } catch (const std::exception&) {  // what was asked for stays without an answer; the session goes on
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace planscope::session
