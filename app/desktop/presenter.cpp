#include "app/desktop/presenter.h"

#include <algorithm>

#include "app/session/panels/panels.h"

namespace planscope {

Presenter::Presenter(Look look, Deliver deliver)
    : look_(std::move(look)), deliver_(std::move(deliver)), thread_([this] { work(); }) {}

Presenter::~Presenter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Presenter::look_at(std::set<std::string> panels) {
  {
    const std::lock_guard lock(mutex_);
    if (wanted_ == panels) return;
    wanted_ = std::move(panels);
  }
  changed();
}

void Presenter::changed() {
  {
    const std::lock_guard lock(mutex_);
    dirty_ = true;
  }
  wake_.notify_all();
}

bool Presenter::busy() const {
  const std::lock_guard lock(mutex_);
  return dirty_ || working_;
}

void Presenter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return dirty_ || ending_; });
    if (ending_) return;
    dirty_ = false;
    working_ = true;
    const std::set<std::string> wanted = wanted_;
    lock.unlock();
    Shown shown = look_();
    add_panels(shown, wanted);
    add_timeline(shown);
    deliver_(std::move(shown));
    lock.lock();
    working_ = false;
  }
}

void Presenter::add_panels(Shown& shown, const std::set<std::string>& wanted) {
  for (const session::PanelInfo& info : session::panels()) {
    if (!wanted.contains(info.id)) continue;
    session::Panel panel = info.make(shown.state);
    std::shared_ptr<const session::Panel>& known = panels_[info.id];
    if (!known || !(*known == panel)) known = std::make_shared<const session::Panel>(std::move(panel));
    shown.panels[info.id] = known;
  }
}

void Presenter::add_timeline(Shown& shown) {
  std::erase_if(drawn_, [&](const auto& d) {
    return std::none_of(shown.state.documents.begin(), shown.state.documents.end(),
                        [&](const session::Document& o) { return o.id == d.first; });
  });
  const session::Document* d = shown.state.document();
  if (!d || !d->shown) return;
  session::Panel reason;
  session::say_whether_current(reason, *d);
  shown.stale = reason.current ? std::string() : reason.reason.empty() ? "of an older text" : reason.reason;
  if (!d->shown->evaluation) return;
  Drawn& drawn = drawn_[d->id];
  if (drawn.evaluation != d->shown->evaluation) {
    // The picture with the verdict has the same blocks as the one before it.
    const bool same = drawn.picture && drawn.evaluation && drawn.evaluation->simulation == d->shown->evaluation->simulation &&
                      drawn.evaluation->made.program == d->shown->evaluation->made.program;
    drawn.evaluation = d->shown->evaluation;
    if (!same) {
      const Evaluation& e = *drawn.evaluation;
      auto picture = std::make_shared<TimelinePicture>();
      picture->timeline = timeline(*e.made.graph, e.made.program, e.simulation, d->shown->cluster.get());
      picture->index = viz::build_index(picture->timeline.model);
      drawn.picture = std::move(picture);
    }
  }
  shown.timeline = drawn.picture;
}

}  // namespace planscope
