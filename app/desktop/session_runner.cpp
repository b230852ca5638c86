#include "app/desktop/session_runner.h"

#include <QMetaObject>
#include <algorithm>
#include <utility>

namespace planscope {

SessionRunner::SessionRunner(std::unique_ptr<Session> session, Deliver deliver)
    : session_(std::move(session)), deliver_(std::move(deliver)), thread_([this] { work(); }) {}

SessionRunner::~SessionRunner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
    if (running_) running_->cancel.cancel();
  }
  wake_.notify_one();
  thread_.join();
}

void SessionRunner::open_model(std::string path) { submit(Kind::open_model, std::move(path)); }
void SessionRunner::open_plan(std::string path) { submit(Kind::open_plan, std::move(path)); }
void SessionRunner::set_plan(std::string text) { submit(Kind::set_plan, std::move(text)); }
void SessionRunner::save_plan(std::string path) { submit(Kind::save_plan, std::move(path)); }

// Saving is never dropped, and what is saved is what was set before; a new model or plan file makes older edits void.
bool SessionRunner::replaces(Kind newer, Kind older) const {
  if (older == Kind::save_plan) return false;
  if (newer == Kind::set_plan) return older == Kind::set_plan;
  if (newer == Kind::open_plan) return older == Kind::set_plan || older == Kind::open_plan;
  return newer == Kind::open_model && older == Kind::open_model;
}

void SessionRunner::submit(Kind kind, std::string argument) {
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty() && replaces(kind, waiting_.back().kind)) waiting_.pop_back();
    if (running_ && waiting_.empty() && replaces(kind, running_->kind)) running_->cancel.cancel();
    waiting_.push_back({kind, std::move(argument), ++newest_, {}});
  }
  wake_.notify_one();
}

bool SessionRunner::busy() const {
  const std::lock_guard lock(mutex_);
  return delivered_ != newest_;
}

SessionSnapshot SessionRunner::call(const Request& request) {
  switch (request.kind) {
    case Kind::open_model:
      return session_->open_model(request.argument, request.cancel);
    case Kind::open_plan:
      return session_->open_plan(request.argument, request.cancel);
    case Kind::set_plan:
      return session_->set_plan(request.argument, request.cancel);
    default:
      return session_->save_plan(request.argument, request.cancel);
  }
}

void SessionRunner::work() {
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      running_.reset();
      wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      running_ = request = std::move(waiting_.front());
      waiting_.pop_front();
    }
    SessionSnapshot snapshot = call(request);
    QMetaObject::invokeMethod(
        &receiver_,
        [this, tag = request.tag, snapshot = std::move(snapshot)] {
          {
            const std::lock_guard lock(mutex_);
            if (tag != newest_) return;
            delivered_ = tag;
          }
          deliver_(snapshot);
        },
        Qt::QueuedConnection);
  }
}

}  // namespace planscope
