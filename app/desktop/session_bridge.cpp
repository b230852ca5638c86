#include "app/desktop/session_bridge.h"

#include <QMetaObject>
#include <algorithm>

namespace planscope {

SessionBridge::SessionBridge(session::SessionSettings settings, Show show, Refused refused)
    : show_(std::move(show)), refused_(std::move(refused)), session_(std::move(settings)) {
  const auto look = [this] {
    Shown s;
    {
      const std::lock_guard lock(mutex_);
      s.typed = typed_done_;  // before the state: nothing is said to be there before it is
      s.answered = answered_;
    }
    s.state = session_.state();
    return s;
  };
  presenter_ = std::make_unique<Presenter>(look, [this](Shown s) { deliver(std::move(s)); });
  session_.on_change([this] { presenter_->changed(); });
  thread_ = std::thread([this] { work(); });
  presenter_->changed();
}

SessionBridge::~SessionBridge() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();  // what was asked for is done: no text that was typed is lost
  session_.on_change({});
  presenter_.reset();
}

void SessionBridge::add(Task task) {
  {
    const std::lock_guard lock(mutex_);
    Task* last = tasks_.empty() ? nullptr : &tasks_.back();
    const bool overtakes =
        last && last->document != 0 && last->document == task.document && !task.invocation.has("step");
    if (overtakes) {
      last->invocation.arguments["text"] = task.invocation.get("text");
      last->typed = task.typed;
    } else {
      tasks_.push_back(std::move(task));
      ++asked_;
    }
  }
  wake_.notify_all();
}

void SessionBridge::run(session::Invocation i) { add({.invocation = std::move(i)}); }

void SessionBridge::refresh() { add({.refresh = true}); }

void SessionBridge::type(int document, std::string before, std::string text, bool new_step) {
  Task task{.invocation = {"type", {{"text", std::move(text)}, {"from", std::move(before)}}},
            .document = document,
            .typed = ++typed_};
  if (new_step) task.invocation.arguments["step"] = "new";
  add(std::move(task));
}

std::uint64_t SessionBridge::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

bool SessionBridge::busy() const {
  const std::lock_guard lock(mutex_);
  return working_ || !tasks_.empty() || newest_ || evaluating_ || presenter_->busy();
}

void SessionBridge::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    working_ = true;
    lock.unlock();
    const Result<Done> result = apply(task);
    lock.lock();
    if (task.typed) typed_done_ = task.typed;
    ++answered_;
    lock.unlock();
    if (!task.refresh) presenter_->changed();  // the session says itself whether there is something new
    if (!result.ok())
      QMetaObject::invokeMethod(
          &here_, [this, i = task.invocation, d = result.diagnostics] { refused_(i, d); }, Qt::QueuedConnection);
    lock.lock();
    working_ = false;
  }
}

Result<Done> SessionBridge::apply(const Task& task) {
  if (task.refresh) {
    session_.refresh();
    return Done{};
  }
  if (task.document == 0) return session_.apply(task.invocation);
  const session::State state = session_.state();
  const auto is = [&](const session::Document& d) { return d.id == task.document; };
  if (std::none_of(state.documents.begin(), state.documents.end(), is)) return Done{};  // it has been closed
  const int current = state.document()->id;
  if (current == task.document) return session_.apply(task.invocation);
  Result<Done> done = session_.apply({"document", {{"number", std::to_string(task.document)}}});
  if (done.ok()) done = session_.apply(task.invocation);
  session_.apply({"document", {{"number", std::to_string(current)}}});
  return done;
}

void SessionBridge::deliver(Shown shown) {
  bool post = false;
  {
    const std::lock_guard lock(mutex_);
    post = !newest_;
    newest_ = std::move(shown);
  }
  if (post) QMetaObject::invokeMethod(&here_, [this] { show_newest(); }, Qt::QueuedConnection);
}

void SessionBridge::show_newest() {
  std::optional<Shown> shown;
  {
    const std::lock_guard lock(mutex_);
    shown = std::move(newest_);
    newest_.reset();
    if (!shown) return;
    evaluating_ =
        std::any_of(shown->state.documents.begin(), shown->state.documents.end(), [](const auto& d) { return d.busy; });
  }
  show_(*shown);
}

}  // namespace planscope
